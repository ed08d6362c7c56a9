package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tare/catalog"
	"tare/diagnose"
	"tare/experiment"
	"tare/result"
	"tare/site"
)

// wandering is the cause that is verified by a run whose ends are bound to separate
// CPUs.
const wandering = "core-migration"

// mend is the finding whose fix is verified, and how it is.
type mend struct {
	finding result.Finding
	pinned  bool // by measuring again with the ends bound; else by its remedy
}

// verify carries out the fix of the worst finding that has one, measures the
// same blocks again, and writes down what that gave back.
func (f runFlags) verify(ctx context.Context, l *site.Lab, plan result.Plan, res *result.Result, progress *progress) error {
	chosen, ok := f.toMend(plan, res)
	if !ok {
		if len(causesOf(res)) > 0 {
			res.Warnings = append(res.Warnings, "fix-and-verify: no finding has a fix that can be carried out in this lab")
		}
		return nil
	}
	plan.Seed = res.Plan.Seed
	again, err := f.again(ctx, l, plan, chosen, progress)
	if again == nil {
		return err
	}
	var changed []string
	if chosen.pinned {
		changed = []string{"pin"}
	}
	diagnose.Verify(res, again, chosen.finding, changed...)
	return err
}

// causesOf are the findings of a result, the worst first.
func causesOf(res *result.Result) []result.Finding {
	all := slices.Clone(res.Findings)
	for _, cell := range res.Cells {
		all = append(all, cell.Findings...)
	}
	diagnose.Rank(all)
	return all
}

// toMend is the worst finding that can be mended here.
func (f runFlags) toMend(plan result.Plan, res *result.Result) (mend, bool) {
	for _, found := range causesOf(res) {
		if found.Remedy != nil {
			return mend{finding: found}, true
		}
		if found.ID == wandering && plan.Axes.Word("pin") == catalog.PinNone && f.labName == "" {
			return mend{finding: found, pinned: true}, true
		}
	}
	return mend{}, false
}

// again measures the plan with the fix in place: in the same lab, or in one
// whose hosts are bound.
func (f runFlags) again(ctx context.Context, l *site.Lab, plan result.Plan, m mend, progress *progress) (res *result.Result, err error) {
	if m.pinned {
		plan.Axes = plan.Axes.With("pin", catalog.PinApart)
		bound, narrowed, errLab := f.lab(ctx, plan, progress)
		if errLab != nil {
			return nil, errLab
		}
		defer func() { err = errors.Join(err, bound.Close()) }()
		l, plan = bound, narrowed
	} else if err := carryOut(ctx, l, m.finding.Remedy); err != nil {
		return nil, err
	}
	return experiment.Run(ctx, plan, experiment.Options{
		Site: l, Topology: l.Topology, Tool: tool(), Save: func(*result.Result) error { return nil }, Progress: progress.show,
	})
}

// carryOut types a remedy, each step at its place.
func carryOut(ctx context.Context, l *site.Lab, r *result.Remedy) error {
	for _, step := range r.Steps() {
		if err := typeAt(ctx, l, step.At, step.Command); err != nil {
			return fmt.Errorf("carry out %q in %s: %w", step.Command, step.At, err)
		}
	}
	return nil
}

// typeAt types a command at a place.
func typeAt(ctx context.Context, l *site.Lab, at, command string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return errors.Join(err, null.Close())
	}
	// Debian has some tools where an ordinary user's PATH does not reach.
	status, err := l.Exec(ctx, at, []string{"sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; " + command}, null, to, to)
	err = errors.Join(err, null.Close(), to.Close())
	output, errRead := io.ReadAll(from)
	err = errors.Join(err, errRead, from.Close())
	if err == nil && status != 0 {
		err = fmt.Errorf("it ended with status %d: %s", status, strings.TrimSpace(string(output)))
	}
	return err
}
