package report

import (
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/weigh"
)

// spoken are the sentences of the answer of a result, each on one line.
func spoken(t *testing.T, res *result.Result) []string {
	t.Helper()
	_, text, _ := strings.Cut(renderAnswer(t, res, Options{Width: maxWidth}), "\n- ")
	var all []string
	for _, one := range strings.Split(text, "\n- ") {
		all = append(all, strings.Join(strings.Fields(one), " "))
	}
	return all
}

// costing is the sentence about what costs most.
func costing(t *testing.T, res *result.Result) string {
	t.Helper()
	for _, one := range spoken(t, res) {
		if strings.Contains(one, " costs most: ") {
			return one
		}
	}
	t.Fatalf("nothing costs most: %q", spoken(t, res))
	return ""
}

// named is a run of VXLAN and routes between hosts, in which the tunnel's cells have findings.
func named(found ...result.Finding) *result.Result {
	w := newWorld(plan(), 5)
	w.networks, w.paths, w.loads = []string{catalog.Baseline, "route", "vxlan"}, []string{catalog.CrossHost}, streamAndTrip()[:1]
	res := w.result()
	for n := range res.Cells {
		if res.Cells[n].Network == "vxlan" {
			res.Cells[n].Findings = found
		}
	}
	return res
}

func lacks(t *testing.T, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Errorf("%q is in %q", part, text)
	}
}

// The parts of a tunnel's toll as a run had them: what it is built upon, and a finding without a
// share before both.
func TestTheCauseHasAShare(t *testing.T) {
	text := costing(t, named(
		result.Finding{ID: "encapsulation-cost", Cause: "vxlan encapsulates each packet", Fix: "# this is what vxlan is: none costs less", Severity: result.SeverityWarning},
		result.Finding{ID: "rung-cost", Cause: "vxlan is built upon ptp", Share: 0.547, Fix: "# this is what vxlan is: none costs less", Severity: result.SeverityWarning},
		result.Finding{ID: "rung-cost", Cause: "vxlan is built upon route", Share: 0.346, Severity: result.SeverityWarning},
	))
	labtest.Contains(t, "the sentence", text, "The cause of 18 of its 33 percentage points: rung-cost: vxlan is built upon ptp.")
	labtest.Contains(t, "the sentence", text, "Nothing to fix: this is what vxlan is: none costs less.")
	labtest.Contains(t, "the sentence", text, "Also seen: encapsulation-cost (share unknown): vxlan encapsulates each packet.")
	lacks(t, text, "To fix it")
}

// Threads that change their CPU 13 times per second do not cost a third of the throughput.
func TestWhatTakesNextToNothingIsNoCause(t *testing.T) {
	moved := result.Finding{ID: "core-migration", Cause: "the threads changed their CPU 13 times per second", Fix: "taskset", Severity: result.SeverityWarning}
	unknown := costing(t, named(moved))
	labtest.Contains(t, "the sentence", unknown, "Seen there, with a share that is not known: core-migration: the threads")
	moved.Share = 0.0004
	small := costing(t, named(moved))
	labtest.Contains(t, "the sentence", small, "No rule explains it.")
	labtest.Contains(t, "the sentence", small, "Also seen: core-migration (≤0.1 % of it): the threads")
	proxy := result.Finding{ID: "userland-proxy", Cause: "a process relays the port", Fix: "restart docker", Share: 0.95, Severity: result.SeverityWarning}
	both := costing(t, named(moved, proxy))
	labtest.Contains(t, "the sentence", both, "The cause of 32 of its 33 percentage points: userland-proxy: a process relays the port. To fix it: restart docker")
	for _, text := range []string{unknown, small} {
		lacks(t, text, "The cause")
		lacks(t, text, "To fix it")
	}
	lacks(t, both, "core-migration")
}

// A shaper that one workload shows has its place beside what costs the other most (kubernetes#90838).
func TestWhatACommandMendsIsSeenInEveryCell(t *testing.T) {
	w := newWorld(plan(), 5)
	w.networks, w.paths, w.loads = []string{catalog.Baseline, "vxlan"}, []string{catalog.CrossHost}, streamAndTrip()
	res := w.result()
	shaper := result.Finding{ID: "shaper-rate", Cause: "the tbf on veth-c1 in h2 passes no more than 10 Mbit/s", Remedy: &result.Remedy{At: "h2", Command: "tc qdisc del dev veth-c1 root"}, Severity: result.SeverityWarning}
	slight := shaper
	slight.Share = 0.04
	rung := result.Finding{ID: "rung-cost", Cause: "vxlan is built upon ptp", Share: 0.6, Severity: result.SeverityWarning}
	for n := range res.Cells {
		if c := &res.Cells[n]; c.Network == "vxlan" {
			c.Findings = []result.Finding{shaper}
			if c.Workload == "tcp_stream" {
				c.Findings = []result.Finding{rung, slight}
			}
		}
	}
	labtest.Contains(t, "what costs most", costing(t, res), "Also seen: shaper-rate (share unknown): the tbf on veth-c1 in h2 passes no more than 10 Mbit/s.")
}

