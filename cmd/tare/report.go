package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tare/experiment"
	"tare/report"
	"tare/result"
)

// reportFlags are how results are rendered, and where they are written.
type reportFlags struct {
	format, out string
	lang        language
}

func reportCommand(s streams) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report RESULT...",
		Short: "Show results, or write them in another format",
		Long: "Shows results as tare run does, or writes them in another format. Of several results of tare mesh it\n" +
			"shows who was named when, and the newest:\n\n" + formatList(),
		Example: `  tare report run.json
  tare report run.json -o run.html
  tare report run.json -o run.html --lang zh
  tare report run.json -o run.md
  tare report run.json -o run.csv
  tare report old.json --format gobench -o old.txt
  tare report new.json --format gobench -o new.txt; benchstat old.txt new.txt
  tare report run.json --format iperf3-json | jq .end.sum_received`,
		Args: atLeast(1, "report needs a result: tare report RESULT.json"),
		RunE: func(_ *cobra.Command, args []string) error {
			results, err := readResults(args)
			if err != nil {
				return err
			}
			if f.format == "" && f.out == "" {
				return showReports(s, results, f.lang)
			}
			return writeReport(s, results, f)
		},
	}
	c.Flags().StringVar(&f.format, "format", "", "format to write: "+strings.Join(report.FormatNames(), ", "))
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write (default: standard output)")
	f.lang.register(c.Flags())
	return c
}

func formatList() string {
	var text strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&text, "  %-12s %s\n", f.Name, f.Doc)
	}
	return strings.TrimRight(text.String(), "\n")
}

// readResults reads results from their files.
func readResults(paths []string) ([]*result.Result, error) {
	var results []*result.Result
	for _, path := range paths {
		res, err := result.ReadFile(path)
		if err != nil {
			return nil, &exitError{exitWrong, err}
		}
		results = append(results, res)
	}
	return results, nil
}

// fits returns an error if a report cannot hold all cells of the results; 0: any
// number.
func fits(results []*result.Result, most int) error {
	cells := 0
	for _, res := range results {
		cells += len(res.Cells)
	}
	if most > 0 && cells > most {
		return wrong("%d cells are more than the %d that can be shown: write them as CSV (-o FILE.csv), or run a narrower plan", cells, most)
	}
	return nil
}

// showReports shows results as they are shown after a run.
func showReports(s streams, results []*result.Result, lang language) error {
	if err := fits(results, report.MostCells); err != nil {
		return err
	}
	if report.OnlyMeshes(results) {
		return report.Meshes(s.out, results, lang.shownOn(s.out, s.manner))
	}
	for n, res := range results {
		if n > 0 {
			if _, err := fmt.Fprintln(s.out); err != nil {
				return err
			}
		}
		if err := report.Terminal(s.out, res, lang.shownOn(s.out, s.manner)); err != nil {
			return err
		}
	}
	return nil
}

// writeReport renders the whole report before it writes, so that an existing file is
// replaced by a whole report or not at all. Others read it: its language is the one
// that was asked for, never the environment's.
func writeReport(s streams, results []*result.Result, f reportFlags) error {
	format, known := report.FindFormat(f.format)
	if f.format == "" {
		format, known = report.FormatOf(f.out)
	}
	switch {
	case f.format == "" && !known:
		return wrong("report needs --format (%s), or -o with a name that ends in .html, .md or .csv", strings.Join(report.FormatNames(), ", "))
	case !known:
		return experiment.Unknown("format", f.format, report.FormatNames())
	}
	if !format.Mesh && slices.ContainsFunc(results, func(res *result.Result) bool { return res.Mesh != nil }) {
		return wrong("%s has no words for a mesh: write it as %s; the file itself holds everything as JSON", format.Name, strings.Join(report.OfMeshes(), " or "))
	}
	if err := fits(results, format.Most); err != nil {
		return err
	}
	var text bytes.Buffer
	left, err := format.Write(&text, results, string(f.lang))
	if err != nil {
		return err
	}
	for _, what := range left {
		fmt.Fprintf(s.err, "tare: %s has no words for %s\n", format.Name, what)
	}
	if text.Len() == 0 {
		return wrong("nothing to write: %s has no words for any cell", format.Name)
	}
	if f.out == "" {
		_, err := s.out.Write(text.Bytes())
		return err
	}
	if err := result.ReplaceFile(f.out, func(w io.Writer) error { _, err := text.WriteTo(w); return err }); err != nil {
		return wrong("write report: %w: make room, or choose another file with -o", err)
	}
	return nil
}
