package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"tare/experiment"
	"tare/probe"
	"tare/result"
)

// soakFlags are of a plan that is measured again and again.
type soakFlags struct {
	every, total time.Duration
	resume       bool
	asked        bool // any of them is given
}

// The files in the folder of a soak.
const (
	soakPlan   = "plan.yaml"
	soakRounds = "round-*.json"
)

func (f *soakFlags) register(flags *pflag.FlagSet) {
	flags.DurationVar(&f.every, "every", 0, "a soak: measure the plan so often in one lab, and keep each round in the folder --out")
	flags.DurationVar(&f.total, "for", 0, "with --every: for so long, as 24h")
	flags.BoolVar(&f.resume, "resume", false, "go on with the soak in the folder --out, or begin it")
}

// beginSoak checks the flags of a soak, and gives the arguments of what is measured: one that goes on has
// its plan in its folder.
func (f *runFlags) beginSoak(flags *pflag.FlagSet, args []string) ([]string, error) {
	s := &f.soak
	s.asked = flags.Changed("every") || flags.Changed("for") || s.resume
	if !s.asked {
		return args, nil
	}
	if s.resume && f.out == "" {
		return nil, wrong("--resume: which soak? Name its folder with --out")
	}
	file := filepath.Join(f.out, soakPlan)
	if _, err := os.Stat(file); s.resume && err == nil {
		if err := s.schedule(f.out, flags); err != nil {
			return nil, err
		}
		if len(args) == 0 && !slices.ContainsFunc(givenFlags(flags), choosesPlan) {
			return []string{file}, nil
		}
	}
	if s.every <= 0 || s.total < s.every {
		return nil, wrong("--every %s --for %s: write both, as in --every 10m --for 24h", s.every, s.total)
	}
	return args, nil
}

// schedule takes what is not given from the rounds of a soak that goes on, and refuses another interval.
func (f *soakFlags) schedule(folder string, flags *pflag.FlagSet) error {
	last, err := lastRound(folder)
	if err != nil || last == nil {
		return err
	}
	every := last.Every.Duration()
	if flags.Changed("every") && f.every != every {
		return wrong("--every %s together with --resume: the soak in %s has a round every %s: leave --every out, or begin anew with another --out", f.every, folder, every)
	}
	f.every = every
	if !flags.Changed("for") {
		f.total = every * time.Duration(last.Rounds)
	}
	return nil
}

// roundFiles are the rounds in a folder, in order.
func roundFiles(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, soakRounds))
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return files, err
}

// lastRound is the newest round in a folder; nil: there is none.
func lastRound(folder string) (*result.Round, error) {
	files, err := roundFiles(folder)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	file := files[len(files)-1]
	res, err := result.ReadFile(file)
	switch {
	case err != nil:
		return nil, &exitError{exitWrong, err}
	case res.Round == nil:
		return nil, wrong("%s: it is no round of a soak: name another folder with --out", file)
	}
	return res.Round, nil
}

