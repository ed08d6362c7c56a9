package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/result"
)

// registerParams adds a flag for each parameter of the catalog except those that a verb has not, or defines
// itself. Those of single networks are not shown: --param is.
func registerParams(flags *pflag.FlagSet, params []catalog.Param, without ...string) {
	for _, p := range params {
		if slices.Contains(without, p.Name) {
			continue
		}
		doc := p.Doc
		if p.Values != nil {
			doc += ": " + strings.Join(p.Values, ", ")
		}
		if p.Switch {
			flags.Bool(flagName(p.Name), false, doc)
		} else {
			flags.String(flagName(p.Name), "", doc)
		}
		flags.Lookup(flagName(p.Name)).Hidden = catalog.OfSingleNetworks(p.Name)
	}
}

// networkParams sets on each network the parameters that it takes of those that are given. With a comma list the
// network is weighed once with each value. Those that a verb defines itself are not set.
func networkParams(flags *pflag.FlagSet, plans []result.NetworkPlan, without ...string) ([]result.NetworkPlan, error) {
	for _, p := range catalog.Params() {
		if slices.Contains(without, p.Name) || !typedParam(flags, p.Name) {
			continue
		}
		varied, taken := vary(plans, p, func(network string) []string {
			text, is := paramOf(flags, network, p.Name)
			switch {
			case !is:
				return nil
			case p.List:
				return list(text, p.Values)
			case p.Absent:
				return []string{"", text}
			}
			return []string{text}
		})
		if unknown, is := result.First(plans, func(n result.NetworkPlan) bool { _, known := catalog.FindNetwork(n.Name); return !known }); is {
			return nil, experiment.Unknown("network", unknown.Name, experiment.Everything())
		}
		if !taken {
			return nil, fmt.Errorf("--%s: none of these networks has it; choose from %s with --networks", flagName(p.Name), strings.Join(takers(p.Name), ", "))
		}
		plans = varied
	}
	return plans, nil
}

// checkTyped refuses a plan from a file that names what would be executed, or taken from
// the machine, unless the command line names it for that network: a file may be from anybody. typed
// reports whether a parameter of a network was given.
func checkTyped(file string, plans []result.NetworkPlan, typed func(network, param string) bool) error {
	for _, p := range catalog.Params() {
		if !p.Typed {
			continue
		}
		for _, plan := range plans {
			if value := plan.Params.Map()[p.Name]; value != "" && !typed(plan.Name, p.Name) {
				return fmt.Errorf("%s: network %s has %s=%s, which a file alone can't choose: if you trust it, add --%s %s", file, plan.Name, p.Name, value, flagName(p.Name), value)
			}
		}
	}
	return nil
}

// takers names the networks or workloads that take a parameter.
func takers(param string) (names []string) {
	for _, n := range catalog.Networks() {
		if n.Takes(param) {
			names = append(names, n.Name)
		}
	}
	for _, w := range catalog.Workloads() {
		if slices.Contains(w.Params(), param) {
			names = append(names, w.Name)
		}
	}
	return names
}

// vary repeats each network that takes the parameter, once for each value that is given for it; taken
// reports whether any network does.
func vary(plans []result.NetworkPlan, p catalog.Param, given func(network string) []string) (varied []result.NetworkPlan, taken bool) {
	for _, plan := range plans {
		n, known := catalog.FindNetwork(plan.Name)
		values := given(plan.Name)
		if !known || !n.Takes(p.Name) || values == nil {
			varied = append(varied, plan)
			continue
		}
		taken = true
		for _, value := range values {
			if value == p.Default() {
				value = "" // a default is left out of a plan
			}
			with := plan
			with.Params = plan.Params.With(p.Name, value)
			if !p.Absent || !slices.Contains(varied, with) { // a result that is repeated has both already
				varied = append(varied, with)
			}
		}
	}
	return varied, taken
}

