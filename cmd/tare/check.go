package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tare/experiment"
	"tare/result"
	"tare/site"
)

// checkTime is what `tare run --check` may take.
const checkTime = 20 * time.Second

// runCheck measures the baseline against itself and prints the smallest toll that
// this machine can detect.
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
	progress := newProgress(s)
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

// checkTolls are the tolls for which the time to detect them is printed.
var checkTolls = [...]float64{0.05, 0.03, 0.02, 0.01}

func printCheck(s streams, res *result.Result, plan result.Plan) error {
	fmt.Fprintf(s.out, "%d blocks of the host against itself. This machine detects:\n", res.Plan.Blocks)
	for _, p := range experiment.Detectable(res, plan) {
		fmt.Fprintf(s.out, "  %s, %s %s: %s\n", p.Path, p.Workload, p.Metric, detectable(p))
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(s.out, "  warning: %s\n", w)
	}
	_, err := fmt.Fprintf(s.out, "Times are for all cells of this plan (%d blocks take %s); fewer networks take less.\n",
		plan.Blocks, short(experiment.TimeOf(plan)))
	return err
}

// detectable is the text of which tolls can be detected, and in what time: "tolls
// above 3 % in 90 s, 1 % in 12 minutes".
func detectable(p experiment.Power) string {
	if p.Toll >= 1 {
		return "no toll within this plan's blocks: the machine is too noisy now; stop other work on it or raise --blocks"
	}
	text := fmt.Sprintf("tolls above %.1f %% in %s", 100*p.Toll, short(p.Time))
	for _, toll := range checkTolls {
		if toll >= p.Toll {
			continue
		}
		_, took, ok := p.For(toll)
		if !ok {
			return fmt.Sprintf("%s; %.0f %% not in %d blocks", text, 100*toll, experiment.MostBlocks)
		}
		text += fmt.Sprintf(", %.0f %% in %s", 100*toll, short(took))
	}
	return text
}

// short writes a time span in words: "90 s", "12 minutes", "1.5 hours".
func short(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
