package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"tare/network"
	"tare/result"
)

// leastSwept is how many values show how something grows: two say nothing of its shape.
const leastSwept = 3

// takeSweep treats --sweep services=1,1000,10000 as --services 1,1000,10000. Where no network
// is named, those are taken that have the parameter, if not all have it.
func (f *runFlags) takeSweep(flags *pflag.FlagSet, planned bool) error {
	if !flags.Changed("sweep") {
		return nil
	}
	name, text, _ := strings.Cut(f.sweep, "=")
	swept, known := result.First(sweepable(), func(p network.Param) bool { return p.Name == name || flagName(p.Name) == name })
	values := list(text, nil)
	switch {
	case !known:
		return fmt.Errorf("--sweep %s: give one of %s, and its values, as in --sweep services=1,1000,10000", f.sweep, strings.Join(result.Names(sweepable(), func(p network.Param) string { return p.Name }), ", "))
	case len(values) < leastSwept:
		return fmt.Errorf("--sweep %s: give %d values or more: fewer do not show how something grows", f.sweep, leastSwept)
	case flags.Changed(flagName(swept.Name)):
		return fmt.Errorf("--sweep %s and --%s: give one of them", f.sweep, flagName(swept.Name))
	}
	var errNetworks error
	if some := takers(swept); len(some) < len(network.All())-1 && !planned && !flags.Changed("networks") {
		errNetworks = flags.Set("networks", strings.Join(some, ","))
	}
	return errors.Join(errNetworks, flags.Set(flagName(swept.Name), strings.Join(values, ",")))
}

// sweepable are the parameters of networks that are numbers.
func sweepable() []network.Param {
	var some []network.Param
	for _, p := range network.Params() {
		if p.Most > 0 && p.List {
			some = append(some, p)
		}
	}
	return some
}
