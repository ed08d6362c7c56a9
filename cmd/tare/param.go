package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/result"
)

// singleParam sets the parameters of single networks and workloads.
const singleParam = "param"

// assigned is one value of --param.
type assigned struct {
	typed string
	of    string // the network or workload; empty: all that have the parameter
	name  string // as in a plan
	text  string // the values
	is    bool   // values are given
}

// assignedBy takes apart what is typed, or begun.
func assignedBy(typed string) assigned {
	key, text, is := strings.Cut(typed, "=")
	of, name, single := strings.Cut(key, ".")
	if !single {
		of, name = "", key
	}
	return assigned{typed, of, strings.ReplaceAll(name, "-", "_"), text, is}
}

// key is what is typed before the sign.
func (a assigned) key() string { return strings.TrimPrefix(a.of+"."+flagName(a.name), ".") }

func registerParam(flags *pflag.FlagSet) {
	flags.StringArray(singleParam, nil, "a parameter, as in bridge.rules=1000; again for more")
}

// assignments are the values of --param; the last one of a parameter counts.
func assignments(flags *pflag.FlagSet) (all []assigned) {
	texts, err := flags.GetStringArray(singleParam)
	if err != nil {
		return nil // a verb without it
	}
	for _, text := range texts {
		all = append(all, assignedBy(text))
	}
	return all
}

// paramOf is what is given for a parameter of a network or workload: for it alone, or for all.
func paramOf(flags *pflag.FlagSet, of, name string) (text string, is bool) {
	if flag := flags.Lookup(flagName(name)); flag != nil && flag.Changed {
		text, is = flag.Value.String(), true
	}
	for _, who := range []string{"", of} {
		for _, a := range assignments(flags) {
			if a.of == who && a.name == name {
				text, is = a.text, true
			}
		}
	}
	return text, is
}

// typedParam reports whether a parameter is given on the command line, for whatever has it.
func typedParam(flags *pflag.FlagSet, name string) bool {
	return flags.Changed(flagName(name)) || slices.ContainsFunc(assignments(flags), func(a assigned) bool { return a.name == name })
}

// checkParams refuses a --param that sets nothing of what is measured, or what a verb has one value of for all.
func checkParams(flags *pflag.FlagSet, plan *result.Plan, without ...string) error {
	measured := append(
		result.Names(plan.Networks, func(n result.NetworkPlan) string { return n.Name }),
		result.Names(plan.Workloads, func(w result.WorkloadPlan) string { return w.Name })...)
	for _, a := range assignments(flags) {
		refused := func(why string, args ...any) error {
			return fmt.Errorf("--param %s: "+why, append([]any{a.typed}, args...)...)
		}
		its, known := paramsOf(a.of)
		switch {
		case !a.is:
			return refused("write its value too, as in bridge.rules=1000")
		case !known:
			return refused("%w", experiment.Unknown("network or workload", a.of, slices.Concat(experiment.Everything(), experiment.Workloads())))
		case !slices.Contains(its, a.name) && a.of == "":
			return refused("%w", experiment.Unknown("parameter", a.name, its))
		case !slices.Contains(its, a.name):
			return refused("%s has no %s: it has %s", a.of, a.name, strings.Join(its, ", "))
		case a.of != "" && !slices.Contains(measured, a.of):
			return refused("%s is not measured: name it with --networks or --workloads", a.of)
		case slices.Contains(without, a.name):
			return refused("there is one number for all networks: give it with --%s", flagName(a.name))
		case slices.Contains(switches(), a.name) && a.text != "true" && a.text != "false":
			return refused("give true or false")
		}
	}
	return nil
}

// switches are the parameters that are on or off.
func switches() (names []string) {
	for _, p := range catalog.WorkloadParams() {
		if p.Switch {
			names = append(names, p.Name)
		}
	}
	return names
}

// paramsOf names the parameters of a network or workload; without a name, those of all.
func paramsOf(of string) (names []string, known bool) {
	if of == "" {
		both := slices.Concat(catalog.Params(), catalog.WorkloadParams())
		return result.Names(both, func(p catalog.Param) string { return p.Name }), true
	}
	if w, is := catalog.FindWorkload(of); is {
		return w.Params(), true
	}
	n, is := catalog.FindNetwork(of)
	if !is {
		return nil, false
	}
	for _, p := range catalog.Params() {
		if n.Takes(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names, true
}

// completeParam completes NETWORK.NAME=VALUES, of what is named on the command line, if anything is.
func completeParam(c *cobra.Command, typed string) ([]string, cobra.ShellCompDirective) {
	if a := assignedBy(typed); a.is {
		values, directive := choicesOfParam(c, flagName(a.name)).completing(a.text)
		return result.Names(values, func(v string) string { return a.key() + "=" + v }), directive
	}
	var named []string
	for flag, all := range map[string][]string{"networks": experiment.Everything(), "workloads": experiment.Workloads()} {
		if f := c.Flags().Lookup(flag); f != nil && f.Changed {
			named = append(named, list(f.Value.String(), all)...)
		}
	}
	slices.Sort(named)
	of := choices{open: true}
	for _, kind := range append(named, "") {
		its, _ := paramsOf(kind)
		for _, name := range its {
			of.words = append(of.words, assigned{of: kind, name: name}.key())
		}
	}
	return of.completing(typed)
}
