package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tare/report"
	"tare/result"
	"tare/weigh"
)

// trendFlags are those of `tare trend`: the same as of a comparison.
type trendFlags struct{ compareFlags }

func trendCommand(s streams) *cobra.Command {
	var f trendFlags
	c := &cobra.Command{
		Use:   "trend RESULT|FOLDER...",
		Short: "Show how cells go on over several results, and when they change",
		Long: `Shows a line for each cell over several results, in the order of time: of a soak (tare run
--every), whose folder is enough, or of separate runs. The newest is compared with the
first, and results that have no cell of it are left out and named.

Then it names changes that last: when, by how much, whether of a network or of the
machine, and what else is otherwise since then. Where nothing changes it names one in
5 % of all cases at most.

Limits are as those of tare compare, and hold the newest result against the first;
where one is broken the exit status is 4.`,
		Example: `  tare trend soak
  tare trend night-*.json
  tare trend night-*.json --max-regression 3% --junit trend.xml
  tare trend soak --json`,
		Args: atLeast(1, "trend needs results: tare trend RESULT.json..., or the folder of a soak"),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.show(s, args)
		},
	}
	f.register(c.Flags())
	c.Flags().Lookup("json").Usage = "print for programs"
	return c
}

// show prints the trend of results and of soaks in folders. Its error reports whether a limit was exceeded.
func (f *trendFlags) show(s streams, args []string) error {
	gates, err := f.gates()
	if err != nil {
		return err
	}
	var points []weigh.Point
	for _, arg := range args {
		files, err := filesOf(arg)
		if err != nil {
			return err
		}
		for _, file := range files {
			res, err := result.ReadFile(file)
			if err != nil {
				return &exitError{exitWrong, err}
			}
			points = append(points, weigh.PointOf(file, res))
		}
	}
	t, err := weigh.Trends(points, gates, result.ReadFile)
	if err != nil {
		return err
	}
	if len(t.Results) < 2 {
		return &exitError{exitWrong, tooFewError{t}}
	}
	if err := checkTrend(t, gates); err != nil {
		return err
	}
	all := []result.Comparison{t.Compared}
	if err := errors.Join(f.printTrend(s, t), f.write(all)); err != nil {
		return err
	}
	if len(t.Compared.Unmet) > 0 {
		return answerOf(all)
	}
	return nil
}

// filesOf are the results that an argument names: itself, or the rounds in a folder.
func filesOf(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, wrong("%w: name results, or the folder that tare run --every wrote", err)
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	files, err := roundFiles(arg)
	if err == nil && len(files) == 0 {
		err = wrong("%s: no round of a soak is there: name results, or the folder that tare run --every wrote", arg)
	}
	return files, err
}

// tooFewError is that there is no trend.
type tooFewError struct{ trend result.Trend }

func (e tooFewError) Error() string {
	text := fmt.Sprintf("a trend needs two whole results at least, and these are %d", len(e.trend.Results))
	for _, left := range e.trend.Left {
		text += fmt.Sprintf("; %s is left out: %s", left.File, left.Reason)
	}
	return text
}

// checkTrend refuses limits that would hold on nothing, as tare compare does.
func checkTrend(t result.Trend, gates weigh.Gates) error {
	files := []string{t.Compared.Old.File, t.Compared.New.File}
	results, err := readResults(files)
	if err != nil {
		return err
	}
	return checkGates(gates, files, results)
}

func (f *trendFlags) printTrend(s streams, t result.Trend) error {
	if f.json {
		return writeJSON(s.out, t)
	}
	return report.Trend(s.out, t, f.lang.shownOn(s.out, s.manner))
}
