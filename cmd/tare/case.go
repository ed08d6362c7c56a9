package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/cases"
	"tare/catalog"
	"tare/experiment"
	"tare/result"
)

// askedCase is a case to run: with the plans that a result of it holds, by the
// name of the experiment, or with the case's own plan where it holds none.
type askedCase struct {
	id    string // "": none
	plans map[string]result.Plan
}

// caseOf is the case that the flag or a plan or result file names.
func (f *runFlags) caseOf(args []string) (askedCase, error) {
	if len(args) == 0 {
		return askedCase{id: f.caseID}, nil
	}
	plan, plans, err := readPlan(args[0])
	if err != nil {
		return askedCase{}, &exitError{exitWrong, err}
	}
	if f.caseID != "" {
		return askedCase{}, wrong("--case %s and %s: a case has its own plans: leave one of them out", f.caseID, args[0])
	}
	for _, own := range plans { // no flag of networks goes with a case
		if err := checkTyped(args[0], own.Networks, func(string, string) bool { return false }); err != nil {
			return askedCase{}, &exitError{exitWrong, err}
		}
	}
	return askedCase{plan.Case, plans}, nil
}

// casePlans are the plans of a case with the flags applied, in the order of its
// experiments.
func (f *runFlags) casePlans(flags *pflag.FlagSet, c cases.Case, measured map[string]result.Plan) ([]result.Plan, error) {
	errs := []error{refuseInCase(flags, c.ID)}
	var plans []result.Plan
	for _, x := range c.Experiments {
		plan, again := measured[x.Name]
		if !again {
			plan = x.Plan
		}
		plan.Name = c.ID + ": " + x.Name
		errs = append(errs, f.applyValues(flags, &plan))
		if flags.Changed("max-time") { // the time of all experiments together
			plan.MaxTime /= result.Seconds(len(c.Experiments))
		}
		plan = experiment.Complete(plan)
		errs = append(errs, experiment.Check(plan))
		plans = append(plans, plan)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &exitError{exitWrong, err}
	}
	return plans, nil
}

// runCase runs the experiments of a case in turn, or prints their plans.
func (f *runFlags) runCase(ctx context.Context, s streams, flags *pflag.FlagSet, asked askedCase) error {
	if !slices.Contains(cases.IDs(), asked.id) {
		return experiment.Unknown("case", asked.id, cases.IDs())
	}
	c, err := cases.Load(asked.id)
	if err != nil {
		return err
	}
	plans, err := f.casePlans(flags, c, asked.plans)
	if err != nil {
		return err
	}
	if f.dryRun {
		return printPlans(s, plans)
	}
	for n := range plans {
		if plans[n], err = f.equip(plans[n]); err != nil {
			return err
		}
	}
	return f.deliver(s, sizeOf(plans), func(save func(*result.Result) error) (*result.Result, error) {
		return f.measureCase(ctx, s, c, plans, save)
	})
}

// measureCase measures the experiments one after the other. After each block it
// judges and saves what is measured so far.
func (f *runFlags) measureCase(ctx context.Context, s streams, c cases.Case, plans []result.Plan, save func(*result.Result) error) (*result.Result, error) {
	results := map[string]*result.Result{}
	var whole *result.Result
	for n, x := range c.Experiments {
		sofar := func(res *result.Result) error {
			results[x.Name] = res
			whole = c.Judge(results)
			return save(whole)
		}
		newProgress(s).print(fmt.Sprintf("%s, experiment %d of %d: %s", c.ID, n+1, len(plans), x.Doc))
		res, err := measure(ctx, s, *f, plans[n], sofar)
		if res != nil {
			err = errors.Join(err, sofar(res))
		}
		if err != nil {
			return whole, err
		}
	}
	return whole, nil
}

func sizeOf(plans []result.Plan) int64 {
	var runs int64
	for _, plan := range plans {
		runs += int64(experiment.SizeOf(plan))
	}
	return runs
}

func printPlans(s streams, plans []result.Plan) error {
	for n, plan := range plans {
		if n > 0 {
			if _, err := fmt.Fprintln(s.out, "---"); err != nil {
				return err
			}
		}
		if err := printPlan(s, plan); err != nil {
			return err
		}
	}
	return nil
}

// listCases lists each case with the networks that this machine lacks.
func listCases(networks []listed) ([]listed, error) {
	all := []listed{}
	for _, id := range cases.IDs() {
		c, err := cases.Load(id)
		if err != nil {
			return nil, err
		}
		entry := listed{Name: c.ID, Doc: c.Doc, Available: true}
		var missing, get []string
		for _, name := range c.Networks() {
			n := slices.IndexFunc(networks, func(l listed) bool { return l.Name == name })
			if !networks[n].Available {
				missing, get = append(missing, name), append(get, networks[n].Get)
			} else {
				entry.Fidelity = lesser(entry.Fidelity, networks[n].Fidelity)
			}
		}
		entry.Missing, entry.Get = strings.Join(missing, ", "), strings.Join(get, "; ")
		entry.Available = len(missing)+1 < len(c.Networks()) // more than the host runs here
		all = append(all, entry)
	}
	return all, nil
}

// lesser is the lower of two fidelities; "" is none yet.
func lesser(a, b string) string {
	falling := []string{"", catalog.Product, catalog.SamePath, catalog.StandIn}
	return falling[max(slices.Index(falling, a), slices.Index(falling, b))]
}