// soakHere measures a plan on this machine again and again, and prints how its cells go on.
func soakHere(ctx context.Context, s streams, f runFlags, plan result.Plan) (err error) {
	f.out = cmp.Or(f.out, time.Now().Format("tare-soak-20060102-150405"))
	rounds := int((f.soak.total + f.soak.every - 1) / f.soak.every)
	unlock, first, err := f.openSoak(plan, rounds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	progress := newProgress(s)
	defer progress.end()
	if takes := experiment.TimeOf(plan); takes > f.soak.every {
		progress.say(fmt.Sprintf("a round takes about %s, longer than --every %s: rounds will be left out", takes.Round(time.Second), f.soak.every))
	}
	failed := false
	if first <= rounds {
		if failed, err = f.soakFrom(ctx, plan, first, rounds, progress); err != nil {
			progress.say(fmt.Sprintf("the rounds so far are in %s: tare trend %s shows them, and the same command with --resume goes on", f.out, f.out))
			return err
		}
	}
	progress.end()
	trend := trendFlags{}
	trend.lang, trend.json = f.lang, f.json
	err = trend.show(s, []string{f.out})
	if few := new(tooFewError); errors.As(err, few) { // a soak may be that short
		progress.say(few.Error())
		err = nil
	}
	if err != nil {
		return err
	}
	if failed {
		return &exitError{status: exitFailed}
	}
	return nil
}

// openSoak makes the folder of a soak, or opens that of one that goes on, and keeps others from it.
// first is the round that is measured next.
func (f *runFlags) openSoak(plan result.Plan, rounds int) (unlock func() error, first int, err error) {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return nil, 0, wrong("make the folder of the soak: %w: choose another with --out", err)
	}
	folder, err := os.Open(f.out)
	if err != nil {
		return nil, 0, wrong("open the folder of the soak: %w: choose another with --out", err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, 0, errors.Join(wrong("lock %s: %w: another tare writes its rounds there: wait for it, or choose another folder with --out", f.out, err), folder.Close())
	}
	last, err := lastRound(f.out)
	if err == nil {
		err = f.planOf(plan, last)
	}
	if err == nil {
		err = checkWritable(filepath.Join(f.out, soakPlan), experiment.SizeOf(plan)*resultBytes*int64(rounds))
	}
	if err != nil {
		return nil, 0, errors.Join(err, folder.Close())
	}
	if last != nil {
		return folder.Close, last.Number + 1, nil
	}
	return folder.Close, 1, nil
}

// planOf writes the plan of a soak into its folder, or compares it with the one that is there.
func (f *runFlags) planOf(plan result.Plan, last *result.Round) error {
	if last != nil && !f.soak.resume {
		return wrong("%s: rounds of a soak are there: go on with --resume, or choose another folder with --out", f.out)
	}
	text, err := plan.EncodeYAML()
	if err != nil {
		return err
	}
	file := filepath.Join(f.out, soakPlan)
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && last == nil:
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return wrong("write the plan of the soak: %w: choose another folder with --out", err)
		}
		return nil
	case err != nil:
		return wrong("read the plan of the soak: %w", err)
	}
	if unlike := unlikeLines(string(before), string(text)); len(unlike) > 0 {
		return wrong("--resume: the soak in %s has another plan (%s): leave out what chooses a plan, or begin anew with another --out", f.out, strings.Join(unlike, "; "))
	}
	return nil
}

// unlikeLines are the lines that only one of two texts has, a few of them.
func unlikeLines(old, recent string) (texts []string) {
	const most = 4
	a, b := strings.Split(old, "\n"), strings.Split(recent, "\n")
	for _, one := range []struct {
		mark      string
		of, other []string
	}{{"there ", a, b}, {"here ", b, a}} {
		for _, line := range one.of {
			if !slices.Contains(one.other, line) {
				texts = append(texts, one.mark+strings.TrimSpace(line))
			}
		}
	}
	if len(texts) > most {
		return append(texts[:most], fmt.Sprintf("and %d more", len(texts)-most))
	}
	return texts
}

// soakFrom measures the rounds from one on. failed reports whether any cell of one failed.
func (f *runFlags) soakFrom(ctx context.Context, plan result.Plan, first, rounds int, progress *progress) (failed bool, err error) {
	l, plan, err := f.lab(ctx, plan, progress)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	log, closeLog := kernelLog(progress)
	defer func() { err = errors.Join(err, closeLog()) }()
	err = experiment.Soak(ctx, plan, experiment.Options{Site: l, Topology: l.Topology, Tool: tool(), Progress: progress.show}, experiment.Soaking{
		Every: f.soak.every, Rounds: rounds, First: first, Log: log,
		Explain: func(ctx context.Context, res *result.Result) error { return explain(ctx, l, res, f.labName) },
		Save: func(res *result.Result) error {
			return res.WriteFile(filepath.Join(f.out, fmt.Sprintf("round-%04d.json", res.Round.Number)))
		},
		Over: func(res *result.Result, next time.Time) {
			failed = failed || slices.ContainsFunc(res.Cells, func(c result.Cell) bool { return c.Status == result.StatusFailed })
			text := fmt.Sprintf("round %d of %d took %s", res.Round.Number, rounds, res.Round.Took.Duration().Round(100*time.Millisecond))
			if !next.IsZero() {
				text += ", the next begins at " + next.Format(time.TimeOnly)
			}
			progress.say(text)
		},
	})
	return failed, err
}

// kernelLog reads the log of the kernel, or says why it can't.
func kernelLog(progress *progress) (read func() result.KernelLog, end func() error) {
	log, err := probe.OpenKernelLog("/")
	if err != nil {
		progress.say(err.Error())
		return func() result.KernelLog { return result.KernelLog{Unread: err.Error()} }, func() error { return nil }
	}
	return log.Read, log.Close
}
