package report

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// slowNode is a mesh of four nodes, of which d is slow and e was not reached.
func slowNode() *result.Result {
	end := func(v float64) *float64 { return &v }
	return &result.Result{
		Finished: "2026-11-26T12:00:00Z", Plan: result.Plan{Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}},
		Mesh: &result.Mesh{
			Nodes:  []result.MeshNode{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}},
			Judged: []string{"rtt_p50"}, Margin: 0.05,
			Rounds: []result.MeshRound{
				{Clients: []int{0, 2}, Servers: []int{1, 3}, Values: map[string][]float64{"rtt_p50": {20e-6, 30e-6}}},
				{Round: 1, Clients: []int{0, 1}, Servers: []int{2, 3}, Values: map[string][]float64{"rtt_p50": {21e-6, 31e-6}}},
				{Round: 2, Clients: []int{0, 1}, Servers: []int{3, 2}, Values: map[string][]float64{"rtt_p50": {50e-6, 20e-6}}},
			},
			Effects: []result.MeshEffect{
				{Kind: "node", Of: []string{"a"}, Metric: "rtt_p50", N: 6, Value: -0.01, Low: end(-0.02), High: end(0.01)},
				{Kind: "node", Of: []string{"d"}, Metric: "rtt_p50", N: 6, Value: 0.5, Low: end(0.4), High: end(0.6)},
			},
			Named: []result.MeshNamed{{
				Kind: "node", Of: []string{"d"}, Metric: "rtt_p50", Value: 0.52, Low: 0.5, High: 0.55,
				Evidence: []result.Evidence{{Name: "blocks", Value: 16}, {Name: "partners", Value: 3}, {Name: "effect in the best block", Value: 0.40258}, {Name: "robust z", Value: 4.48047}},
			}},
			Suspects: []result.MeshSuspect{
				{Kind: "node", Of: []string{"d"}, Metric: "rtt_p50", Outcome: result.MeshConfirmed},
				{Kind: "link", Of: []string{"a", "c"}, Metric: "rtt_p50", Outcome: result.MeshCleared, Reason: "measured again, it is no worse than the margin"},
			},
			Unmeasured: []result.MeshUnmeasured{{Of: []string{"e"}, Asked: 12, Reason: "it was not reached"}},
		},
	}
}

func TestMeshAsPeopleReadIt(t *testing.T) {
	var out strings.Builder
	if err := Terminal(&out, slowNode(), Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `tare mesh: 5 nodes, 6 windows of tcp_rr
- Node d is worse than the others: round trip p50 +52.0 % [50.0, 55.0]. blocks 16, partners 3,
  effect in the best block 40.3 %, robust z 4.48
- Not judged, since too little was measured: e. The reasons are at the end.

round trip p50 of each pair, the worst nodes first; the middle is 25.5 us
  d    ▓ ▒ ▒ ?
  a  ▓   · · ?
  b  ▒ ·   · ?
  c  ▒ · ·   ?
  e  ? ? ? ?
  worse than the middle by more than ░ 5 %, ▒ 15 %, ▓ 40 %, █ 100 %; ? not measured

Nodes against the middle of all, round trip p50; + is worse
  node  toll, %               windows
  d     +50.0 % [40.0, 60.0]        6
`
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, text := range []string{
		"Suspected, and not named\n  - Link a - c, round trip p50: cleared; measured again, it is no worse than the margin",
		"Not measured, and so not judged\n  - e: 0 of 12 windows; it was not reached",
	} {
		labtest.Contains(t, "report", out.String(), text)
	}
}

func TestMeshOfManyToFew(t *testing.T) {
	res := slowNode()
	res.Mesh.Incast = &result.MeshIncast{Servers: 1, Effects: []result.MeshIncastEffect{
		{Of: "a", Metric: "rtt_p50", N: 3, Senders: 3, One: 20e-6, All: 40e-6, Worst: 60e-6, Value: 1},
		{Of: "b", Metric: "rtt_p50", N: 3, Senders: 3, One: 20e-6, All: 50e-6, Worst: 90e-6, Value: 1.5},
	}}
	var out strings.Builder
	if err := Terminal(&out, res, Options{}); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "report", out.String(), `
Many to 1: round trip p50 in the middle of all senders against one alone; + is worse
  node  senders  one      all      worst sender  toll, %
  b           3  20.0 us  50.0 us       90.0 us   +150 %
`)
}

func TestMeshWithNobodySlow(t *testing.T) {
	res := slowNode()
	res.Mesh.Named = nil
	var out strings.Builder
	if err := Terminal(&out, res, Options{}); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "report", out.String(), "Nobody is named: no node, link or group is worse than the others by more than 5.0 %.")
}
