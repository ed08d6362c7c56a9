package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/engine"
	"tare/experiment"
	"tare/experiment/schedule"
	"tare/report"
	"tare/result"
	"tare/site"
)

// resultBytes is about the size of a run's result, in bytes for each sample.
const resultBytes = 6 << 10

func runCommand(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [PLAN.yaml|RESULT.json]",
		Short: "Build a lab, measure networks in it, explain their tolls",
		Long: `Builds a lab, measures every network of the plan against the host's own in
randomised interleaved blocks, prints the tolls and writes the result file.

Without an argument it runs the quick plan: every network that needs no package,
with TCP throughput and round trips, in about a minute. A YAML file is a plan to
run; a result file runs its plan again. Flags change the plan: fewer networks,
paths or workloads get longer windows.

With --case it repeats a published measurement (tare list cases) and gives a verdict
on each of its claims.

With --endpoint it builds nothing: it measures between hosts and containers that are
there, each reached by a command. With --kernel it measures in virtual machines.
With --every and --for it is a soak: it measures again and again in one lab.`,
		Example: `  tare run
  tare run --networks host,vxlan --paths cross-host --workloads tcp_stream
  tare run --networks host,vxlan --workloads tcp_stream --link 1gbit
  tare run --dry-run > plan.yaml; tare run plan.yaml
  tare run --check
  tare run --case containerd-linux-bridge --out case.json
  tare run --endpoint h1='ssh a' --endpoint h2='ssh b' --workloads tcp_rr
  tare run --kernel /boot/vmlinuz-6.1.0-50-amd64,host --networks vxlan
  tare run --networks bridge,vxlan --every 10m --for 24h --out soak`,
		Args: atMostOne("run one plan or result"),
		RunE: func(c *cobra.Command, args []string) error {
			f.site.pair = !f.tracing()
			return f.run(c.Context(), s, c.Flags(), args)
		},
	}
	f.register(c.Flags())
	together(c, "before", "after", "--before and --after: name a file with each, as in --before before.json --after after.json")
	refuse(c, f.by.take)
	belong(c)
	return c
}

// run does what the flags choose: a case, or a plan, once or again and again, before or after a change.
func (f *runFlags) run(ctx context.Context, s streams, flags *pflag.FlagSet, args []string) error {
	args, err := f.beginChange(flags, args)
	if err != nil {
		return err
	}
	if args, err = f.beginSoak(flags, args); err != nil {
		return err
	}
	asked, err := f.caseOf(args)
	if err != nil {
		return err
	}
	if asked.id != "" {
		return f.runCase(ctx, s, flags, asked)
	}
	err = runPlan(ctx, s, f, flags, args)
	if failed := new(exitError); err != nil && !(errors.As(err, &failed) && failed.status == exitFailed) {
		return err
	}
	return cmp.Or(f.endChange(s), err)
}

// runPlan runs the plan of the argument, with what the flags change of it, where they say.
func runPlan(ctx context.Context, s streams, f *runFlags, flags *pflag.FlagSet, args []string) error {
	elsewhere, err := f.site.read(flags)
	if err != nil {
		return err
	}
	if f.tracing() && len(args) == 0 {
		if err := traceDefaults(flags, elsewhere); err != nil {
			return err
		}
	}
	plan, err := f.plan(flags, args)
	switch {
	case err != nil:
		return err
	case elsewhere && f.tracing():
		return f.traceAtPlaces(ctx, s, plan, flags)
	case elsewhere:
		return runElsewhere(ctx, s, *f, flags)
	case plan.Site != "":
		return wrong("%s: it was measured at places that only commands reach, which a file alone can't choose: name them with --endpoint, --machines or --site docker", args[0])
	}
	if f.labName == "" { // the plan of a lab has what the lab has
		if err := experiment.CheckTime(plan); err != nil {
			return err
		}
	}
	if f.dryRun {
		return printPlan(s, plan)
	}
	return runHere(ctx, s, *f, plan)
}

