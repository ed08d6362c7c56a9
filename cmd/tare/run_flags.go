package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/cases"
	"tare/catalog"
	"tare/experiment"
	"tare/result"
)

// runFlags are the flags of `tare run`. Those that change the plan do so only where
// they are given.
type runFlags struct {
	networks, paths, workloads string
	axes                       axisFlags
	cpus, duration, warmup     string
	maxTime, maxRate, design   string
	blocks                     int
	precision, margin          string
	seed                       uint64
	labName, out, need, page   string
	caseID, kernel             string
	sweep                      sweepFlag
	by                         alongFlag
	baseline                   string
	listed                     []string    // networks named in the plan's file
	open                       result.Plan // with the flags applied, before it is completed
	json, dryRun, check        bool
	tables, turns, yield       bool
	fixAndVerify, trace        bool
	folded                     string
	modules                    modules
	site                       siteFlags
	change                     changeFlags
	soak                       soakFlags
	lang                       language
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.networks, "networks", "", "networks to weigh, a comma list or all")
	flags.StringVar(&f.need, "need", "", "demands on a network, a comma list; the networks that meet them are ranked: "+strings.Join(experiment.Demands(), ", "))
	flags.StringVar(&f.caseID, "case", "", "repeat a published measurement: "+strings.Join(cases.IDs(), ", "))
	flags.StringVar(&f.kernel, "kernel", "", "kernels to weigh against the first, each in a virtual machine: a comma list of files, as /boot/vmlinuz-*, or host for the running one")
	flags.BoolVar(&f.turns, "turns", false, "take turns by standard input; given by tare itself")
	flags.Lookup("turns").Hidden = true
	flags.StringVar(&f.paths, "paths", "", "paths to measure, a comma list or all: "+strings.Join(catalog.Paths(), ", "))
	flags.StringVar(&f.workloads, "workloads", "", "workloads to run, a comma list or all: "+strings.Join(experiment.Workloads(), ", "))
	f.axes = axisFlags{}
	f.axes.register(flags)
	flags.StringVar(&f.cpus, "cpus", "", "CPUs of each host, as h1=0,h2=1")
	registerParams(flags, catalog.WorkloadParams())
	registerParams(flags, catalog.Params())
	registerParam(flags)
	f.sweep.register(flags)
	f.by.register(flags)
	flags.StringVar(&f.baseline, "baseline", "", "also compare every network with this one, as docker-host")
	flags.IntVar(&f.blocks, "blocks", 0, "passes over all cells (default 10; below 6 there is no interval)")
	flags.StringVar(&f.duration, "duration", "", "length of a window, as 500ms (default: what fits in a minute)")
	flags.StringVar(&f.design, "design", "", "how cells take turns: slots (every few ms, on open connections), windows (once in a pass) (default slots)")
	flags.StringVar(&f.warmup, "warmup", "", "warm-up before each window, as 100ms")
	flags.StringVar(&f.maxTime, "max-time", "", "time that it may take, as 5m: what fits is measured, in 7 blocks at least")
	flags.StringVar(&f.maxRate, "max-rate", "", "what a run may send between machines of a site on average over more than 10 s, as 1gbit (default: a tenth of the link)")
	flags.BoolVar(&f.yield, "yield", false, "end where others begin to need a machine: looks after each block")
	flags.StringVar(&f.precision, "precision", "", "stop when every toll is known to within this, as 2%")
	flags.StringVar(&f.margin, "margin", "", "tolls below this do not matter (default 2%)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: random)")
	flags.StringVar(&f.labName, "lab", "", "measure in this running lab (tare lab up)")
	flags.StringVar(&f.out, "out", "", "result file (default tare-<date>-<time>.json)")
	flags.StringVar(&f.page, "report", "", "also write a report: FILE.html, FILE.md or FILE.csv")
	flags.BoolVar(&f.tables, "tables", false, "print all tables below the answer")
	f.lang.register(flags)
	flags.BoolVar(&f.json, "json", false, "write the result to standard output; no file unless --out")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the plan as YAML and stop")
	flags.BoolVar(&f.trace, "trace", false, "follow packets as tare trace does")
	flags.StringVar(&f.folded, "folded", "", "file for the sampled stacks of --trace, for flame graphs")
	flags.BoolVar(&f.fixAndVerify, "fix-and-verify", false, "apply the fix of the worst finding in the lab, measure again, and report what it removes")
	f.change.register(flags)
	f.soak.register(flags)
	f.modules.register(flags)
	f.site.register(flags, plans)
	flags.IntVar(&f.site.cluster.Load.Pods, "pods", 0, "idle pods on the measured nodes")
	flags.IntVar(&f.site.pairs, "pairs", 0, "how many pairs of machines are measured (default: each named machine is in one)")
	flags.BoolVar(&f.check, "check", false, "report which toll this machine can detect, and in what time")
}

