package main

import (
	"errors"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/report"
	"tare/result"
	"tare/weigh"
)

// compareFlags are those of `tare compare`.
type compareFlags struct {
	maxToll, maxRegression string
	json                   bool
	lang                   language
}

func compareCommand(s streams) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare OLD NEW...",
		Short: "Compare results with an older one, and check limits",
		Long: `Compares each newer result with the older one, cell by cell: the same network,
path, workload, mode and parameters. What differs between the machines is shown
first; if anything does, tolls are compared, what a network costs compared with its
own host, so that a change of machine is not read as one of the network. Two files
of one experiment are paired by their blocks.

A limit is passed only where the whole 95 % interval lies beyond it, and is held
to throughput, rates and medians. Then the exit status is 4.`,
		Example: `  tare compare old.json new.json
  tare compare old.json new.json --max-regression 3%
  tare compare old.json new.json --max-toll 25% --json`,
		Args: atLeast(2, "compare needs two results at least: tare compare OLD.json NEW.json"),
		RunE: func(c *cobra.Command, args []string) error {
			gates, err := f.gates()
			if err != nil {
				return err
			}
			return f.compare(s, args, gates)
		},
	}
	f.register(c.Flags())
	return c
}

func (f *compareFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.maxToll, "max-toll", "", "exit 4 where a network of the newer result costs more than this, as 5%")
	flags.StringVar(&f.maxRegression, "max-regression", "", "exit 4 where something is worse than before by more than this, as 3%")
	f.lang.register(flags)
	flags.BoolVar(&f.json, "json", false, "print for programs: one comparison for each newer result")
}

func (f *compareFlags) gates() (weigh.Gates, error) {
	var g weigh.Gates
	for _, one := range []struct {
		flag, text string
		to         **float64
	}{{"max-toll", f.maxToll, &g.MaxToll}, {"max-regression", f.maxRegression, &g.MaxRegression}} {
		if one.text == "" {
			continue
		}
		limit, err := parseLimit(one.text)
		if err != nil {
			return g, wrong("--%s %s: %w", one.flag, one.text, err)
		}
		*one.to = &limit
	}
	return g, nil
}

// parseLimit reads 5% or 0.05; a toll may be more than 100 %.
func parseLimit(text string) (float64, error) {
	value, err := parseRatio(text)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return 0, errors.New("write it as 5% or 0.05, not below 0")
	}
	return value, nil
}

// compare prints each comparison. Its error reports whether a limit was exceeded.
func (f *compareFlags) compare(s streams, files []string, gates weigh.Gates) error {
	results, err := readResults(files)
	if err != nil {
		return err
	}
	all, unmet := []result.Comparison{}, false
	for n, recent := range results[1:] {
		c := weigh.Compare(results[0], recent, gates)
		c.Old.File, c.New.File = files[0], files[n+1]
		all, unmet = append(all, c), unmet || len(c.Unmet) > 0
	}
	if err := f.print(s, all); err != nil {
		return err
	}
	if unmet {
		return &exitError{status: exitUnmet}
	}
	return nil
}

func (f *compareFlags) print(s streams, all []result.Comparison) error {
	if f.json {
		return writeJSON(s.out, map[string]any{"comparisons": all})
	}
	for n, c := range all {
		if n > 0 {
			if _, err := s.out.Write([]byte("\n")); err != nil {
				return err
			}
		}
		if err := report.Comparison(s.out, c, f.lang.shownOn(s.out)); err != nil {
			return err
		}
	}
	return nil
}
