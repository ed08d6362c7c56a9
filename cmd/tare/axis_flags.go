package main

import (
	"github.com/spf13/pflag"

	"tare/result"
)

// axisFlags are the flags that set the axes of a plan, by their names.
type axisFlags map[string]*string

func (f axisFlags) register(flags *pflag.FlagSet) {
	for _, a := range result.PlannedAxes() {
		if a.Help != "" {
			f[a.Flag] = flags.String(a.Flag, "", a.Help)
		}
	}
}

// chosen reports whether the flag of an axis chooses from a list: several words of it, or all.
func chosen(a result.Axis) bool { return a.Many && a.Words != nil }