func TestWhatIsNotDecidedIsNotTheCheapest(t *testing.T) {
	res := named()
	for n := range res.Cells {
		if m := weigh.Metric(&res.Cells[n], "throughput"); m != nil && res.Cells[n].Network == "route" {
			m.Toll.Verdict = string(stats.Inconclusive)
		}
	}
	text := strings.Join(spoken(t, res), "\n")
	labtest.Contains(t, "the answer", text, "What is cheapest on cross-host is not decided: route may be, without any verdict there.")
	lacks(t, text, "Cheapest")
}

// An interface or a link that the lab models is not the user's machine.
func TestTheMachineComesBeforeModels(t *testing.T) {
	both := func(change func(w *world)) *result.Result {
		res, w := named(), newWorld(plan(), 6)
		w.networks, w.paths, w.loads = []string{catalog.Baseline, "vxlan"}, []string{catalog.CrossHost}, streamAndTrip()[:1]
		w.factor = map[string]float64{"vxlan": 0.2}
		change(w)
		model := w.result()
		for n := range model.Cells {
			model.Cells[n].Findings = []result.Finding{{ID: "tunnel-segmentation", Cause: "the CPU cuts each packet", Share: 0.8, Fix: "ethtool -k eth0 # in h1", Severity: result.SeverityWarning}}
		}
		res.Cells = append(res.Cells, model.Cells...)
		return res
	}
	for name, res := range map[string]*result.Result{
		"nic tso":          both(func(w *world) { w.plan.Axes = w.plan.Axes.With("nic", "tso") }),
		"link 10.0 Gbit/s": both(func(w *world) { w.plan.Axes = w.plan.Axes.With("link", 10e9) }),
	} {
		all := spoken(t, res)
		labtest.Contains(t, name+": what costs most", all[1], "vxlan costs most: +33.")
		labtest.Contains(t, name+": the next sentence", all[2], "Other hardware, as the lab models it: vxlan, "+name+" costs +")
		labtest.Contains(t, name+": the next sentence", all[2], "points: tunnel-segmentation: the CPU cuts each packet.")
		lacks(t, strings.Join(all, "\n"), "ethtool")
	}
	// Where the plan has nothing else, that is what was asked for.
	w := newWorld(plan(), 7)
	w.plan.Axes, w.networks, w.paths, w.loads = w.plan.Axes.With("nic", "tso"), []string{catalog.Baseline, "vxlan"}, []string{catalog.CrossHost}, streamAndTrip()[:1]
	labtest.Contains(t, "with one model alone", costing(t, w.result()), "vxlan costs most")
}

// What is broken comes before what anything costs, and no network is blamed for it.
func TestAFaultIsNamedFirst(t *testing.T) {
	shaper := result.Finding{ID: "shaper-drop", Cause: "the tbf on eth0 in h1 drops packets", Fix: "tc qdisc del dev eth0 root", Severity: result.SeverityError}
	rung := result.Finding{ID: "rung-cost", Cause: "what vxlan adds to host", Share: 1, Severity: result.SeverityWarning}
	unknown := named(shaper, rung)
	const fault = "Fault: shaper-drop: the tbf on eth0 in h1 drops packets (vxlan on cross-host). To fix it: tc qdisc del dev eth0 root"
	labtest.Equal(t, "the first sentence", spoken(t, unknown)[0], fault)
	labtest.Contains(t, "what costs most", costing(t, unknown), "The fault above is part of it: fix it, and measure again.")
	lacks(t, costing(t, unknown), "rung-cost")
	shaper.Share, rung.Share = 0.6, 0.4
	known := named(shaper, rung)
	labtest.Equal(t, "the first sentence", spoken(t, known)[0], fault)
	labtest.Contains(t, "what costs most", costing(t, known), "The cause of 20 of its 33 percentage points: the fault above.")
	failed := named()
	failed.Cells = append(failed.Cells, result.Cell{
		Network: "ptp", Path: catalog.CrossHost, Workload: "tcp_stream", Status: result.StatusFailed, Reason: "no answer",
		Findings: []result.Finding{{ID: "link-down", Cause: "eth0 in h2 is down", Severity: result.SeverityError}},
	})
	labtest.Equal(t, "the first sentence of a run that failed", spoken(t, failed)[0], "Fault: link-down: eth0 in h2 is down (ptp on cross-host).")
}
