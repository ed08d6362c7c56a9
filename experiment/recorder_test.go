package experiment

import (
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// A server that speaks first is skipped behind published ports that don't reach it, with what
// to do; servers whose clients speak first, and other networks, are measured.
func TestServerThatSpeaksFirstIsSkippedWhereItIsNotReached(t *testing.T) {
	const limit = "this version hangs: take a newer one"
	plan := Complete(result.Plan{
		Networks: result.NetworksNamed("pasta", "slirp4netns"), Paths: []string{catalog.PublishedPort, catalog.ContainerToPublishedPort},
		Workloads: []result.WorkloadPlan{
			{Name: "mysql", Server: "mariadb"}, {Name: "redis", Server: "redis"}, {Name: "http", Server: "nginx"}, {Name: "tcp_stream", Reverse: true},
		},
	})
	for _, mute := range []string{limit, ""} {
		options := silent(plan)
		for n := range options.Topology.Clusters {
			if b := &options.Topology.Clusters[n]; b.Network == "pasta" {
				b.Mute = mute
			}
		}
		r, err := newRunner(plan, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range r.recorder.order {
			cell := r.recorder.cells[key]
			want, why := result.StatusOK, ""
			if cell.Network == "pasta" && cell.Workload == "mysql" && mute != "" {
				want, why = result.StatusSkipped, "mariadb speaks first, and "+limit
			}
			labtest.Equal(t, strings.Join([]string{cell.Network, cell.Path, cell.Workload}, " "), cell.Status, want)
			labtest.Equal(t, "the reason", cell.Reason, why)
		}
		if err := r.conductor.close(); err != nil {
			t.Error(err)
		}
	}
}
