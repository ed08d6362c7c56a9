package diagnose

import (
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// counts is a reading of a place's counters.
func counts(at, source string, values map[string]float64) result.Reading {
	return result.Reading{At: at, Source: source, Counts: values}
}

// costs weighs a cell against its baseline, and returns the IDs of its findings.
func costs(t *testing.T, cell result.Cell, baseline *result.Cell, states ...result.State) []string {
	t.Helper()
	res := &result.Result{Cells: []result.Cell{cell}, States: states}
	if baseline != nil {
		res.Cells = append(res.Cells, *baseline)
	}
	Weigh(res, "")
	return ids(res.Cells[0].Findings)
}

func wantOnly(t *testing.T, found []string, id string, is bool) {
	t.Helper()
	var want []string
	if is {
		want = []string{id}
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// TestReorderingIsNoLoss distinguishes needless retransmissions of segments that
// others overtook from those of lost segments, and from those of a timer.
func TestReorderingIsNoLoss(t *testing.T) {
	for _, one := range []struct {
		had, overtaken, sent float64
		is                   bool
	}{{95, 100, 2e4, true}, {2, 100, 2e4, false}, {0, 100, 2e4, false}, {95, 10, 2e4, false}, {95, 100, 2e5, false}, {40, 100, 1e4, false}, {againShare * 2e4, 100, 2e4, true}} {
		cell := measured("bridge", catalog.CrossHost, "tcp_stream", 0)
		cell.Samples = []result.Sample{{Readings: []result.Reading{
			counts("h1/c1", snmp, map[string]float64{"Tcp.RetransSegs": 100, "Tcp.OutSegs": one.sent}),
			counts("h1/c1", netstat, map[string]float64{"TcpExt.TCPDSACKRecvSegs": one.had, "TcpExt.TCPFastRetrans": one.overtaken}),
		}}}
		wantOnly(t, costs(t, cell, nil), "reordering", one.is)
	}
}

// TestCollapseTakesLossPastTheKneeAndSoftirq has a receiver that keeps its rate past
// saturation, and one that does not.
func TestCollapseTakesLossPastTheKneeAndSoftirq(t *testing.T) {
	for collapse, is := range map[float64]bool{0.4: true, 0.02: false} {
		cell := measured("bridge", catalog.CrossHost, "udp_load", 0)
		cell.Samples = []result.Sample{{
			Counters: map[string]float64{"collapse": collapse, "knee": 3e5, "received_most": 3e5, "received_at_twice_knee": 3e5 * (1 - collapse)},
			Series:   map[string][]float64{"softirq_cpu0": {0.1, 0.1}, "softirq_cpu1": {0.3, 0.8}},
		}}
		wantOnly(t, costs(t, cell, nil), "softirq-collapse", is)
	}
}

// A receiver that collapses once in two blocks, or whose CPU is busy once, does not on average.
func TestCollapseIsOnAverage(t *testing.T) {
	for name, c := range map[string]struct{ collapse, softirq []float64 }{
		"of the rate": {[]float64{0.15, 0}, []float64{0.8, 0.8}}, "of the CPU": {[]float64{0.4, 0.4}, []float64{0.4, 0.1}},
	} {
		cell := measured("bridge", catalog.CrossHost, "udp_load", 0)
		for n := range c.collapse {
			cell.Samples = append(cell.Samples, result.Sample{
				Block: n, Counters: map[string]float64{"collapse": c.collapse[n]}, Series: map[string][]float64{"softirq_cpu0": {0.01, c.softirq[n]}},
			})
		}
		if found := costs(t, cell, nil); len(found) != 0 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// TestSizesThatDisagree has a network that halves the rate of small messages,
// and large ones as well or not.
func TestSizesThatDisagree(t *testing.T) {
	sweep := func(name string, small, large float64) result.Cell {
		cell := measured(name, catalog.CrossHost, "tcp_sizes", 0)
		for block := range 6 {
			drift := 1 + float64(block)/100
			cell.Samples = append(cell.Samples, result.Sample{Block: block, Series: map[string][]float64{
				"size": {64, 1024, 8192, 65536, 262144}, "throughput": {1e8 * small * drift, 1e9 * small, 5e9, 2e10 * large, 3e10 * large / drift},
			}})
		}
		return cell
	}
	baseline := sweep(catalog.Baseline, 1, 1)
	for large, is := range map[float64]bool{1: true, 0.5: false} {
		wantOnly(t, costs(t, sweep("bridge", 0.5, large), &baseline), "size-rank", is)
	}
}

// TestSteeringOntoTheReaderNeedsAnIdleCPU: a host of one CPU has no choice.
func TestSteeringOntoTheReaderNeedsAnIdleCPU(t *testing.T) {
	for idle, is := range map[float64]bool{0.9: true, 0.1: false} {
		cell := measured("bridge", catalog.CrossHost, "udp_pps", 0)
		cell.Server.CPUs = "1"
		cell.Samples = []result.Sample{{Metrics: map[string]float64{"loss": 0.3}, Readings: []result.Reading{
			counts("h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000}),
			counts("h2", linkStats, map[string]float64{"eth0.rx_packets": 1e5}),
			counts("", cpuTimes, map[string]float64{
				"cpu0.busy": 1 - idle, "cpu0.idle": idle, "cpu1.softirq": 0.5, "cpu1.busy": 1, "cpu1.idle": 0,
			}),
		}}}
		state := result.State{At: "bridge.h2", Source: steering, Values: map[string]any{"eth0.rx-0.rps_cpus": "2"}}
		wantOnly(t, costs(t, cell, nil, state), "steered-onto-application", is)
	}
}

func TestContainersWaitForTheDisk(t *testing.T) {
	for waited, is := range map[float64]bool{0.8: true, 0.05: false} {
		cell := measured("docker-host", "no-network", "lifecycle", 0)
		cell.Client, cell.Server = nil, nil
		cell.Samples = []result.Sample{{Readings: []result.Reading{
			counts("", pressure, map[string]float64{"io.some": waited}), counts("", cpuTimes, map[string]float64{"cpu0.busy": 0.4, "cpu0.idle": 0.6}),
		}}}
		wantOnly(t, costs(t, cell, nil), "lifecycle-disk-limited", is)
	}
}

// TestDatagramsLostAtTheReceiver are those of a paced stream: a flood overflows
// every receiver.
func TestDatagramsLostAtTheReceiver(t *testing.T) {
	for workload, is := range map[string]bool{"udp_stream": true, "udp_pps": false} {
		cell := measured("bridge", catalog.CrossHost, workload, 0)
		cell.Samples = []result.Sample{{Metrics: map[string]float64{"loss": 0.3}, Readings: []result.Reading{
			counts("h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000}),
		}}}
		wantOnly(t, costs(t, cell, nil), "udp-receive-buffer", is)
	}
}

func TestLocksAreSeenByTheTracer(t *testing.T) {
	for share, is := range map[float64]bool{0.3: true, 0.02: false} {
		cell := measured("bridge", catalog.CrossHost, "tcp_stream", 0)
		cell.Trace = &result.Trace{CPU: &result.CPUUse{Kinds: []result.Share{{Name: "copy", Share: 0.5}, {Name: result.KindLockWait, Share: share}}}}
		res := &result.Result{Cells: []result.Cell{cell}}
		WeighTraces(res, "")
		wantOnly(t, ids(res.Cells[0].Findings), "lock-contention", is)
	}
}

// TestRoutesUnderAnotherControl takes a clean lab that was measured under the
// control of its routes, and under another.
func TestRoutesUnderAnotherControl(t *testing.T) {
	for asked, is := range map[string]bool{"bbr": true, "cubic": false, "": false} {
		e := captured(t, "clean-route")
		e.CC = asked
		found := ids(Find(e))
		if is && (len(found) == 0 || found[0] != "congestion-control") || !is && len(found) != 0 {
			t.Errorf("asked for %q: found %v", asked, found)
		}
	}
}

// TestServices takes a long list of Services for the cause where connections are opened, and
// the rewriting of addresses where packets go by a Service.
func TestServices(t *testing.T) {
	state := func(at, chain string, rows int) result.State {
		return result.State{At: at, Source: rules, Values: map[string]any{chain + ".rules": float64(rows)}}
	}
	const list = "ip nat KUBE-SERVICES"
	for _, c := range []struct {
		path, workload string
		state          result.State
		want           []string
	}{
		{catalog.ClusterIP, "tcp_crr", state("h1", list, 30_004), []string{"many-rules", "nat-cost"}},
		{catalog.CrossHost, "tcp_crr", state("h1", list, 30_004), []string{"many-rules"}},
		{catalog.ClusterIP, "tcp_rr", state("h1", list, 30_004), []string{"nat-cost"}},
		{catalog.ClusterIP, "tcp_crr", state("h1", list, 5), []string{"nat-cost"}},
		{catalog.ClusterIP, "tcp_rr", state("h2", list, 5), nil},
		{catalog.NodePort, "tcp_rr", state("h2", list, 5), []string{"nat-cost"}},
		{catalog.ClusterIP, "tcp_rr", state("h1", serviceMap, 3), []string{"nat-cost"}},
	} {
		c.state.At = "service-iptables." + c.state.At
		cell := measured("service-iptables", c.path, c.workload, 0.2)
		cell.Samples = []result.Sample{{Readings: []result.Reading{counts(strings.TrimPrefix(c.state.At, "service-iptables."), linkStats, map[string]float64{"eth0.tx_packets": 1e6})}}}
		found := costs(t, cell, nil, c.state)
		slices.Sort(found)
		if !slices.Equal(found, c.want) {
			t.Errorf("%s on %s with %v: found %v, want %v", c.workload, c.path, c.state.Values, found, c.want)
		}
	}
}
