package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"tare/result"
	"tare/workload"
)

// applicationFlags are the parameters of the workloads with real servers, and of
// those that make containers. They change those only.
type applicationFlags struct{ connections, workers, server, tool string }

func (f *applicationFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.connections, "connections", "", "connections of http and mysql, a comma list (default 10; 1,16,64)")
	flags.StringVar(&f.workers, "workers", "", "containers that lifecycle and attach make at once, a comma list (default 1,10; 1)")
	flags.StringVar(&f.server, "server", "", "server of an application, or tare for ours: "+equipped(serverNames)+" (default: the real one where it is here)")
	flags.StringVar(&f.tool, "tool", "", "client of an application, or tare for ours: "+equipped(toolNames))
}

// apply gives each workload what was set for its kind; with a list of
// connections or workers it stands once for each.
func (f *applicationFlags) apply(flags *pflag.FlagSet, plans []result.WorkloadPlan) ([]result.WorkloadPlan, error) {
	taken := map[string]bool{}
	var varied []result.WorkloadPlan
	for _, plan := range plans {
		kind, _ := workload.Find(plan.Name)
		if flags.Changed("server") && kind.Application() && (f.server == workload.Ours || slices.Contains(serverNames(kind), f.server)) {
			plan.Server, taken["server"] = f.server, true
		}
		if flags.Changed("tool") && kind.Application() && (f.tool == workload.Ours || slices.Contains(toolNames(kind), f.tool)) {
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
				return nil, fmt.Errorf("--%s %s: write numbers of at least 1, as 1,10", name, text)
			}
			varied = append(varied, plan)
		}
	}
	return varied, errors.Join(
		untaken(flags, taken, "connections", "http and mysql do"), untaken(flags, taken, "workers", "lifecycle and attach do"),
		untaken(flags, taken, "server", equipped(serverNames)), untaken(flags, taken, "tool", equipped(toolNames)))
}

// atOnce is the flag that says how much of a workload's kind goes on at once,
// and what it was set to; none for most kinds.
func (f *applicationFlags) atOnce(kind workload.Workload) (name, text string) {
	switch {
	case kind.Application():
		return "connections", f.connections
	case kind.Cycle != nil:
		return "workers", f.workers
	}
	return "", ""
}

// untaken refuses a flag that no workload of the plan took.
func untaken(flags *pflag.FlagSet, taken map[string]bool, name, takers string) error {
	if !flags.Changed(name) || taken[name] {
		return nil
	}
	return fmt.Errorf("--%s %s: none of these workloads takes it: %s", name, flags.Lookup(name).Value, takers)
}

func serverNames(kind workload.Workload) (names []string) {
	for _, s := range kind.Servers {
		names = append(names, s.Name)
	}
	return names
}

func toolNames(kind workload.Workload) (names []string) {
	for _, t := range kind.Tools {
		names = append(names, t.Name)
	}
	return names
}

// equipped says which workload has which, as "nginx (http), mariadb (mysql)".
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
