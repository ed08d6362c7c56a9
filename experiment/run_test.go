package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/experiment/schedule"
	"tare/result"
	"tare/test/labtest"
)

// readable writes a result and reads it back.
func readable(t *testing.T, res *result.Result) *result.Result {
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

func TestLabRunMeasuresEveryCell(t *testing.T) {
	plan := loopPlan(t)
	plan.Duration = schedule.WindowsFrom // so that CPU time is counted
	run := newLoopRun(t, plan)
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	res = readable(t, res)
	labtest.NotEqual(t, "finished", res.Finished, "")
	labtest.NotEqual(t, "started", res.Started, "")
	labtest.NotEqual(t, "ID", res.ID, "")
	labtest.Equal(t, "tool's version", res.Tool.Version, "1.2.3")
	labtest.NotEqual(t, "seed", res.Plan.Seed, 0)
	labtest.Equal(t, "privilege", res.Environment.Privilege, "root")
	places := map[[2]int]bool{}
	for net, each := range map[string]int{"host": 2, "veth": 1, "bridge": 1} {
		cell := cellOf(t, res, net)
		if cell.Status != result.StatusOK {
			t.Fatalf("%s: %s %s", net, cell.Status, cell.Reason)
		}
		labtest.Equal(t, net+": runs", blocksOf(cell, ""), each*plan.Blocks)
		labtest.Equal(t, net+": mode", cell.Mode, "block")
		labtest.NotEqual(t, net+": fidelity", cell.Fidelity, "")
		for _, s := range cell.Samples {
			place := [2]int{s.Block, s.Order}
			at := fmt.Sprintf("%s: block %d, order %d", net, s.Block, s.Order)
			labtest.Equal(t, at+": measured before", places[place], false)
			labtest.LessThan(t, at+": order", s.Order, 4)
			labtest.Equal(t, at+": no layout", s.Layout == "", each == 1)
			labtest.MoreThan(t, at+": rtt_mean", s.Metrics["rtt_mean"], 0)
			labtest.MoreThan(t, at+": work", s.Counters["work"], 0)
			places[place] = true
		}
		// The headline needs more round trips than a stalled machine may give.
		n := slices.IndexFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == "rate" })
		if n < 0 || cell.Metrics[n].Toll == nil {
			t.Fatalf("%s: no rate with a toll: %+v", net, cell.Metrics)
		}
		labtest.Equal(t, net+": blocks of the rate", cell.Metrics[n].N, plan.Blocks)
		labtest.NotEqual(t, net+": low end of the rate's toll", cell.Metrics[n].Toll.Low, nil)
	}
	if len(res.Noise.AA) == 0 {
		t.Error("no A/A")
	}
	// Slots that are found too short, as they may be by chance, are measured again.
	blocks := len(run.saved) - 1
	labtest.Between(t, "blocks that were saved", blocks, plan.Blocks, plan.Blocks+3)
	if run.saved[0] != "" || run.saved[blocks] == "" {
		t.Errorf("saved with finished %q", run.saved)
	}
	last := run.progress[len(run.progress)-1]
	labtest.Equal(t, "first progress: checking", run.progress[0].Checking, true)
	labtest.Equal(t, "last progress: done", last.Done, 4*blocks)
	labtest.Equal(t, "last progress: total", last.Total, 4*blocks)
	labtest.Equal(t, "last progress: block", last.Block, 6)
	labtest.Equal(t, "last progress: left", last.Left, 0)
}

// TestLabFailedCellsDoNotStopARun has a network that could not be set up, and one
// whose agent never starts.
func TestLabFailedCellsDoNotStopARun(t *testing.T) {
	plan := loopPlan(t)
	plan.Networks = result.NetworksNamed("veth", "bridge", "vxlan")
	run := newLoopRun(t, plan)
	for n := range run.Topology.Clusters {
		if u := &run.Topology.Clusters[n]; u.Network == "vxlan" {
			u.Error, u.Paths = "no module vxlan", nil
		}
	}
	run.site.fault = func(at string) error {
		if strings.HasPrefix(at, "bridge.") {
			return errors.New("no room for an agent at " + at)
		}
		return nil
	}
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
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
	if res.Finished == "" {
		t.Error("it did not finish")
	}
}

