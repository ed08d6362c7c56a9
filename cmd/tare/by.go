package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/experiment"
	"tare/result"
)

// alongFlag is what is compared along, as it was typed.
type alongFlag struct {
	texts []string
	axes  []string
}

func (f *alongFlag) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "by", nil, "also compare along an axis (nic, ip, mtu, link, cpus, kernel) or a parameter: its `name`, or with values, as in mtu=1500,9000; again for more")
}

// take treats --by mtu=1500,9000 as --mtu 1500,9000, and remembers what is compared along.
func (f *alongFlag) take(flags *pflag.FlagSet) error {
	var errs []error
	for _, text := range f.texts {
		name, values, given := strings.Cut(text, "=")
		axis := strings.ReplaceAll(name, "-", "_")
		if axis != "kernel" && !slices.Contains(experiment.Comparable(), axis) {
			errs = append(errs, fmt.Errorf("--by %s: give one of %s, kernel, as in --by mtu=1500,9000", text, strings.Join(experiment.Comparable(), ", ")))
			continue
		}
		if axis != "kernel" {
			f.axes = result.AddOnce(f.axes, axis)
		}
		if !given {
			continue
		}
		flag := flagOf(axis)
		switch {
		case flags.Changed(flag):
			errs = append(errs, fmt.Errorf("--by %s and --%s: give one of them", text, flag))
		case slices.Contains(experiment.SweptWorkloads(), axis):
			errs = append(errs, fmt.Errorf("--by %s: give its values by --sweep %s, and --by %s", text, text, axis))
		default:
			errs = append(errs, flags.Set(flag, values))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &exitError{exitWrong, err}
	}
	return nil
}
