package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tare/diagnose"
	"tare/experiment"
	"tare/result"
	"tare/site"
)

// runOnPairs measures on each pair of machines, one after the other, and reports what they have
// in common: the pair is the unit. One that can't be measured is named, and left out.
func runOnPairs(ctx context.Context, s streams, f runFlags, flags *pflag.FlagSet) error {
	progress := newProgress(f.progressTo(s))
	defer progress.end()
	f.open.MaxTime /= result.Seconds(len(f.site.ofPairs))
	if f.dryRun {
		return f.tryPairs(ctx, s, progress, flags)
	}
	size := experiment.SizeOf(experiment.Complete(f.open)) * int64(len(f.site.ofPairs))
	return f.deliver(s, size, func(save func(*result.Result) error) (joined *result.Result, lost error) {
		defer progress.end() // the answer follows
		var pairs []result.MachinePair
		var results []*result.Result
		failed := false // a cell on a pair
		for n := range f.site.ofPairs {
			one, err := f.measurePair(ctx, n, progress, flags)
			pair := result.MachinePair{Machines: f.site.ofPairs[n], Places: []result.Place{}, Cells: []result.Cell{}, Warnings: []string{}}
			if one != nil {
				pair.Places, pair.Cells, pair.Warnings = append(pair.Places, one.Places...), one.Cells, one.Warnings
			}
			failed = failed || slices.ContainsFunc(pair.Cells, func(c result.Cell) bool { return c.Status == result.StatusFailed })
			if err != nil {
				pair.Reason = err.Error()
				lost = errors.Join(lost, fmt.Errorf("measure %s: %w", strings.Join(pair.Machines, " and "), err))
			}
			pairs, results = append(pairs, pair), append(results, one)
			if joined = experiment.OfPairs(pairs, results); joined != nil {
				diagnose.Weigh(joined, "")
				lost = errors.Join(lost, save(joined))
			}
			if ctx.Err() != nil {
				return joined, lost
			}
		}
		if joined != nil {
			joined.Finished = time.Now().UTC().Format(time.RFC3339)
			lost = errors.Join(lost, save(joined))
		}
		if lost == nil && failed {
			lost = &exitError{status: exitFailed}
		}
		return joined, lost
	})
}

// measurePair measures on the n-th pair.
func (f runFlags) measurePair(ctx context.Context, n int, progress *progress, flags *pflag.FlagSet) (*result.Result, error) {
	f.onPair(n, progress)
	return f.measureAtPlaces(ctx, progress, flags, func(*result.Result) error { return nil })
}

// tryPairs says how the machines of each pair reach each other, and prints the plan.
func (f runFlags) tryPairs(ctx context.Context, s streams, progress *progress, flags *pflag.FlagSet) error {
	for n := range f.site.ofPairs {
		f.onPair(n, progress)
		err := f.atPlaces(ctx, progress, flags, func(_ *site.Endpoints, plan result.Plan) error {
			if n > 0 {
				return nil
			}
			return printPlan(s, plan)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onPair turns to the n-th pair of machines.
func (f *runFlags) onPair(n int, progress *progress) {
	progress.end() // what it shows is of the pair before
	machines := f.site.ofPairs[n]
	progress.say(fmt.Sprintf("pair %d of %d: %s", n+1, len(f.site.ofPairs), strings.Join(machines, " and ")))
	f.site.between(machines)
}