// TestLabCellThatFailsLater keeps what was measured before; one that fails once
// is measured again, with a warning.
func TestLabCellThatFailsLater(t *testing.T) {
	plan := loopPlan(t)
	const until = 3 + 2 // after the blocks whose slots may be found too short
	plan.Blocks = until + 2 + 1
	run := newLoopRun(t, plan)
	once := false
	run.site.fault = func(at string) error {
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
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	veth := cellOf(t, res, "veth")
	labtest.Equal(t, "status of veth", veth.Status, result.StatusFailed)
	labtest.Equal(t, "reason of veth", veth.Reason, "the agent is gone")
	labtest.AtLeast(t, "number of veth's metrics", len(veth.Metrics), 1)
	bridge := cellOf(t, res, "bridge")
	labtest.Equal(t, "blocks of veth before its end", blocksOf(veth, "the agent is gone"), until-forgotten(res))
	m := bridge.Metrics[0]
	if bridge.Status != result.StatusOK || blocksOf(bridge, "") != plan.Blocks || !strings.Contains(strings.Join(m.Warnings, "\n"), "repeated: the first try failed: it stumbles") {
		t.Errorf("bridge: %s %q, %d samples, warnings %q", bridge.Status, bridge.Reason, len(bridge.Samples), m.Warnings)
	}
}

// blocksOf counts the runs of a cell: those that were measured, and those that it missed, as
// it may on a busy machine, but for a reason.
func blocksOf(cell *result.Cell, but string) int {
	blocks := len(cell.Samples)
	for _, w := range cell.Metrics[0].Warnings {
		if strings.HasPrefix(w, "missed: ") && (but == "" || !strings.Contains(w, but)) {
			blocks++
		}
	}
	return blocks
}

// forgotten is how many of a run's blocks were measured again, since their slots were found too
// short.
func forgotten(res *result.Result) int {
	first := math.MaxInt
	for _, cell := range res.Cells {
		for _, s := range cell.Samples {
			first = min(first, s.Block)
		}
	}
	return first
}

// TestLabDeadAgentIsReplaced kills every agent of a network after each block.
func TestLabDeadAgentIsReplaced(t *testing.T) {
	plan := loopPlan(t)
	run := newLoopRun(t, plan)
	save := run.Save
	run.Save = func(res *result.Result) error {
		for key, h := range run.site.agents {
			if strings.HasPrefix(key, "veth.") {
				if err := h.Close(); err != nil {
					return err
				}
			}
		}
		return save(res)
	}
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	if cell := cellOf(t, res, "veth"); cell.Status != result.StatusOK || blocksOf(cell, "") != plan.Blocks {
		t.Errorf("veth: %s %q, %d samples", cell.Status, cell.Reason, len(cell.Samples))
	}
}

func TestLabOtherCongestionControlIsAnError(t *testing.T) {
	plan := loopPlan(t)
	plan.CC = "none-such"
	run := newLoopRun(t, plan)
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range res.Cells {
		if cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, "not none-such as planned") {
			t.Errorf("%s: %s %q", cell.Network, cell.Status, cell.Reason)
		}
	}
}

func TestLabInterruptedRunIsReadable(t *testing.T) {
	plan := loopPlan(t)
	plan.Blocks = 1000
	run := newLoopRun(t, plan)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopped time.Time
	reported := 0
	report := run.Progress
	run.Progress = func(p Progress) {
		report(p)
		if p.Done != 28 {
			return
		}
		if reported++; reported == 2 { // first at the end of the seventh block, then as the eighth begins
			stopped = time.Now()
			cancel()
		}
	}
	res, err := Run(ctx, plan, run.Options)
	if !errors.Is(err, context.Canceled) || time.Since(stopped) > 3*time.Second {
		t.Fatalf("%v, %s after it was interrupted", err, time.Since(stopped))
	}
	if last := run.saved[len(run.saved)-1]; last != "" || len(run.saved) != 8 {
		t.Errorf("saved with finished %q", run.saved)
	}
	res = readable(t, res)
	runs := 0
	for _, cell := range res.Cells {
		runs += blocksOf(&cell, "")
		if cell.Status != result.StatusOK || len(cell.Metrics) == 0 {
			t.Errorf("%s: %s %q, %d metrics", cell.Network, cell.Status, cell.Reason, len(cell.Metrics))
		}
	}
	if lost := forgotten(res); res.Finished != "" || runs != 28-4*lost {
		t.Errorf("finished %q, %d runs, %d blocks forgotten", res.Finished, runs, lost)
	}
}

// TestLabInterruptedWindowEndsAtOnce stops a run inside a long window.
func TestLabInterruptedWindowEndsAtOnce(t *testing.T) {
	plan := loopPlan(t)
	plan.Duration = 60
	run := newLoopRun(t, plan)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	report := run.Progress
	run.Progress = func(p Progress) {
		report(p)
		if !p.Checking {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	started := time.Now()
	res, err := Run(ctx, plan, run.Options)
	if !errors.Is(err, context.Canceled) || time.Since(started) > 10*time.Second || res.Finished != "" {
		t.Errorf("%v after %s", err, time.Since(started))
	}
	readable(t, res)
}

func TestLabRunStopsEarly(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*result.Plan)
		least   int
		most    int
		warning string
	}{
		"out of time":    {func(p *result.Plan) { p.MaxTime = 0.001 }, 1, 1, "max-time: stopped after 1 of 9 blocks"},
		"precise enough": {func(p *result.Plan) { p.Precision = 1e9 }, schedule.LeastBlocks, schedule.LeastBlocks + 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := loopPlan(t)
			// Long windows: a busy machine may take all slots of a short one, or stop it until it has
			// too few round trips for a median.
			plan.Blocks, plan.Duration = 9, 0.1
			test.change(&plan)
			run := newLoopRun(t, plan)
			res, err := Run(t.Context(), plan, run.Options)
			if err != nil {
				t.Fatal(err)
			}
			if cell := cellOf(t, res, "veth"); len(cell.Samples) < test.least || len(cell.Samples) > test.most || res.Finished == "" {
				t.Errorf("%d blocks, finished %q, cells %+v", len(cell.Samples), res.Finished, res.Cells)
			}
			stopped := slices.DeleteFunc(res.Warnings, func(w string) bool { return !strings.HasPrefix(w, "max-time: ") })
			if got := strings.Join(stopped, "\n"); got != test.warning {
				t.Errorf("warnings %q", got)
			}
		})
	}
}

func TestLabRunStopsWhereItCanNotSave(t *testing.T) {
	plan := loopPlan(t)
	run := newLoopRun(t, plan)
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
}
