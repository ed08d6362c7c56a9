package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/experiment"
	"tare/report"
	"tare/result"
	"tare/weigh"
)

// compareFlags are those of `tare compare`.
type compareFlags struct {
	maxToll, maxRegression string
	allowMissing           string
	absolute               bool
	junit, summary         string // files
	json                   bool
	lang                   language
}

func compareCommand(s streams) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare OLD NEW...",
		Short: "Compare results with an older one, and check limits",
		Long: `Compares each newer result with the older one, cell by cell. What differs between
the machines is shown first; if anything does, tolls are compared and not values.
Two files of one experiment are paired by their blocks.

A limit is broken where the whole 95 % interval lies beyond it, and is held to
throughput, rates and medians. It is also broken by a network or cell that the older
result has, or the newer one's plan, and that failed, was skipped or is absent. Then the
exit status is 4. It is 5 where a limit can't be answered, as with too few blocks, or
where the results have nothing in common.`,
		Example: `  tare compare old.json new.json
  tare compare old.json new.json --max-regression 3%
  tare compare old.json new.json --max-regression 3% --absolute
  tare compare old.json new.json --max-toll 25% --json
  tare compare old.json new.json --max-regression 3% --allow-missing vxlan --junit gates.xml`,
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
	f.registerRegression(flags)
	flags.StringVar(&f.allowMissing, "allow-missing", "", "networks, or cells as \"vxlan cross-host tcp_rr\", that the newer result may lack: a comma list")
	flags.StringVar(&f.junit, "junit", "", "write what was held against the limits as a JUnit report to this file")
	flags.StringVar(&f.summary, "summary", "", "write it as Markdown to this file")
	f.lang.register(flags)
	flags.BoolVar(&f.json, "json", false, "print for programs: one comparison for each newer result")
}

// registerRegression registers the flags of the limit of a change.
func (f *compareFlags) registerRegression(flags *pflag.FlagSet) {
	flags.StringVar(&f.maxRegression, "max-regression", "", "exit 4 where a toll is worse than before by more than this, as 3%")
	flags.BoolVar(&f.absolute, "absolute", false, "with --max-regression: hold values, the host's own too, and not tolls")
}

func (f *compareFlags) gates() (weigh.Gates, error) {
	g := weigh.Gates{Absolute: f.absolute}
	if f.absolute && f.maxRegression == "" {
		return g, wrong("--absolute: it goes with --max-regression: add it, as in --max-regression 3%%")
	}
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
	for name := range strings.SplitSeq(f.allowMissing, ",") {
		if name = strings.TrimSpace(name); name != "" {
			g.AllowMissing = append(g.AllowMissing, name)
		}
	}
	return g, nil
}

// checkGates refuses what would let a limit hold on nothing: a result that is not whole,
// and a name that nothing has.
func checkGates(gates weigh.Gates, files []string, results []*result.Result) error {
	if gates.MaxToll == nil && gates.MaxRegression == nil {
		if len(gates.AllowMissing) > 0 {
			return wrong("--allow-missing: it goes with --max-toll or --max-regression: add one of them")
		}
		return nil
	}
	for n, res := range results {
		samples := slices.ContainsFunc(res.Cells, func(c result.Cell) bool { return len(c.Samples) > 0 || len(c.Metrics) > 0 })
		switch {
		case !samples:
			return wrong("%s: it has no samples, so that no limit can be held: measure again", files[n])
		case res.Finished == "" && len(res.Plan.Networks) > 0:
			return wrong("%s: its run was interrupted, so that no limit can be held: measure again", files[n])
		}
	}
	for _, name := range gates.AllowMissing {
		if err := checkMissing(name, results); err != nil {
			return err
		}
	}
	return nil
}

// checkMissing refuses the name of what neither tare nor any result knows.
func checkMissing(name string, results []*result.Result) error {
	known := experiment.Everything()
	for _, res := range results {
		for _, c := range res.Cells {
			known = result.AddOnce(known, c.Network)
			if name == weigh.CellName(&c) {
				return nil
			}
		}
	}
	if slices.Contains(known, name) {
		return nil
	}
	return experiment.Unknown("network of --allow-missing", name, known)
}

// parseLimit reads 5%; a toll may be more than 100 %. A number without % may be meant as
// either, 3 as 3 % and as three times as much.
func parseLimit(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0:
		return 0, errors.New("write it in per cent, as in 3%, not below 0")
	case !percent:
		return 0, fmt.Errorf("write it in per cent: %s%%, or %s%% if that part of one is meant", text, strconv.FormatFloat(100*value, 'g', 6, 64))
	}
	return value / 100, nil
}

// compare prints each comparison. Its error reports whether a limit was exceeded.
func (f *compareFlags) compare(s streams, files []string, gates weigh.Gates) error {
	results, err := readResults(files)
	if err != nil {
		return err
	}
	if err := checkGates(gates, files, results); err != nil {
		return err
	}
	all := []result.Comparison{}
	for n, recent := range results[1:] {
		c := weigh.Compare(results[0], recent, gates)
		c.Name(files[0], files[n+1])
		all = append(all, c)
	}
	if err := errors.Join(f.print(s, all), f.write(all)); err != nil {
		return err
	}
	return answerOf(all)
}

// answerOf is what the limits come to: one that is broken counts more than one that can't be
// answered, and nothing in common answers nothing.
func answerOf(all []result.Comparison) error {
	var answer error
	for _, c := range all {
		if len(c.Cells) == 0 && len(c.Unmet) == 0 {
			answer = &exitError{exitUnknown, fmt.Errorf("%s and %s have nothing in common: no cell was measured in both: compare results of one plan", c.Old.File, c.New.File)}
		}
		for _, u := range c.Unmet {
			if !u.Unknown {
				return &exitError{status: exitUnmet}
			}
			answer = &exitError{status: exitUnknown}
		}
	}
	return answer
}

// write writes the files for CI systems.
func (f *compareFlags) write(all []result.Comparison) error {
	for _, one := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.junit, func(w io.Writer) error { return report.JUnit(w, all) }},
		{f.summary, func(w io.Writer) error { return report.GatesMarkdown(w, all, string(f.lang)) }},
	} {
		if one.path == "" {
			continue
		}
		if err := result.ReplaceFile(one.path, one.write); err != nil {
			return wrong("%w: choose another file", err)
		}
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
		if err := report.Comparison(s.out, c, f.lang.shownOn(s.out, s.manner)); err != nil {
			return err
		}
	}
	return nil
}
