package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"tare/result"
)

// changeFlags are of what a change costs: one command, typed before it and again after it.
type changeFlags struct {
	before, after string // results
	made          bool   // the change is: what was measured before it is there
	limit         compareFlags
}

func (f *changeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.before, "before", "", "the result before a change, written if it is not there; then make the change, and type the same command again")
	flags.StringVar(&f.after, "after", "", "with --before: the result after it, which is compared")
	f.limit.registerRegression(flags)
}

// beginChange finds out whether the change is made, and gives the arguments of what is measured now:
// after the change what was measured before it.
func (f *runFlags) beginChange(flags *pflag.FlagSet, args []string) ([]string, error) {
	before, after := f.change.before, f.change.after
	_, err := f.change.limit.gates()
	switch {
	case err != nil:
		return nil, err
	case before == "" && after == "":
		return args, nil
	case before == "" || after == "" || before == after:
		return nil, wrong("--before and --after: name a file with each, as in --before before.json --after after.json")
	}
	if _, err := os.Stat(before); errors.Is(err, fs.ErrNotExist) {
		f.out = before
		return args, nil
	}
	res, err := result.ReadFile(before)
	switch {
	case err != nil:
		return nil, &exitError{exitWrong, err}
	case res.Finished == "":
		return nil, wrong("--before %s: its run was interrupted: remove it, and measure the state before the change again", before)
	}
	f.out, f.change.made = after, true
	if res.Site == result.SiteKubernetes && !flags.Changed("nodes") {
		err = f.site.takeNodes(res)
	}
	return []string{before}, err
}

// takeNodes takes those of a result.
func (f *siteFlags) takeNodes(res *result.Result) error {
	for _, p := range res.Pairs {
		f.ofPairs = append(f.ofPairs, p.Machines)
	}
	f.cluster.Nodes = result.Names(res.Places, func(p result.Place) string { return p.Machine })
	if len(f.ofPairs) == 0 && (len(f.cluster.Nodes) == 0 || slices.Contains(f.cluster.Nodes, "")) {
		return wrong("--before: the result does not say on which nodes it was measured: name them with --nodes")
	}
	return nil
}

// endChange says what to do next, or compares. The run may have failed in part.
func (f *runFlags) endChange(s streams) error {
	if f.change.before == "" {
		return nil
	}
	if !f.change.made {
		_, err := fmt.Fprintf(s.out, "\n%s is the state before. Make the change, and type the same command again: it measures the same, and compares.\n", f.change.before)
		return err
	}
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	compare := f.change.limit
	compare.lang = f.lang
	gates, err := compare.gates()
	if err != nil {
		return err
	}
	return compare.compare(s, []string{f.change.before, f.change.after}, gates)
}
