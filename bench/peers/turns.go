package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"tare/result"
	"tare/workload"
)

// patience is what a run may take beyond its windows.
const patience = 20 * time.Second

// subject is what takes its turn: tare in one mode, or a peer.
type subject interface {
	label() string
	commands(s *stage) []string // that it is called with
	measure(ctx context.Context, s *stage) (values, error)
}

// needy is a subject that needs other programs.
type needy interface{ programs() []workload.Program }

// outcome is a row at one placement as measured.
type outcome struct {
	row
	placement string
	headline  bool
	blocks    []map[string]values // by label; a run that failed has none
	commands  []string
	missing   []workload.Program // not installed
	failed    map[string]int     // runs, by label
	failure   map[string]string  // the last one's cause
}

// takeTurns measures every row at each of its placements. Interrupted, it returns
// what it has.
func takeTurns(ctx context.Context, chosen []row, o options) (outcomes []outcome, err error) {
	stages := map[string]*stage{}
	defer func() {
		for _, s := range stages {
			err = errors.Join(err, s.close())
		}
	}()
	for _, r := range chosen {
		for n, placement := range r.placements {
			if stages[placement] == nil {
				s, err := openStage(ctx, o, placement)
				if err != nil {
					return outcomes, err
				}
				stages[placement] = s
			}
			out := outcome{row: r, placement: placement, headline: n == 0}
			err := out.take(ctx, stages[placement], o.pairs)
			if len(out.blocks) > 0 {
				outcomes = append(outcomes, out)
			}
			if err != nil {
				return outcomes, err
			}
		}
	}
	return outcomes, nil
}

// take runs the blocks: in each, every subject once, in random order.
func (out *outcome) take(ctx context.Context, s *stage, pairs int) error {
	subjects := out.subjects()
	out.failed, out.failure = map[string]int{}, map[string]string{}
	for _, sub := range subjects {
		for _, line := range sub.commands(s) {
			out.commands = result.AddOnce(out.commands, line)
		}
	}
	for n := range pairs {
		fmt.Fprintf(os.Stderr, "%s, %s: block %d of %d\n", out.name, out.placement, n+1, pairs)
		block := map[string]values{}
		for _, k := range rand.Perm(len(subjects)) {
			v, err := once(ctx, subjects[k], s)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			label := subjects[k].label()
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %s: %v\n", out.name, out.placement, label, err)
				out.failed[label]++
				out.failure[label] = err.Error()
				continue
			}
			block[label] = v
		}
		out.blocks = append(out.blocks, block)
	}
	return nil
}

// subjects are those whose tools are installed; the others are noted.
func (out *outcome) subjects() []subject {
	var all, present []subject
	all = append(all, out.ours...)
	for _, p := range out.peers {
		all = append(all, p)
	}
	for _, sub := range all {
		if needs, some := sub.(needy); !some || out.installed(needs.programs()) {
			present = append(present, sub)
		}
	}
	return present
}

// installed reports whether all programs are, and notes those that are not.
func (out *outcome) installed(programs []workload.Program) bool {
	all := true
	for _, p := range programs {
		if _, err := p.Find(); err == nil {
			continue
		}
		all = false
		if !slices.ContainsFunc(out.missing, func(m workload.Program) bool { return m.Name == p.Name }) {
			out.missing = append(out.missing, p)
			fmt.Fprintf(os.Stderr, "%s: %s is not installed: %s\n", out.name, p.Name, p.Get)
		}
	}
	return all
}

// once does one run in bounded time and adds what it cost.
func once(ctx context.Context, sub subject, s *stage) (values, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.window+patience)
	defer cancel()
	v, err := sub.measure(ctx, s)
	if err != nil {
		return nil, err
	}
	if throughput := v["throughput"]; throughput > 0 {
		v[perGbit] = v["cores"] / (throughput / 1e9)
	}
	if rate := v["rate"]; rate > 0 {
		v[perTransaction] = v["cores"] / rate
	}
	return v, nil
}