// plan reads the file of the argument, applies the flags and completes the plan.
func (f *runFlags) plan(flags *pflag.FlagSet, args []string) (result.Plan, error) {
	plan := experiment.Quick()
	narrowed := false
	if len(args) == 1 {
		var err error
		if plan, _, err = readPlan(args[0]); err != nil {
			return plan, &exitError{exitWrong, err}
		}
		f.listed = result.Names(plan.Networks, func(n result.NetworkPlan) string { return n.Name })
		if err := checkTyped(args[0], plan.Networks, func(network, param string) bool { _, is := paramOf(flags, network, param); return is }); err != nil {
			return plan, &exitError{exitWrong, err}
		}
	}
	if err := f.sweep.take(flags, len(args) == 1); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	if err := errors.Join(f.applyLists(flags, &plan, &narrowed), checkParams(flags, &plan), f.applyValues(flags, &plan), applyWorkloads(flags, plan.Workloads), f.sweep.apply(&plan)); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	var err error
	if plan.Workloads, err = applicationParams(flags, plan.Workloads); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	networks, err := networkParams(flags, plan.Networks)
	if err != nil {
		return plan, &exitError{exitWrong, err}
	}
	if !slices.Equal(networks, plan.Networks) {
		plan.Networks, narrowed = networks, true
	}
	if narrowed && plan.Name == "quick" {
		plan.Name = ""
	}
	if len(args) == 0 && !flags.Changed("nic") && !experiment.Segments(plan) {
		plan.EncapNIC = nil
	}
	if err := f.checkKernels(flags, plan, args); err != nil {
		return plan, err
	}
	f.open = plan
	plan = experiment.Complete(plan)
	if there := f.site.networks(); len(there) > 0 {
		plan.Networks = there // those of a lab have other paths
	}
	if f.labName != "" && len(args) == 0 && !flags.Changed("networks") {
		plan.Networks = result.NetworksNamed(experiment.Everything()...) // the lab has some of them
	}
	return plan, experiment.Check(plan)
}

// readPlan reads a plan in YAML, or the plan of a result. The result of a case also
// has the plans of its experiments, by their names.
func readPlan(path string) (plan result.Plan, experiments map[string]result.Plan, err error) {
	if filepath.Ext(path) == ".json" {
		res, err := result.ReadFile(path)
		if err != nil {
			return result.Plan{}, nil, err
		}
		if res.Case != nil {
			experiments = map[string]result.Plan{}
			for _, x := range res.Case.Experiments {
				x.Plan.Skipped = nil
				x.Plan.Design = cmp.Or(x.Plan.Design, result.DesignWindows)
				experiments[x.Name] = x.Plan
			}
		}
		res.Plan.Skipped = nil
		res.Plan.Design = cmp.Or(res.Plan.Design, result.DesignWindows) // of an older result
		return res.Plan, experiments, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return result.Plan{}, nil, fmt.Errorf("%w: %s", err, instead(path))
	}
	plan, err = result.DecodePlan(file)
	if err = errors.Join(nearestKey(err), file.Close()); err != nil {
		return plan, nil, fmt.Errorf("%s: %w", path, err)
	}
	return plan, nil, nil
}

// instead is what to type where an argument is no file: perhaps it is a value of a flag.
func instead(word string) string {
	for _, flag := range []struct {
		name  string
		valid []string
	}{{"networks", experiment.Everything()}, {"workloads", experiment.Workloads()}, {"paths", catalog.Paths()}, {"case", cases.IDs()}} {
		if slices.Contains(flag.valid, strings.Split(word, ",")[0]) {
			return fmt.Sprintf("--%s takes it, several of them with commas: --%s %s", flag.name, flag.name, word)
		}
	}
	return "give a plan in YAML or a result in JSON"
}

// nearestKey adds to the error of an unknown key the nearest key that a plan has.
func nearestKey(err error) error {
	if err == nil {
		return nil
	}
	words := regexp.MustCompile(`(line \d+): field (\S+) not found in type`).FindStringSubmatch(err.Error())
	if words == nil {
		return err
	}
	return fmt.Errorf("%s: %w", words[1], experiment.Unknown("key", words[2], result.PlanKeys()))
}

// applyLists applies the flags that select what is measured; narrowed is set where
// one does.
func (f *runFlags) applyLists(flags *pflag.FlagSet, plan *result.Plan, narrowed *bool) error {
	var errs []error
	choose := func(name, text string, all []string) []string {
		words := list(text, all)
		if len(words) == 0 {
			errs = append(errs, fmt.Errorf("--%s is empty: write a comma list or all", name))
		}
		*narrowed = true
		slices.SortFunc(words, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) })
		return slices.Compact(words)
	}
	if flags.Changed("networks") {
		plan.Networks = result.NetworksNamed(choose("networks", f.networks, experiment.Everything())...)
	}
	if flags.Changed("need") {
		if !flags.Changed("networks") && len(f.listed) == 0 {
			plan.Networks = result.NetworksNamed(experiment.Everything()...)
		}
		plan.Needs = choose("need", f.need, experiment.Demands())
	}
	met, err := experiment.Meeting(*plan)
	*plan, errs = met, append(errs, err)
	if flags.Changed("paths") {
		plan.Paths = choose("paths", f.paths, catalog.Paths())
	}
	if flags.Changed("workloads") {
		plan.Workloads = nil
		for _, name := range choose("workloads", f.workloads, experiment.Workloads()) {
			plan.Workloads = append(plan.Workloads, result.WorkloadPlan{Name: name})
		}
	}
	for _, a := range result.PlannedAxes() {
		if !chosen(a) || !flags.Changed(a.Flag) {
			continue
		}
		axes, err := plan.Axes.WithFlag(a.Flag, strings.Join(choose(a.Flag, *f.axes[a.Flag], a.Words), ","))
		plan.Axes, errs = axes, append(errs, err)
		if a.Name == "nic" {
			plan.EncapNIC = nil
		}
	}
	return errors.Join(errs...)
}

// applyWorkloads applies the flags that are parameters of every workload.
func applyWorkloads(flags *pflag.FlagSet, workloads []result.WorkloadPlan) error {
	for n := range workloads {
		if err := workloadParams(flags, &workloads[n]); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether the user named this network on the command line or in the
// plan's file.
func (f *runFlags) named(name string) bool {
	if f.turns {
		return false // it is one of several machines: another may have it
	}
	if f.networks != "" {
		return slices.Contains(list(f.networks, nil), name)
	}
	return slices.Contains(f.listed, name)
}
