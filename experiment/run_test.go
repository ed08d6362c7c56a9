package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/experiment/schedule"
	"tare/result"
	"tare/test/labtest"
	"tare/test/simtest"
	"tare/weigh"
)

// readable writes a result and reads it back.
func readable(t testing.TB, res *result.Result) *result.Result {
	t.Helper()
	var text bytes.Buffer
	if err := res.Write(&text); err != nil {
		t.Fatal(err)
	}
	back, err := result.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestRunMeasuresEveryCell(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		run := newSimRun(t, plan, even().Measure)
		res := run.mustRun(t, plan)
		labtest.NotEqual(t, "finished", res.Finished, "")
		labtest.NotEqual(t, "started", res.Started, "")
		labtest.NotEqual(t, "ID", res.ID, "")
		labtest.Equal(t, "tool's version", res.Tool.Version, "1.2.3")
		labtest.Equal(t, "seed", res.Plan.Seed, 1)
		labtest.Equal(t, "privilege", res.Environment.Privilege, "root")
		places := map[[2]int]bool{}
		for net, each := range map[string]int{"host": 2, "veth": 1, "bridge": 1} {
			cell := cellOf(t, res, net)
			if cell.Status != result.StatusOK {
				t.Fatalf("%s: %s %s", net, cell.Status, cell.Reason)
			}
			labtest.Equal(t, net+": runs", len(cell.Samples), each*plan.Blocks)
			labtest.Equal(t, net+": mode", cell.Mode, "block")
			labtest.NotEqual(t, net+": fidelity", cell.Fidelity, "")
			for _, s := range cell.Samples {
				place := [2]int{s.Block, s.Order}
				at := fmt.Sprintf("%s: block %d, order %d", net, s.Block, s.Order)
				labtest.Equal(t, at+": measured before", places[place], false)
				labtest.LessThan(t, at+": order", s.Order, 4)
				labtest.Equal(t, at+": no layout", s.Layout == "", each == 1)
				labtest.Equal(t, at+": places in its cycles", len(s.Slots.Places), len(s.Slots.Values["rtt_p50"]))
				places[place] = true
			}
			m := weigh.Headline(cell)
			if m == nil || m.Toll == nil {
				t.Fatalf("%s: no headline with a toll: %+v", net, cell.Metrics)
			}
			labtest.Equal(t, net+": blocks of the headline", m.N, plan.Blocks)
			labtest.NotEqual(t, net+": low end of its toll", m.Toll.Low, nil)
		}
		labtest.Equal(t, "A/A", len(res.Noise.AA), 1)
		labtest.Equal(t, "results that were saved", len(run.saved), plan.Blocks+1)
		labtest.Equal(t, "saved as finished", strings.Join(run.saved[:plan.Blocks], ""), "")
		labtest.NotEqual(t, "saved last", run.saved[plan.Blocks], "")
		labtest.Equal(t, "first progress: checking", run.progress[0].Checking, true)
		labtest.Equal(t, "last progress", run.progress[len(run.progress)-1], Progress{Block: 6, Blocks: 6, Done: 24, Total: 24})
	})
}

// Where its slots are too short to count CPU time in, each run has a window before them, until
// all windows together are long enough.
func TestShortSlotsHaveWindowsBefore(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Duration, plan.Blocks = schedule.WindowsFrom, 8
		res := newSimRun(t, plan, even().Measure).mustRun(t, plan)
		for _, cell := range res.Cells {
			labtest.AtLeast(t, cell.Network+": windows", weigh.CPUWindow(&cell), weigh.LeastCPUWindow)
			m := weigh.Metric(&cell, "cpu_per_transaction")
			if m == nil {
				t.Fatalf("%s has no CPU cost: %+v", cell.Network, cell.Metrics)
			}
			labtest.Near(t, cell.Network+": CPU time of a transaction", m.Value, 0.5e-3, 1e-9)
		}
		last := cellOf(t, res, "veth").Samples[7]
		labtest.Equal(t, "window of the last block, which needs none", last.Slots.Window, 0)
	})
}

// The same plan with the same seed gives the same result, to the last digit.
func TestSeedGivesTheSameNumbers(t *testing.T) {
	measured := func() (text string) {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Networks, plan.Blocks = result.NetworksNamed("veth", "bridge", "ptp", "macvlan", "ipvlan"), 8
			w := even()
			w.Slot, w.Late, w.Early, w.Tolls = 0.03, 0.05, 0.02, map[string]float64{"veth": 0.1}
			res := newSimRun(t, plan, w.Measure).mustRun(t, plan)
			res.ID, res.Environment = "", result.Environment{}
			var all bytes.Buffer
			if err := res.Write(&all); err != nil {
				t.Fatal(err)
			}
			text = all.String()
		})
		return text
	}
	first := measured()
	for range 3 {
		if again := measured(); again != first {
			t.Fatalf("measured again, it differs:\n%s\n%s", first, again)
		}
	}
}

