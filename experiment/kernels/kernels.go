// Package kernels weighs one kernel against another. Each is booted in a virtual machine,
// where tare runs the same plan in a lab; the machines take turns of one block. What they
// measured is one result, with the kernel as an axis, and is compared block by block.
//
//   - kernels.go: the rounds of all machines
//   - seat.go: one machine in them
//   - turns.go: what a machine is asked, and says
//   - merge.go: one result of all
package kernels

import (
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"time"

	"tare/experiment"
	"tare/result"
)

// Machine is a virtual machine that can be booted.
type Machine struct {
	Image       string // of the kernel, as the plan has it
	Release     string
	Accelerator string
	// Boot runs the machine to the end of its command, which takes its turns by Taker and
	// then writes its result. out gets its error output too.
	Boot func(ctx context.Context, in io.Reader, out io.Writer) (status int, err error)
}

// Options are what a run needs in addition to its plan.
type Options struct {
	// Machines are that of the first kernel, its twin, and those of the others.
	Machines []Machine
	Tool     result.Tool
	Progress func(experiment.Progress)
}

// The twin's place among the machines, and that of the first kernel.
const (
	first = 0
	twin  = 1
)

// lastTurn is how long a machine may take to end: the turn that it has, and its result.
const lastTurn = 5 * time.Minute

// Run measures a completed and checked plan on each machine. It returns what was measured
// also when it is interrupted or a machine ends before its time.
func Run(ctx context.Context, plan result.Plan, o Options) (*result.Result, error) {
	started := time.Now()
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	seats := make([]*seat, len(o.Machines))
	for n, m := range o.Machines {
		seats[n] = sit(alive, m)
	}
	stopped, err := rounds(ctx, plan, seats, started, o.Progress)
	for _, s := range seats {
		err = errors.Join(err, s.leave(lastTurn))
	}
	res := merge(plan, seats, o.Tool)
	if res == nil {
		return nil, err
	}
	res.Started = started.UTC().Format(time.RFC3339)
	if err == nil {
		res.Finished = time.Now().UTC().Format(time.RFC3339)
	}
	if stopped >= 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("max-time: stopped after %d of %d blocks", stopped, plan.Blocks))
	}
	return res, err
}

// rounds has each machine measure a block, in an order drawn anew, and again. stopped is
// after how many blocks the plan's time was over; -1: it was not.
func rounds(ctx context.Context, plan result.Plan, seats []*seat, started time.Time, show func(experiment.Progress)) (stopped int, err error) {
	for _, s := range seats {
		if err := s.await(ctx); err != nil {
			return -1, err
		}
	}
	begun := time.Now()
	order := mathrand.New(mathrand.NewPCG(plan.Seed, uint64(len(seats))))
	for block := range plan.Blocks {
		p := experiment.Progress{Block: block, Blocks: plan.Blocks, Done: block * len(seats), Total: plan.Blocks * len(seats)}
		var each time.Duration // that a block took; 0: unknown
		if block > 0 {
			each = time.Since(begun) / time.Duration(block)
		}
		p.Left = each * time.Duration(plan.Blocks-block)
		show(p)
		if limit := plan.MaxTime.Duration(); limit > 0 && time.Since(started)+each > limit {
			return block, nil
		}
		for _, n := range order.Perm(len(seats)) {
			if err := seats[n].measure(ctx); err != nil {
				return -1, err
			}
		}
	}
	return -1, nil
}