// runHere runs a plan on this machine: in virtual machines or in a lab.
func runHere(ctx context.Context, s streams, f runFlags, plan result.Plan) error {
	plan, err := f.equip(plan)
	if err != nil {
		return err
	}
	if len(plan.Kernels) > 0 {
		return runKernels(ctx, s, f, plan)
	}
	if err := f.modules.load(ctx, result.Names(plan.Networks, func(n result.NetworkPlan) string { return n.Name })); err != nil {
		return err
	}
	switch {
	case f.tracing():
		return f.traceInLab(ctx, s, plan)
	case f.soak.asked:
		return soakHere(ctx, s, f, plan)
	case f.check:
		return runCheck(ctx, s, f, plan)
	}
	return runInLab(ctx, s, f, plan)
}

func printPlan(s streams, plan result.Plan) error {
	text, err := plan.EncodeYAML()
	if err != nil {
		return err
	}
	_, err = s.out.Write(text)
	return err
}

// equip chooses the real servers and clients that the plan's workloads need.
func (f *runFlags) equip(plan result.Plan) (result.Plan, error) {
	plan, err := experiment.Equip(plan)
	if err == nil {
		f.open, err = experiment.Equip(f.open) // from which the plan of a running lab is made
	}
	if missing := new(engine.MissingError); errors.As(err, &missing) {
		return plan, &exitError{exitMissing, err}
	}
	return plan, err
}

// runInLab builds the lab, measures, and reports.
func runInLab(ctx context.Context, s streams, f runFlags, plan result.Plan) error {
	return f.deliver(s, experiment.SizeOf(plan), func(save func(*result.Result) error) (*result.Result, error) {
		return measure(ctx, s, f, plan, save)
	})
}

// deliver measures, writes the result file, and prints what the user asked for.
// samples is how many the plan takes: the file must have room for them.
func (f runFlags) deliver(s streams, samples int64, measure func(save func(*result.Result) error) (*result.Result, error)) error {
	out := f.out
	ours := out == "" && !f.json
	if ours {
		out = time.Now().Format("tare-20060102-150405.json")
	}
	if err := checkWritable(out, samples*resultBytes); err != nil {
		return err
	}
	save := func(*result.Result) error { return nil }
	if out != "" && replaceable(out) {
		save = func(res *result.Result) (err error) {
			if ours { // another run may have begun in the same second
				if out, err = result.NewFile(out); err != nil {
					return err
				}
				ours = false
			}
			return res.WriteFile(out)
		}
	}
	if err := f.checkPage(); err != nil {
		return err
	}
	res, err := measure(save)
	if res == nil {
		return err
	}
	if out != "" && !replaceable(out) {
		err = errors.Join(err, res.WriteFile(out))
	}
	if f.page != "" {
		err = errors.Join(err, writeReport(s, []*result.Result{res}, reportFlags{out: f.page, lang: f.lang}))
	}
	if printErr := f.print(s, res, out); printErr != nil {
		err = errors.Join(err, printErr)
	}
	if err != nil {
		return err
	}
	for _, cell := range res.Cells {
		if cell.Status == result.StatusFailed {
			return &exitError{status: exitFailed}
		}
	}
	return nil
}

// reportBytes is the least size of a report, in bytes.
const reportBytes = 1 << 20

// checkPage checks before a run that its report can be written.
func (f runFlags) checkPage() error {
	if f.page == "" {
		return nil
	}
	if _, known := report.FormatOf(f.page); !known {
		return wrong("--report %s: the file's name must end in .html, .md or .csv", f.page)
	}
	return checkWritable(f.page, reportBytes)
}

// checkWritable checks before a run that a file can be written; empty: none is.
func checkWritable(path string, size int64) error {
	if path == "" {
		return nil
	}
	if err := result.CheckWritable(path, size); err != nil {
		return &exitError{exitWrong, err}
	}
	return nil
}