// One network could not be set up, and the agent of another never starts.
func TestFailedCellsDoNotStopARun(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Networks = result.NetworksNamed("veth", "bridge", "vxlan")
		run := newSimRun(t, plan, even().Measure)
		for n := range run.Topology.Clusters {
			if u := &run.Topology.Clusters[n]; u.Network == "vxlan" {
				u.Error, u.Paths = "no module vxlan", nil
			}
		}
		run.site.Fault = func(at string) error {
			if strings.HasPrefix(at, "bridge.") {
				return errors.New("no room for an agent at " + at)
			}
			return nil
		}
		res := run.mustRun(t, plan)
		for net, want := range map[string]string{"bridge": "no room for an agent at bridge.h1/c2", "vxlan": "no module vxlan"} {
			if cell := cellOf(t, res, net); cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, want) || len(cell.Samples) > 0 {
				t.Errorf("%s: %s %q", net, cell.Status, cell.Reason)
			}
		}
		for _, net := range []string{"host", "veth"} {
			if cell := cellOf(t, res, net); cell.Status != result.StatusOK || len(cell.Metrics) == 0 {
				t.Errorf("%s: %s %q", net, cell.Status, cell.Reason)
			}
		}
		labtest.NotEqual(t, "finished", res.Finished, "")
	})
}

// A cell that fails later keeps what was measured before; one that fails once is measured again,
// with a warning.
func TestCellThatFailsLater(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Blocks = 8
		const until = 5
		run := newSimRun(t, plan, even().Measure)
		once := false
		run.site.Fault = func(at string) error {
			block := 0
			if len(run.progress) > 0 {
				block = run.progress[len(run.progress)-1].Block
			}
			switch {
			case strings.HasPrefix(at, "veth.") && block >= until:
				return errors.New("the agent is gone")
			case strings.HasPrefix(at, "bridge.") && block >= until && !once:
				once = true
				return errors.New("it stumbles")
			}
			return nil
		}
		res := run.mustRun(t, plan)
		veth, bridge := cellOf(t, res, "veth"), cellOf(t, res, "bridge")
		labtest.Equal(t, "status of veth", veth.Status, result.StatusFailed)
		labtest.Equal(t, "reason of veth", veth.Reason, "the agent is gone")
		labtest.Equal(t, "blocks of veth before its end", len(veth.Samples), until)
		labtest.AtLeast(t, "number of veth's metrics", len(veth.Metrics), 1)
		labtest.Equal(t, "status of bridge", bridge.Status, result.StatusOK)
		labtest.Equal(t, "blocks of bridge", len(bridge.Samples), plan.Blocks)
		labtest.Contains(t, "warnings of bridge", strings.Join(bridge.Metrics[0].Warnings, "\n"), "repeated: the first try failed: it stumbles")
	})
}

// replies is a model that is even but for some replies of clients of veth, by their number.
func replies(other map[int]simtest.Reply) simtest.Model {
	w := even()
	return func(r simtest.Request) simtest.Reply {
		if reply, is := other[r.Number]; is && r.At == "veth.h1/c1" {
			return reply
		}
		return w.Measure(r)
	}
}

// checks is how many requests the functional check of a path has.
const checks = 2

// What an agent can do instead of measuring, and what becomes of it. A block has a second chance.
func TestAgentsThatDoNotMeasure(t *testing.T) {
	for _, c := range []struct {
		name    string
		reply   simtest.Reply
		again   bool // also at the second chance
		status  string
		samples int
		warning string
	}{
		{"refuses once", simtest.Reply{Error: "no memory"}, false, result.StatusOK, 6, "repeated: the first try failed: at veth.h1/c1: no memory"},
		{"refuses twice", simtest.Reply{Error: "no memory"}, true, result.StatusOK, 5, "missed: block 1 has no window: at veth.h1/c1: no memory"},
		{"dies", simtest.Reply{Dies: true}, false, result.StatusFailed, 0, ""},   // its agent is final
		{"hangs", simtest.Reply{Hangs: true}, false, result.StatusFailed, 0, ""}, // so is one that does not even stop
		{"is much too late", simtest.Reply{Late: time.Minute}, false, result.StatusOK, 6, "repeated: the first try failed: agent at veth.h1/c1: no answer in time"},
	} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			other := map[int]simtest.Reply{checks + 1: c.reply}
			if c.again {
				other[checks+2] = c.reply
			}
			res := newSimRun(t, plan, replies(other)).mustRun(t, plan)
			veth := cellOf(t, res, "veth")
			labtest.Equal(t, "an agent that "+c.name+": status", veth.Status, c.status)
			labtest.Equal(t, "an agent that "+c.name+": blocks", len(veth.Samples), c.samples)
			if c.warning != "" && len(veth.Metrics) > 0 {
				labtest.Contains(t, "an agent that "+c.name+": warnings", strings.Join(veth.Metrics[0].Warnings, "\n"), c.warning)
			}
			labtest.Equal(t, "blocks of bridge", len(cellOf(t, res, "bridge").Samples), 6)
		})
	}
}

