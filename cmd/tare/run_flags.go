package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/cases"
	"tare/experiment"
	"tare/lab"
	"tare/network"
	"tare/result"
)

// runFlags are those of `tare run`. The ones about the plan change it only
// where they are given.
type runFlags struct {
	networks, paths, workloads string
	nic, pin, rps, cc, cpus    string
	link, duration, warmup     string
	maxTime                    string
	blocks, mtu                int
	precision, margin          string
	workload                   workloadFlags
	application                applicationFlags
	network                    networkFlags
	seed                       uint64
	labName, out, need, page   string
	caseID                     string
	listed                     []string    // networks that the plan's file names
	open                       result.Plan // as asked for, before it was completed
	json, dryRun, check        bool
	fixAndVerify               bool
	lang                       language
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.networks, "networks", "", "networks to weigh, a comma list or all")
	flags.StringVar(&f.need, "need", "", "what a network must meet, a comma list; those that do are ranked: "+strings.Join(experiment.Demands(), ", "))
	flags.StringVar(&f.caseID, "case", "", "repeat a published measurement: "+strings.Join(cases.IDs(), ", "))
	flags.StringVar(&f.paths, "paths", "", "paths, a comma list or all: "+strings.Join(network.Paths(), ", "))
	flags.StringVar(&f.workloads, "workloads", "", "workloads, a comma list or all: "+strings.Join(experiment.Workloads(), ", "))
	flags.StringVar(&f.nic, "nic", "", "models of the hosts' interfaces, a comma list or all: "+strings.Join(lab.NICs(), ", "))
	flags.StringVar(&f.link, "link", "", "rate of the link between hosts, as 10gbit, or a comma list (default: as fast as the CPU)")
	flags.IntVar(&f.mtu, "mtu", 0, "MTU of the link between hosts, in bytes (default 1500)")
	flags.StringVar(&f.pin, "pin", "", "CPUs of the hosts: "+strings.Join(lab.Pins(), ", ")+" (default apart)")
	flags.StringVar(&f.rps, "rps", "", "steer arriving packets to the host's own CPUs: on, off (default on)")
	flags.StringVar(&f.cpus, "cpus", "", "CPUs by host, as h1=0,h2=1")
	flags.StringVar(&f.cc, "cc", "", "TCP congestion control of both ends (default cubic)")
	f.workload.register(flags)
	f.application.register(flags)
	f.network = networkFlags{}
	f.network.register(flags)
	flags.Lookup("flows").Usage += "; normal, explicit: the same as --" + flagName(network.Openflow)
	flags.IntVar(&f.blocks, "blocks", 0, "passes over all cells (default 10; below 6 there is no interval)")
	flags.StringVar(&f.duration, "duration", "", "length of a window, as 500ms (default: what fits a minute)")
	flags.StringVar(&f.warmup, "warmup", "", "what precedes a window, as 100ms")
	flags.StringVar(&f.maxTime, "max-time", "", "stop after this time, as 5m")
	flags.StringVar(&f.precision, "precision", "", "stop when every toll is known to within this, as 2%")
	flags.StringVar(&f.margin, "margin", "", "tolls below this do not matter (default 2%)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order (default: drawn)")
	flags.StringVar(&f.labName, "lab", "", "measure in this lab, as it stands (tare lab up)")
	flags.StringVar(&f.out, "out", "", "result file (default tare-<date>-<time>.json)")
	flags.StringVar(&f.page, "report", "", "also write a report: a page as FILE.html, tables as FILE.md or FILE.csv")
	f.lang.register(flags)
	flags.BoolVar(&f.json, "json", false, "write the result to standard output; no file unless --out")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the plan as YAML and stop")
	flags.BoolVar(&f.fixAndVerify, "fix-and-verify", false, "carry out the worst finding's fix in the lab, measure again, and tell what that gave back")
	flags.BoolVar(&f.check, "check", false, "tell what toll this machine can tell apart, and in how long")
}

