package diagnose

import (
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// measured is a cell with one metric that tolls so much.
func measured(name, path, workload string, toll float64) result.Cell {
	verdict := stats.Slower
	if toll == 0 {
		verdict = stats.Equal
	}
	return result.Cell{
		Network: name, Path: path, Workload: workload, Status: result.StatusOK, Clusters: []string{name},
		Params: result.Params{"nic": "full", "mtu": 1500.0, "duration": 0.06, "warmup": 0.03},
		Client: &result.End{At: "h1/c1"}, Server: &result.End{At: "h2/c1"},
		Metrics: []result.Metric{{Name: "throughput", Toll: &result.Toll{Value: toll, Verdict: string(verdict)}}},
	}
}

func ids(found []result.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.ID)
	}
	return all
}

// TestCostIsWhatTheParentHasNot holds the share of an encapsulation to the
// ladder: of a toll of 60 % where its bridge costs 15 %, three quarters.
func TestCostIsWhatTheParentHasNot(t *testing.T) {
	res := &result.Result{Cells: []result.Cell{
		measured("bridge", catalog.CrossHost, "tcp_stream", 0.15), measured("vxlan", catalog.CrossHost, "tcp_stream", 0.60),
	}}
	Weigh(res, "")
	if found := res.Cells[0].Findings; len(found) != 0 {
		t.Errorf("a bridge encapsulates nothing, found %+v", found)
	}
	found := res.Cells[1].Findings
	if len(found) != 1 {
		t.Fatalf("found %+v, want one", found)
	}
	labtest.Equal(t, "finding", found[0].ID, "encapsulation-cost")
	labtest.Between(t, "share of the toll", found[0].Share, 0.74, 0.76)
}

// A tap is a port of a switch in user space; a tun device takes packets and wraps them.
func TestTapIsNoTunnel(t *testing.T) {
	for mac, want := range map[string]bool{"": true, "02:00:00:00:00:01": false} {
		cell := measured("route", catalog.CrossHost, "tcp_stream", 0.5)
		cell.Samples = []result.Sample{{Readings: []result.Reading{{At: "h2", Source: linkStats, Counts: map[string]float64{"br0.rx_packets": 1e5}}}}}
		values := map[string]any{"br0.kind": "tun"}
		if mac != "" {
			values["br0.mac"] = mac
		}
		res := &result.Result{Cells: []result.Cell{cell}, States: []result.State{{At: "route.h2", Source: links, Values: values}}}
		Weigh(res, "")
		labtest.Equal(t, "a tunnel is found with MAC address "+mac, slices.Contains(ids(res.Cells[0].Findings), "encapsulation-cost"), want)
	}
}

func TestNoTollHasNoCause(t *testing.T) {
	for _, name := range []string{"vxlan", "proxy", "nat"} {
		res := &result.Result{Cells: []result.Cell{measured(name, catalog.CrossHost, "tcp_stream", 0), measured(name, catalog.PublishedPort, "tcp_stream", 0)}}
		Weigh(res, "")
		for _, cell := range res.Cells {
			if len(cell.Findings) != 0 {
				t.Errorf("%s %s costs nothing, found %v", name, cell.Path, ids(cell.Findings))
			}
		}
	}
}

// TestWindowsAreBlamedWhereTheyAreSmall gives TCP_INFO of a flow that waits for
// a quarter of its time, as on a busy machine and as with a small buffer.
func TestWindowsAreBlamedWhereTheyAreSmall(t *testing.T) {
	for setting, want := range map[string]int{"4096 131072 33554432": 0, "4096 16384 16384": 1} {
		cell := measured("bridge", catalog.CrossHost, "tcp_stream", 0.3)
		cell.Samples = []result.Sample{{Counters: map[string]float64{"busy": 0.08, "rwnd_limited": 0.02}}}
		res := &result.Result{Cells: []result.Cell{cell}, States: []result.State{
			{At: "bridge.h2/c1", Source: sysctls, Values: map[string]any{"ipv4/tcp_rmem": setting}},
		}}
		Weigh(res, "")
		if found := ids(res.Cells[0].Findings); len(found) != want || want == 1 && found[0] != "tcp-receive-window" {
			t.Errorf("tcp_rmem %q: found %v, want %d", setting, found, want)
		}
	}
}

func TestBusyMachineIsNamedOnce(t *testing.T) {
	res := &result.Result{Noise: result.Noise{ForeignCPU: 1.5}, Cells: []result.Cell{measured("bridge", catalog.CrossHost, "tcp_rr", 0)}}
	Weigh(res, "")
	if found := ids(res.Findings); len(found) != 1 || found[0] != "noisy-neighbour" || len(res.Cells[0].Findings) != 0 {
		t.Errorf("found %v on the machine and %v on the cell", found, ids(res.Cells[0].Findings))
	}
}

// TestOneBusyCPUIsNamed has one CPU that only receives while the other idles.
func TestOneBusyCPUIsNamed(t *testing.T) {
	for idle, want := range map[float64]int{0.8: 1, 0.1: 0} {
		cell := measured("bridge", catalog.CrossHost, "udp_pps", 0.3)
		cell.Samples = []result.Sample{{Readings: []result.Reading{{Source: cpuTimes, Counts: map[string]float64{
			"cpu0.softirq": 0.9, "cpu0.busy": 0.98, "cpu0.idle": 0.02, "cpu1.busy": 1 - idle, "cpu1.idle": idle,
		}}}}}
		res := &result.Result{Cells: []result.Cell{cell}}
		Weigh(res, "")
		if found := ids(res.Cells[0].Findings); len(found) != want || want == 1 && found[0] != "softirq-one-core" {
			t.Errorf("with the other CPU idle for %v: found %v, want %d", idle, found, want)
		}
	}
}
