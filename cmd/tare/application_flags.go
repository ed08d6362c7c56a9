package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/result"
	"tare/workload"
)

// applicationFlags are the parameters of the workloads with real servers, and of
// those that make containers. They change no other workload.
type applicationFlags struct{ connections, workers, server, tool string }

func (f *applicationFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.connections, "connections", "", "connections of http, mysql and redis, flows of dns, a comma list (default 10; of mysql 1,16,64)")
	flags.StringVar(&f.workers, "workers", "", "containers that lifecycle and attach make concurrently, a comma list (default 1,10; 1)")
	flags.StringVar(&f.server, "server", "", "server of an application, or tare for tare's own: "+equipped(func(w workload.Workload) []string { return w.Servers })+" (default: the real one if it is installed)")
	flags.StringVar(&f.tool, "tool", "", "client of an application, or tare for tare's own: "+equipped(func(w workload.Workload) []string { return w.Tools }))
}

// apply sets on each workload the flags of its kind. A list of connections or
// workers repeats the workload once for each value.
func (f *applicationFlags) apply(flags *pflag.FlagSet, plans []result.WorkloadPlan) ([]result.WorkloadPlan, error) {
	taken := map[string]bool{}
	var varied []result.WorkloadPlan
	for _, plan := range plans {
		kind, _ := workload.Find(plan.Name)
		if flags.Changed("server") && kind.Application() && (f.server == catalog.Ours || slices.Contains(kind.Servers, f.server)) {
			plan.Server, taken["server"] = f.server, true
		}
		if flags.Changed("tool") && kind.Application() && (f.tool == catalog.Ours || slices.Contains(kind.Tools, f.tool)) {
			plan.Tool, taken["tool"] = f.tool, true
		}
		name, text := f.atOnce(kind)
		if name == "" || !flags.Changed(name) {
			varied = append(varied, plan)
			continue
		}
		taken[name] = true
		for _, count := range list(text, nil) {
			var err error
			if plan.Flows, err = strconv.Atoi(count); err != nil || plan.Flows < 1 {
				return nil, fmt.Errorf("--%s %s: write numbers of at least 1, for example 1,10", name, text)
			}
			varied = append(varied, plan)
		}
	}
	return varied, errors.Join(
		untaken(flags, taken, "connections", "http, mysql, redis or dns with --workloads"), untaken(flags, taken, "workers", "lifecycle or attach with --workloads"),
		untaken(flags, taken, "server", equipped(func(w workload.Workload) []string { return w.Servers })), untaken(flags, taken, "tool", equipped(func(w workload.Workload) []string { return w.Tools })))
}

// atOnce is the flag that sets how many connections or workers a kind of workload
// runs at once, and its value. Most kinds have none: both are empty.
func (f *applicationFlags) atOnce(kind workload.Workload) (name, text string) {
	switch {
	case kind.Application():
		return "connections", f.connections
	case kind.Cycle != nil:
		return "workers", f.workers
	}
	return "", ""
}

// untaken is the error of a flag that no workload of the plan takes; nil: one
// takes it, or it is not set. choices are what to give instead.
func untaken(flags *pflag.FlagSet, taken map[string]bool, name, choices string) error {
	if !flags.Changed(name) || taken[name] {
		return nil
	}
	return fmt.Errorf("--%s %s: none of these workloads takes it: choose %s", name, flags.Lookup(name).Value, choices)
}

// equipped lists programs with their workloads, as "nginx (http), mariadb (mysql)".
func equipped(of func(workload.Workload) []string) string {
	var text string
	for _, kind := range workload.All() {
		for _, name := range of(kind) {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%s (%s)", name, kind.Name)
		}
	}
	return text
}
