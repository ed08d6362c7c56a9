package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/network"
	"tare/result"
)

// networkFlags are the parameters that networks have, one flag each, by the
// parameter's name. A comma list weighs the network once with each value.
type networkFlags map[string]*string

// register adds a flag for every parameter but those that the caller has.
func (f networkFlags) register(flags *pflag.FlagSet, without ...string) {
	for _, p := range network.Params() {
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

// apply gives each network the parameters that were set and that it takes.
func (f networkFlags) apply(flags *pflag.FlagSet, plans []result.NetworkPlan) ([]result.NetworkPlan, error) {
	for _, p := range network.Params() {
		value, registered := f[p.Name]
		if !registered || !flags.Changed(flagName(p.Name)) {
			continue
		}
		values := []string{*value}
		if p.List {
			values = list(*value, p.Values)
		}
		varied, taken := vary(plans, p, values)
		if !taken {
			return nil, fmt.Errorf("--%s: none of these networks has it: tare list networks shows which does", flagName(p.Name))
		}
		plans = varied
	}
	return plans, nil
}

// takeFlows takes --flows for --openflow where it says how a switch forwards
// instead of how many connections there are: published comparisons call both
// flows.
func (f networkFlags) takeFlows(flags *pflag.FlagSet) error {
	given, kinds := flags.Lookup("flows"), flags.Lookup(flagName(network.Openflow))
	var known []string
	for _, p := range network.Params() {
		if p.Name == network.Openflow {
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

// vary puts each network that takes the parameter once for each value.
func vary(plans []result.NetworkPlan, p network.Param, values []string) (varied []result.NetworkPlan, taken bool) {
	for _, plan := range plans {
		n, known := network.Find(plan.Name)
		if !known || !n.Takes(p.Name) {
			varied = append(varied, plan)
			continue
		}
		taken = true
		for _, value := range values {
			if value == p.Default() {
				value = "" // what stands for itself needs no saying
			}
			with := plan
			with.Params = plan.Params.With(p.Name, value)
			varied = append(varied, with)
		}
	}
	return varied, taken
}
