package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// steps is a run between hosts with the given tolls, by network and model of the
// interface.
func steps(tolls map[string]map[string]float64) *result.Result {
	res := &result.Result{}
	for _, nic := range []string{"full", "tso"} {
		for _, name := range []string{catalog.Baseline, "ptp", "route", "vxlan"} {
			toll, there := tolls[nic][name]
			if !there {
				continue
			}
			cell := measured(name, catalog.CrossHost, "tcp_stream", toll)
			cell.Params["nic"] = nic
			for block := range 10 {
				for n, layout := range []string{weigh.LayoutA, weigh.LayoutB} {
					noise := 1 + 0.004*float64((block*7+n*3+len(name))%5-2)
					value := 4e10 * (1 - toll) * noise
					cell.Samples = append(cell.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"throughput": value}})
				}
			}
			res.Cells = append(res.Cells, cell)
		}
	}
	return res
}

// What a tunnel costs is what the interface cannot do, its headers, and what it is
// built upon, in that order and with their shares.
func TestTunnelIsExplainedByWhatWasMeasured(t *testing.T) {
	res := steps(map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "ptp": 0.06, "route": 0.12, "vxlan": 0.2},
		"tso":  {catalog.Baseline: 0, "ptp": 0.06, "route": 0.12, "vxlan": 0.7},
	})
	Weigh(res, "")
	for n := range res.Cells {
		cell := &res.Cells[n]
		if cell.Network != "vxlan" || cell.Params.Text("nic") != "tso" {
			continue
		}
		labtest.Equal(t, "causes", slices.Equal(ids(cell.Findings), []string{"tunnel-segmentation", "encapsulation-cost", rungID, rungID}), true)
		var sum float64
		for i, f := range cell.Findings {
			want := []float64{0.5, 0.08, 0.06, 0.06}[i] / 0.7
			sum += f.Share
			if math.Abs(f.Share-want) > 1e-9 || f.Low == nil || *f.Low > want || *f.High < want {
				t.Errorf("%s has a share of %v [%v, %v], want %v", f.ID, f.Share, f.Low, f.High, want)
			}
		}
		labtest.Between(t, "sum of the shares", sum, 1-1e-9, 1+1e-9)
		return
	}
	t.Fatal("the run has no such cell")
}

// What has no tunnel has no segments that the interface cannot cut, and noise shows none.
func TestOnlyTunnelsLackSegmentation(t *testing.T) {
	res := steps(map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "ptp": 0.06, "route": 0.1, "vxlan": 0.3},
		"tso":  {catalog.Baseline: 0, "ptp": 0.06, "route": 0.4, "vxlan": 0.3},
	})
	Weigh(res, "")
	for _, cell := range res.Cells {
		if slices.Contains(ids(cell.Findings), "tunnel-segmentation") {
			t.Errorf("%s with nic %s has the causes %v", cell.Network, cell.Params.Text("nic"), ids(cell.Findings))
		}
	}
}

// What two networks add together is named as such where the run measured only the upper
// one: the share is of both.
func TestWhatIsNotMeasuredApartIsNamedTogether(t *testing.T) {
	res := steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "ptp": 0.06, "vxlan": 0.2}})
	Weigh(res, "")
	for _, cell := range res.Cells {
		if cell.Network != "vxlan" {
			continue
		}
		n := slices.IndexFunc(cell.Findings, func(f result.Finding) bool { return strings.Contains(f.Cause, "what vxlan and route") })
		if n < 0 {
			t.Fatalf("no cause names route: %+v", cell.Findings)
		}
		labtest.Equal(t, "rule", cell.Findings[n].ID, rungID)
		labtest.Between(t, "share of both", cell.Findings[n].Share, 0.7-1e-9, 0.7+1e-9)
	}
}

// A toll below a twentieth, and one whose network has nothing measured beside it, are
// not divided.
func TestSmallTollsAreNotDivided(t *testing.T) {
	for name, tolls := range map[string]map[string]float64{
		"small": {catalog.Baseline: 0, "ptp": 0.03},
		"alone": {"ptp": 0.3},
	} {
		res := steps(map[string]map[string]float64{"full": tolls})
		Weigh(res, "")
		for _, cell := range res.Cells {
			if len(cell.Findings) != 0 {
				t.Errorf("%s: %s has the causes %v", name, cell.Network, ids(cell.Findings))
			}
		}
	}
}

// What a published port costs beside the network without it is named once: by the rules that rewrite
// addresses, and as the network's own where the run saw none.
func TestPublishedPortIsNamedOnce(t *testing.T) {
	for rows, want := range map[float64]string{1: "nat-cost", 0: rungID} {
		res := &result.Result{}
		for _, c := range []struct {
			network, path string
			toll          float64
		}{
			{catalog.Baseline, catalog.HostToContainer, 0}, {"bridge", catalog.HostToContainer, 0.2},
			{catalog.Baseline, catalog.PublishedPort, 0}, {"nat", catalog.PublishedPort, 0.6},
		} {
			cell := measured(c.network, c.path, "tcp_stream", c.toll)
			for block := range 10 {
				cell.Samples = append(cell.Samples, result.Sample{Block: block, Metrics: map[string]float64{"throughput": 4e10 * (1 - c.toll)}})
			}
			res.Cells = append(res.Cells, cell)
		}
		res.States = []result.State{{At: "nat.h2", Source: rules, Values: map[string]any{"ip nat PREROUTING.hook": "prerouting", "ip nat PREROUTING.rules": rows}}}
		Weigh(res, "")
		var got []string
		for _, f := range res.Cells[3].Findings {
			got = append(got, fmt.Sprintf("%s: %.3f", f.ID, f.Share))
		}
		// The bridge costs the rest.
		labtest.Equal(t, fmt.Sprintf("causes with %g rules", rows), strings.Join(got, ", "), want+": 0.667, "+rungID+": 0.333")
	}
}
