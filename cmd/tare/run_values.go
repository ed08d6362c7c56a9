package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"tare/result"
)

// applyValues applies the flags that set one value of the plan each.
func (f *runFlags) applyValues(flags *pflag.FlagSet, plan *result.Plan) error {
	var errs []error
	parse := func(name string, apply func() error) {
		if !flags.Changed(name) {
			return
		}
		if err := apply(); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", name, err))
		}
	}
	seconds := func(name, text string, into *result.Seconds) {
		parse(name, func() (err error) { *into, err = result.ParseSeconds(text); return err })
	}
	share := func(name, text string, into *float64) {
		parse(name, func() (err error) { *into, err = result.ParseShare(text); return err })
	}
	for _, a := range result.PlannedAxes() {
		if a.Help != "" && !chosen(a) {
			parse(a.Flag, func() (err error) { plan.Axes, err = plan.Axes.WithFlag(a.Flag, *f.axes[a.Flag]); return err })
		}
	}
	parse("cpus", func() (err error) { plan.CPUs, err = parsePlaces(f.cpus); return err })
	seconds("duration", f.duration, &plan.Duration)
	seconds("warmup", f.warmup, &plan.Warmup)
	seconds("max-time", f.maxTime, &plan.MaxTime)
	parse("max-rate", func() (err error) { plan.MaxRate, err = result.ParseBitsPerSecond(f.maxRate); return err })
	share("precision", f.precision, &plan.Precision)
	share("margin", f.margin, &plan.Margin)
	parse("blocks", func() error { plan.Blocks = f.blocks; return positive(f.blocks) })
	parse("design", func() error { plan.Design = f.design; return nil })
	parse("kernel", func() error { plan.Kernels = list(f.kernel, nil); return nil })
	parse("by", func() error { plan.By = f.by.axes; return nil })
	parse("baseline", func() error { plan.Baseline = f.baseline; return nil })
	parse("seed", func() error { plan.Seed = f.seed; return nil })
	if flags.Changed("precision") && !flags.Changed("blocks") {
		plan.Blocks = 0 // a plan with a precision has its own limit of blocks
	}
	if flags.Changed("precision") || flags.Changed("blocks") || flags.Changed("design") && plan.Design == result.DesignWindows {
		plan.Looks = false // that many, no more and no fewer
	}
	return errors.Join(errs...)
}

func positive(n int) error {
	if n < 1 {
		return fmt.Errorf("%d: it must be at least 1", n)
	}
	return nil
}

// parsePlaces reads h1=0,h2=1-3.
func parsePlaces(text string) (map[string]string, error) {
	places := map[string]string{}
	host := ""
	for _, part := range strings.Split(text, ",") {
		name, cpus, named := strings.Cut(part, "=")
		switch {
		case named && name != "":
			host = strings.TrimSpace(name)
			places[host] = cpus
		case host != "": // the list continues: h1=0,2
			places[host] += "," + part
		default:
			return nil, fmt.Errorf("read CPUs %q: write them as h1=0,h2=1-3", text)
		}
	}
	return places, nil
}