// workloadParams sets on a workload the parameters that any workload may have. They change it only where they
// are given.
func workloadParams(flags *pflag.FlagSet, w *result.WorkloadPlan) error {
	for _, p := range catalog.WorkloadParams() {
		text, is := paramOf(flags, w.Name, p.Name)
		if !is {
			continue
		}
		switch err := setParam(w, p.Name, text); {
		case err == nil:
		case text == "":
			return fmt.Errorf("--%s is empty: %w", flagName(p.Name), err)
		case p.Name == catalog.Rate || p.Name == catalog.Bytes: // their errors have the text
			return fmt.Errorf("--%s: %w", flagName(p.Name), err)
		default:
			return fmt.Errorf("--%s %s: %w", flagName(p.Name), text, err)
		}
	}
	return nil
}

// setParam sets one; those of applications are set by applicationParams.
func setParam(w *result.WorkloadPlan, name, text string) (err error) {
	switch name {
	case catalog.Flows:
		w.Flows, err = atLeastOne(text)
	case catalog.Size:
		w.Size, err = result.ParseSize(text)
	case catalog.Sizes:
		if w.Sizes = text; text == "" {
			err = errors.New("write sizes, for example 8:256K:*2")
		}
	case catalog.Rate:
		w.Rate, err = result.ParseRate(text)
	case catalog.Bytes:
		w.Bytes, err = result.ParseBytes(text)
	case catalog.Mode:
		w.Mode = text
	case catalog.Reverse:
		w.Reverse = text == "true"
	case catalog.Bidir:
		w.Bidir = text == "true"
	}
	return err
}

func atLeastOne(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return n, errors.New("write a number of at least 1")
	}
	return n, nil
}

// applicationParams sets on each workload the parameters of its kind: of real servers, and of what makes
// containers. A list of connections or workers repeats the workload once for each value.
func applicationParams(flags *pflag.FlagSet, plans []result.WorkloadPlan) (varied []result.WorkloadPlan, err error) {
	taken := map[string]bool{}
	for _, plan := range plans {
		kind, _ := catalog.FindWorkload(plan.Name)
		program := func(name string, into *string, of []string) {
			if text, is := paramOf(flags, plan.Name, name); is && kind.Application() && (text == catalog.Ours || slices.Contains(of, text)) {
				*into, taken[name] = text, true
			}
		}
		program(catalog.Server, &plan.Server, kind.Servers)
		program(catalog.Tool, &plan.Tool, kind.Tools)
		name, counts := severalOf(flags, kind)
		if counts == nil {
			varied = append(varied, plan)
			continue
		}
		taken[name] = true
		for _, count := range counts {
			if plan.Flows, err = atLeastOne(count); err != nil {
				return nil, fmt.Errorf("--%s %s: write numbers of at least 1, for example 1,10", name, strings.Join(counts, ","))
			}
			varied = append(varied, plan)
		}
	}
	return varied, errors.Join(
		untaken(flags, taken, catalog.Connections, "http, mysql, redis or dns with --workloads"), untaken(flags, taken, catalog.AtOnce, "lifecycle or attach with --workloads"),
		untaken(flags, taken, catalog.Server, catalog.Equipped(catalog.Server)), untaken(flags, taken, catalog.Tool, catalog.Equipped(catalog.Tool)))
}

// severalOf is the parameter of how many connections or workers a kind of workload runs at once, and what is
// given for it; nil: nothing.
func severalOf(flags *pflag.FlagSet, kind catalog.Workload) (name string, counts []string) {
	for _, name := range []string{catalog.Connections, catalog.AtOnce} {
		if text, is := paramOf(flags, kind.Name, name); is && slices.Contains(kind.Params(), name) {
			return name, append([]string{}, list(text, nil)...)
		}
	}
	return "", nil
}

// untaken is the error of a parameter that no workload of the plan takes; nil: one
// takes it, or it is not given. choices are what to give instead.
func untaken(flags *pflag.FlagSet, taken map[string]bool, name, choices string) error {
	text, is := paramOf(flags, "", name)
	if !is || taken[name] {
		return nil
	}
	return fmt.Errorf("--%s %s: none of these workloads takes it: choose %s", name, text, choices)
}