// Every agent of a network ends after each block, and another is started.
func TestDeadAgentIsReplaced(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		run := newSimRun(t, plan, even().Measure)
		save := run.Save
		run.Save = func(res *result.Result) error {
			return errors.Join(run.site.End(func(at string) bool { return strings.HasPrefix(at, "veth.") }), save(res))
		}
		veth := cellOf(t, run.mustRun(t, plan), "veth")
		labtest.Equal(t, "status", veth.Status, result.StatusOK)
		labtest.Equal(t, "blocks", len(veth.Samples), plan.Blocks)
	})
}

func TestOtherCongestionControlIsAnError(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Axes = plan.Axes.With("cc", "bbr")
		for _, cell := range newSimRun(t, plan, even().Measure).mustRun(t, plan).Cells {
			if cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, "congestion control is cubic, not bbr as planned") {
				t.Errorf("%s: %s %q", cell.Network, cell.Status, cell.Reason)
			}
		}
	})
}

func TestInterruptedRunIsReadable(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Blocks = 1000
		run := newSimRun(t, plan, even().Measure)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		run.Progress = func(p Progress) {
			if p.Block == 7 && p.Done == 28 {
				cancel()
			}
		}
		res, err := Run(ctx, plan, run.Options)
		labtest.Equal(t, "it ends with the interruption", errors.Is(err, context.Canceled), true)
		labtest.Equal(t, "saved", fmt.Sprintf("%q", run.saved), fmt.Sprintf("%q", make([]string, 8)))
		res = readable(t, res)
		for _, cell := range res.Cells {
			labtest.Equal(t, cell.Network+": status", cell.Status, result.StatusOK)
			labtest.AtLeast(t, cell.Network+": metrics", len(cell.Metrics), 1)
			labtest.Equal(t, cell.Network+": runs", len(cell.Samples), 7*len(cell.Clusters))
		}
		labtest.Equal(t, "finished", res.Finished, "")
	})
}

// A run that is stopped inside a long window ends at once.
func TestInterruptedWindowEndsAtOnce(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Duration = 60
		run := newSimRun(t, plan, even().Measure)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stopped time.Time
		run.Progress = func(p Progress) {
			if !p.Checking {
				time.AfterFunc(time.Second, func() { stopped = time.Now(); cancel() })
			}
		}
		res, err := Run(ctx, plan, run.Options)
		labtest.Equal(t, "it ends with the interruption", errors.Is(err, context.Canceled), true)
		labtest.Equal(t, "it ends after", time.Since(stopped), 0)
		labtest.Equal(t, "finished", readable(t, res).Finished, "")
	})
}

func TestRunStopsEarly(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*result.Plan)
		blocks  int
		warning string
	}{
		"out of time":    {func(p *result.Plan) { p.MaxTime = 0.001 }, 1, "max-time: stopped after 1 of 9 blocks"},
		"precise enough": {func(p *result.Plan) { p.Precision = 1e9 }, schedule.LeastBlocks, ""},
	} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Blocks = 9
			test.change(&plan)
			res := newSimRun(t, plan, even().Measure).mustRun(t, plan)
			labtest.Equal(t, name+": blocks", len(cellOf(t, res, "veth").Samples), test.blocks)
			labtest.NotEqual(t, name+": finished", res.Finished, "")
			stopped := slices.DeleteFunc(res.Warnings, func(w string) bool { return !strings.HasPrefix(w, "max-time: ") })
			labtest.Equal(t, name+": warnings", strings.Join(stopped, "\n"), test.warning)
		})
	}
}

func TestRunStopsWhereItCanNotSave(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		run := newSimRun(t, plan, even().Measure)
		full := errors.New("disk full")
		saves := 0
		run.Save = func(*result.Result) error {
			saves++
			return full
		}
		res, err := Run(t.Context(), plan, run.Options)
		if !errors.Is(err, full) || res == nil {
			t.Fatalf("a result: %t, error %v; want a result and %v", res != nil, err, full)
		}
		labtest.Equal(t, "number of saves", saves, 2)
		labtest.Equal(t, "finished", res.Finished, "")
	})
}
