package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tare/experiment"
	"tare/report"
	"tare/result"
)

func reportCommand(s streams) *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "report RESULT...",
		Short: "Write results in another format",
		Long:  "Writes results in another format:\n\n" + formatList(),
		Example: `  tare report run.json -o run.html
  tare report run.json -o run.md
  tare report run.json -o run.csv
  tare report old.json --format gobench -o old.txt
  tare report new.json --format gobench -o new.txt; benchstat old.txt new.txt
  tare report run.json --format iperf3-json | jq .end.sum_received`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrong("report needs a result: tare report RESULT.json --format gobench")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			results, err := readResults(args)
			if err != nil {
				return err
			}
			return writeReport(s, results, format, out)
		},
	}
	c.Flags().StringVar(&format, "format", "", "format to write: "+strings.Join(report.FormatNames(), ", "))
	c.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
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

// writeReport renders the whole before it writes, so that a file that stood
// there is replaced by a report or by nothing.
func writeReport(s streams, results []*result.Result, format, out string) error {
	f, known := report.FindFormat(format)
	if format == "" {
		f, known = report.FormatOf(out)
	}
	switch {
	case format == "" && !known:
		return wrong("report needs --format (%s), or -o with a name that ends in .html, .md or .csv", strings.Join(report.FormatNames(), ", "))
	case !known:
		return experiment.Unknown("format", format, report.FormatNames())
	}
	var text bytes.Buffer
	left, err := f.Write(&text, results)
	if err != nil {
		return err
	}
	for _, what := range left {
		fmt.Fprintf(s.err, "tare: %s has no words for %s\n", f.Name, what)
	}
	if text.Len() == 0 {
		return wrong("nothing to write: %s has no words for any cell", f.Name)
	}
	if out == "" {
		_, err := s.out.Write(text.Bytes())
		return err
	}
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return wrong("write report: %w: choose another file with -o", err)
	}
	return nil
}
