package report

import (
	"strings"
	"testing"

	"tare/result"
)

// tracedResult is a network's trace with all that one can hold.
func tracedResult() *result.Result {
	clean := func(s float64) *float64 { return &s }
	lost := uint64(41)
	return &result.Result{
		Plan: result.Plan{Blocks: 1}, Finished: "2026-11-22T04:00:00Z",
		Cells: []result.Cell{{
			Network: "vxlan", Path: "cross-host", Workload: "udp_rr", Mode: "block", Status: result.StatusOK,
			Params: result.Params{"nic": "full", "mtu": 1500.0},
			Trace: &result.Trace{
				Tier: 2, Lacks: []string{}, Metric: "rtt_p50", Clean: 20e-6, Traced: 25e-6, Overhead: 0.25, Ways: 1000, Mean: 24e-6, Sum: 24e-6,
				Hops: []result.Hop{
					{Name: "encapsulation", Direction: "request", At: "h1", Device: "vxlan0", Mean: 6e-6, P50: 6e-6, P99: 1e-3, Share: 0.25, Clean: clean(5e-6)},
					{Name: "wake-up", Direction: "request", At: "h2/c1", Mean: 12e-6, P50: 11e-6, P99: 20e-6, Share: 0.5, Clean: clean(10e-6)},
					{Name: "wake-up", Direction: "response", At: "h1/c1", Mean: 6e-6, P50: 6e-6, P99: 9e-6, Share: 0.25, Clean: clean(5e-6)},
				},
				Tolls: []result.HopToll{{Name: "encapsulation", Value: 6e-6, Share: 0.75, Delta: 3e-6}, {Name: "wake-up", Value: 18e-6, Baseline: 16e-6, Share: 0.25, Delta: 1e-6}},
				Ledger: &result.Ledger{
					Lost: &lost, Found: 40, Losses: []result.Loss{{Reason: "NETFILTER_DROP", At: "h2", Device: "eth0", Function: "nft_do_chain", Packets: 40}},
					Others: []result.Loss{}, Counters: []result.Count{{Name: "Ip.FragFails", At: "h1/c1", Value: 1}},
				},
				CPU: &result.CPUUse{
					Samples: 100, CPUs: 0.5, Layers: []result.Share{{Name: "udp", Share: 0.6}, {Name: "vxlan", Share: 0.4}},
					Kinds: []result.Share{{Name: "copy", Share: 1}}, Contexts: []result.Share{{Name: "softirq", Share: 1}},
				},
			},
		}},
	}
}

func TestTraceAsPeopleReadIt(t *testing.T) {
	var out strings.Builder
	if err := Trace(&out, tracedResult(), Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `
vxlan, cross-host, nic full, mtu 1500: udp_rr (block)
  tier 2: hops, losses and CPU
  round trip p50: 20.0 us clean, 25.0 us traced: tracing costs +25.0 %

  hop             at     device  clean  share  traced
                                    us      %  p50 us   p99 us
  request
   encapsulation  h1     vxlan0   5.00   25.0    6.00  1000.00  ███████▌
   wake-up        h2/c1          10.00   50.0   11.00    20.00         ███████████████
  response
   wake-up        h1/c1           5.00   25.0    6.00     9.00                        ███████▌
  traced hops of 1000 trips add up to 24.00 us; the workload's clock has 25.00 us (96.0 %)

  toll by hop    added  share  traced
                    us      %  here us  host us
  encapsulation  +3.00     75     6.00     0.00
  wake-up        +1.00     25    18.00    16.00
  all            +4.00    100    24.00    16.00

  lost: 40 packets seen, where the workload misses 41: shortfall 1, see the counters
  lost            packets  at  device  function
  NETFILTER_DROP       40  h2  eth0    nft_do_chain
  counters: h1/c1 Ip.FragFails +1

  CPU: 0.50 CPUs busy with the workload, from 100 samples
  context  %    layer  %   kind  %
  softirq  100  udp    60  copy  100
                vxlan  40
`
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed\n%s\nwant it to end in\n%s", out.String(), want)
	}
}

// TestTraceWithoutPackets: the report names what could not be seen, and has no
// figure for it.
func TestTraceWithoutPackets(t *testing.T) {
	res := tracedResult()
	res.Cells[0].Trace = &result.Trace{
		Lacks: []string{"hops and losses: run it as root"}, Hops: []result.Hop{},
		Ledger: &result.Ledger{Losses: []result.Loss{}, Others: []result.Loss{}, Counters: []result.Count{}},
	}
	var out strings.Builder
	if err := Trace(&out, res, Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `
  tier 0: the kernel's counters only; hops and losses: run it as root

  lost: where and why is unknown
  counters: no counter of lost packets increased
`
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed\n%s\nwant it to end in\n%s", out.String(), want)
	}
}

// However long the names, no line is wider than a terminal, and a cell that
// failed has its reason.
func TestTraceFitsTheTerminal(t *testing.T) {
	res := tracedResult()
	tr := res.Cells[0].Trace
	tr.Hops[0].Device, tr.Hops[0].At = "flannel.1-veth45258152", "h1/some-container"
	tr.Ledger.Losses[0].Function = strings.Repeat("long_", 30)
	res.Cells = append(res.Cells, result.Cell{Network: "veth", Status: result.StatusFailed, Reason: strings.Repeat("no path ", 30)})
	var out strings.Builder
	if err := Trace(&out, res, Options{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if w := width(strings.TrimSuffix(line, "\n")); w > maxWidth {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	if !strings.Contains(out.String(), "no path no path") {
		t.Error("the cell that failed is shown without its reason")
	}
}
