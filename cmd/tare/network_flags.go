package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
)

// networkFlags are the parameters of networks, one flag each, by the parameter's
// name. With a comma list the network is weighed once with each value.
type networkFlags map[string]*string

// register adds a flag for every parameter except those that the caller defines.
func (f networkFlags) register(flags *pflag.FlagSet, without ...string) {
	for _, p := range catalog.Params() {
		if slices.Contains(without, p.Name) {
			continue
		}
		doc := p.Doc
		if p.Values != nil {
			doc += ": " + strings.Join(p.Values, ", ")
		}
		f[p.Name] = flags.String(flagName(p.Name), "", doc)
	}
}

func flagName(param string) string { return strings.ReplaceAll(param, "_", "-") }

// apply sets on each network the parameters of the flags that it takes.
func (f networkFlags) apply(flags *pflag.FlagSet, plans []result.NetworkPlan) ([]result.NetworkPlan, error) {
	for _, p := range catalog.Params() {
		value, registered := f[p.Name]
		if !registered || !flags.Changed(flagName(p.Name)) {
			continue
		}
		values := []string{*value}
		switch {
		case p.List:
			values = list(*value, p.Values)
		case p.Absent:
			values = []string{"", *value}
		}
		varied, taken := vary(plans, p, values)
		if !taken {
			return nil, fmt.Errorf("--%s: none of these networks has it; choose from %s with --networks", flagName(p.Name), strings.Join(takers(p), ", "))
		}
		plans = varied
	}
	return plans, nil
}

// checkTyped refuses a plan from a file that names what would be executed, or taken from
// the machine, unless the command line names it too: a file may be from anybody. typed
// reports whether a flag was given.
func checkTyped(file string, plans []result.NetworkPlan, typed func(flag string) bool) error {
	for _, p := range catalog.Params() {
		if !p.Typed || typed(flagName(p.Name)) {
			continue
		}
		for _, plan := range plans {
			if value := plan.Params.Map()[p.Name]; value != "" {
				return fmt.Errorf("%s: network %s has %s=%s, which a file alone can't choose: if you trust it, add --%s %s", file, plan.Name, p.Name, value, flagName(p.Name), value)
			}
		}
	}
	return nil
}

// takers names the networks that take a parameter.
func takers(p catalog.Param) (names []string) {
	for _, n := range kinds.All() {
		if n.Takes(p.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// takeFlows treats --flows as --openflow where its value is a way in which a switch
// forwards, not a number of connections: published comparisons call both flows.
func (f networkFlags) takeFlows(flags *pflag.FlagSet) error {
	given, kinds := flags.Lookup("flows"), flags.Lookup(flagName(catalog.Openflow))
	var known []string
	for _, p := range catalog.Params() {
		if p.Name == catalog.Openflow {
			known = p.Values
		}
	}
	words := list(given.Value.String(), known)
	if !given.Changed || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(known, w) }) {
		return nil
	}
	if kinds.Changed {
		return fmt.Errorf("--flows %s and --%s: give one of them", given.Value, kinds.Name)
	}
	given.Changed = false
	return flags.Set(kinds.Name, strings.Join(words, ","))
}

// vary repeats each network that takes the parameter, once for each value; taken
// reports whether any network does.
func vary(plans []result.NetworkPlan, p catalog.Param, values []string) (varied []result.NetworkPlan, taken bool) {
	for _, plan := range plans {
		n, known := kinds.Find(plan.Name)
		if !known || !n.Takes(p.Name) {
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
