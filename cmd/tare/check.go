package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tare/experiment"
	"tare/result"
	"tare/site"
)

// checkTime is what `tare run --check` may take.
const checkTime = 20 * time.Second

// runCheck measures the baseline against itself and tells what toll this
// machine can tell apart.
func runCheck(ctx context.Context, s streams, f runFlags, plan result.Plan) (err error) {
	aa := experiment.AAPlan(plan, checkTime)
	l, err := site.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Build(ctx, experiment.Spec(aa, labHosts, labContainers)); err != nil {
		return err
	}
	progress := newProgress(s.err)
	res, err := experiment.Run(ctx, aa, experiment.Options{
		Site: l, Topology: l.Topology, Tool: tool(), Progress: progress.show,
		Save: func(*result.Result) error { return nil },
	})
	progress.end()
	if err != nil {
		return err
	}
	if f.json {
		return res.Write(s.out)
	}
	return printCheck(s, res, plan)
}

// checkTolls are the tolls that the answer is given for.
var checkTolls = [...]float64{0.05, 0.03, 0.02, 0.01}

func printCheck(s streams, res *result.Result, plan result.Plan) error {
	fmt.Fprintf(s.out, "%d blocks of the host against itself. A toll larger than each can be told apart:\n", res.Plan.Blocks)
	for _, m := range experiment.Detectable(res, plan) {
		fmt.Fprintf(s.out, "  %-10s %-11s %-15s blocks differ by %.1f %%; this plan's %d blocks tell %s apart in %s\n",
			m.Workload, m.Metric, m.Path, 100*m.Spread, plan.Blocks, percent(m.Toll), short(m.Time))
		for _, toll := range checkTolls {
			if blocks, took, ok := m.For(toll); ok {
				fmt.Fprintf(s.out, "    %4.0f %% in %d blocks, %s\n", 100*toll, blocks, short(took))
			} else {
				fmt.Fprintf(s.out, "    %4.0f %% not in %d blocks: this machine is too noisy\n", 100*toll, experiment.MostBlocks)
			}
		}
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(s.out, "  warning: %s\n", w)
	}
	return nil
}

func percent(toll float64) string {
	if math.IsNaN(toll) || math.IsInf(toll, 0) {
		return "nothing"
	}
	return fmt.Sprintf("%.1f %%", 100*toll)
}

// short writes a time span as people say it.
func short(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
