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

// leastSwept is how many values show how something grows: two say nothing of its shape.
const leastSwept = 3

// sweepFlag is what is swept, as it was typed.
type sweepFlag struct {
	text   string
	axis   string
	values []string
}

func (f *sweepFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.text, "sweep", "", "how tolls grow with one of "+strings.Join(experiment.Sweepable(), ", ")+": its name and three values or more, as in services=1,1000,10000")
}

// take treats --sweep services=1,1000,10000 as --services 1,1000,10000. Where no network is
// named, those are taken that have the parameter, if not all have it.
func (f *sweepFlag) take(flags *pflag.FlagSet, planned bool) error {
	if !flags.Changed("sweep") {
		return nil
	}
	name, text, _ := strings.Cut(f.text, "=")
	f.axis, f.values = strings.ReplaceAll(name, "-", "_"), list(text, nil)
	switch {
	case !slices.Contains(experiment.Sweepable(), f.axis):
		return fmt.Errorf("--sweep %s: give one of %s, and its values, as in --sweep services=1,1000,10000", f.text, strings.Join(experiment.Sweepable(), ", "))
	case len(f.values) < leastSwept:
		return fmt.Errorf("--sweep %s: give %d values or more: fewer do not show how something grows", f.text, leastSwept)
	case flags.Changed(f.flag()):
		return fmt.Errorf("--sweep %s and --%s: give one of them", f.text, f.flag())
	case f.axis == "flows" || f.axis == "size":
		return nil // the flag has one value: see apply
	}
	var errNetworks error
	if p, is := result.First(experiment.SweptParams(), func(p catalog.Param) bool { return p.Name == f.axis }); is {
		if catalog.OfSingleNetworks(p.Name) && !planned && !flags.Changed("networks") {
			errNetworks = flags.Set("networks", strings.Join(takers(p.Name), ","))
		}
	}
	return errors.Join(errNetworks, flags.Set(f.flag(), strings.Join(f.values, ",")))
}

func (f *sweepFlag) flag() string { return flagOf(f.axis) }

// flagOf is the flag that takes several values of an axis: --cpus names those of each host.
func flagOf(axis string) string {
	if a, is := result.First(result.PlannedAxes(), func(a result.Axis) bool { return a.Name == axis }); is && a.Flag != "" {
		return a.Flag
	}
	return flagName(axis)
}

// apply repeats each workload with each value of flows or size.
func (f *sweepFlag) apply(plan *result.Plan) error {
	if f.axis == "" {
		return nil
	}
	plan.Sweep = f.axis
	if f.axis != "flows" && f.axis != "size" {
		return nil
	}
	var all []result.WorkloadPlan
	for _, w := range plan.Workloads {
		for _, text := range f.values {
			var err error
			switch f.axis {
			case "flows":
				w.Flows, err = strconv.Atoi(text)
			default:
				w.Size, err = result.ParseSize(text)
			}
			if err != nil {
				return fmt.Errorf("--sweep %s: %w", f.text, err)
			}
			all = append(all, w)
		}
	}
	plan.Workloads = all
	return nil
}