// plan reads the argument, applies the flags and completes what is open.
func (f *runFlags) plan(flags *pflag.FlagSet, args []string) (result.Plan, error) {
	plan := experiment.Quick()
	narrowed := false
	if len(args) == 1 {
		var err error
		if plan, _, err = readPlan(args[0]); err != nil {
			return plan, &exitError{exitWrong, err}
		}
		for _, n := range plan.Networks {
			f.listed = append(f.listed, n.Name)
		}
	}
	if err := f.network.takeFlows(flags); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	if err := errors.Join(f.applyLists(flags, &plan, &narrowed), f.applyValues(flags, &plan), f.applyWorkloads(flags, plan.Workloads)); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	var err error
	if plan.Workloads, err = f.application.apply(flags, plan.Workloads); err != nil {
		return plan, &exitError{exitWrong, err}
	}
	networks, err := f.network.apply(flags, plan.Networks)
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
	f.open = plan
	plan = experiment.Complete(plan)
	return plan, experiment.Check(plan)
}

// readPlan reads a plan in YAML, or the plan of a result; of a case's result also
// those of its experiments, by their names.
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
				experiments[x.Name] = x.Plan
			}
		}
		res.Plan.Skipped = nil
		return res.Plan, experiments, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return result.Plan{}, nil, fmt.Errorf("%w: give a plan in YAML or a result in JSON", err)
	}
	plan, err = result.DecodePlan(file)
	if err = errors.Join(nearestKey(err), file.Close()); err != nil {
		return plan, nil, fmt.Errorf("%s: %w", path, err)
	}
	return plan, nil, nil
}

// nearestKey names, for a key that no plan has, the nearest one that it has.
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

// applyLists applies the flags that choose what is measured.
func (f *runFlags) applyLists(flags *pflag.FlagSet, plan *result.Plan, narrowed *bool) error {
	var errs []error
	choose := func(name, text string, all []string) []string {
		words := list(text, all)
		if len(words) == 0 {
			errs = append(errs, fmt.Errorf("--%s is empty: give a comma list or all", name))
		}
		*narrowed = true
		slices.SortFunc(words, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) })
		return slices.Compact(words)
	}
	if flags.Changed("networks") {
		plan.Networks = nil
		for _, name := range choose("networks", f.networks, experiment.Everything()) {
			plan.Networks = append(plan.Networks, result.NetworkPlan{Name: name})
		}
	}
	if flags.Changed("need") {
		if !flags.Changed("networks") && len(f.listed) == 0 {
			plan.Networks = nil
			for _, name := range experiment.Everything() {
				plan.Networks = append(plan.Networks, result.NetworkPlan{Name: name})
			}
		}
		plan.Needs = choose("need", f.need, experiment.Demands())
	}
	met, err := experiment.Meeting(*plan)
	*plan, errs = met, append(errs, err)
	if flags.Changed("paths") {
		plan.Paths = choose("paths", f.paths, network.Paths())
	}
	if flags.Changed("workloads") {
		plan.Workloads = nil
		for _, name := range choose("workloads", f.workloads, experiment.Workloads()) {
			plan.Workloads = append(plan.Workloads, result.WorkloadPlan{Name: name})
		}
	}
	if flags.Changed("nic") {
		plan.NIC, plan.EncapNIC = choose("nic", f.nic, lab.NICs()), nil
	}
	return errors.Join(errs...)
}

// applyWorkloads applies the flags that are parameters of every workload.
func (f *runFlags) applyWorkloads(flags *pflag.FlagSet, workloads []result.WorkloadPlan) error {
	for n := range workloads {
		if err := f.workload.apply(flags, &workloads[n]); err != nil {
			return err
		}
	}
	return nil
}

// named tells whether the user asked for this network by its name, on the
// command line or in a plan's file.
func (f *runFlags) named(name string) bool {
	if f.networks != "" {
		return slices.Contains(list(f.networks, nil), name)
	}
	return slices.Contains(f.listed, name)
}