// replaceable reports whether a file can be replaced after every block. A pipe or
// a terminal can't: the result is written to it once, at the end.
func replaceable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// measure runs the plan in a new lab, or in the one that --lab names.
func measure(ctx context.Context, s streams, f runFlags, plan result.Plan, save func(*result.Result) error) (res *result.Result, err error) {
	progress := newProgress(f.progressTo(s))
	defer progress.end()
	if plan.Blocks < schedule.LeastBlocks {
		progress.say(fmt.Sprintf("too few blocks for verdicts: this run has %d, and they need %d: --blocks %d has one to spare", plan.Blocks, schedule.LeastBlocks, experiment.VerdictBlocks))
	}
	l, plan, err := f.lab(ctx, plan, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	start := time.Now()
	res, err = experiment.Run(ctx, plan, experiment.Options{
		Site: l, Topology: l.Topology, Tool: tool(), Save: save, Progress: progress.show, SoFar: progress.soFar(f.lang), Turn: f.turn(s), Yield: f.yield,
	})
	if res == nil || err != nil {
		return res, err
	}
	took := time.Since(start)
	if err = explain(ctx, l, res, f.labName); err == nil && !f.turns {
		err = f.contrast(ctx, l, res, took, progress)
	}
	if f.fixAndVerify && err == nil {
		err = f.verify(ctx, l, plan, res, progress)
	}
	return res, errors.Join(err, save(res))
}

// lab joins the lab that --lab names, or builds a new one for the plan.
func (f runFlags) lab(ctx context.Context, plan result.Plan, progress *progress) (*site.Lab, result.Plan, error) {
	if f.labName != "" {
		l, err := site.Join(ctx, f.labName)
		if err != nil {
			return nil, plan, labError(err)
		}
		plan, err = experiment.Narrow(f.open, l.Topology)
		if err = cmp.Or(err, experiment.CheckTime(plan)); err != nil {
			return nil, plan, errors.Join(err, l.Close())
		}
		return l, plan, nil
	}
	l, err := site.Start(ctx)
	if err != nil {
		return nil, plan, err
	}
	spec := experiment.Spec(plan, labHosts, labContainers)
	progress.print(fmt.Sprintf("building the lab: %d clusters", len(spec.Clusters)))
	if err := l.Build(ctx, spec); err != nil {
		return nil, plan, errors.Join(err, l.Close())
	}
	progress.print(built(l.Topology))
	plan, err = f.available(plan, l.Topology)
	if err != nil {
		return nil, plan, errors.Join(err, l.Close())
	}
	return l, plan, nil
}

// built is the text of how long building the lab took, and which network took
// longest.
func built(t site.Topology) string {
	text := fmt.Sprintf("the lab is up after %.1f s", t.Up)
	if t.Memory > 0 {
		text += fmt.Sprintf(" and takes %d MB of memory", t.Memory>>20)
	}
	longest := slices.MaxFunc(t.Clusters, func(a, b site.Built) int { return cmp.Compare(a.Seconds, b.Seconds) })
	if longest.Seconds >= 1 {
		text += fmt.Sprintf("; %s took %.1f s of it", longest.Name, longest.Seconds)
	}
	return text
}

// The size of a run's lab: what the paths need.
const (
	labHosts      = 2
	labContainers = 2
)

// available leaves out the networks of "all" that can't be set up here. A network
// that the user named is an error instead.
func (f runFlags) available(plan result.Plan, topology site.Topology) (result.Plan, error) {
	for _, built := range topology.Clusters {
		if built.Error == "" {
			continue
		}
		if f.named(built.Network) || built.Baseline {
			return plan, &exitError{exitMissing, fmt.Errorf("%s can't be set up here: %s%s", built.Network, built.Error, getting(built))}
		}
		plan = experiment.Skip(plan, built.Network, built.Error)
	}
	return plan, nil
}

// print writes the report, or the result as JSON, and names the files.
func (f runFlags) print(s streams, res *result.Result, out string) error {
	if f.json {
		return res.Write(s.out)
	}
	shown := f.lang.shownOn(s.out, s.manner)
	tables, err := true, error(nil)
	if f.tables || res.Case != nil {
		err = report.Terminal(s.out, res, shown)
	} else {
		tables, err = report.Answer(s.out, res, shown)
	}
	if err != nil {
		return err
	}
	return report.Files(s.out, out, f.page, tables, shown)
}
