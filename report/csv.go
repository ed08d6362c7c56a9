package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"tare/result"
)

// csvColumns are those of a tidy table: a row per metric of a cell, numbers in
// the units that files have (bit/s, s, 1/s, ratio), nothing where nothing is
// known.
func csvColumns() []string {
	return []string{
		"id", "started", "network", "path", "workload", "mode", "fidelity", "status", "reason",
		"nic", "link", "mtu", "pin", "cc", "params",
		"metric", "unit", "better", "n", "value", "low", "high",
		"baseline", "baseline_value", "toll", "toll_low", "toll_high", "verdict", "margin",
		"delta", "delta_low", "delta_high", "ceiling", "ceiling_ratio", "toll_framing", "toll_processing", "warnings",
	}
}

// writeCSV writes RFC 4180: one header for all results. A cell without a metric
// has a row with the reason.
func writeCSV(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	table := csv.NewWriter(w)
	if err := table.Write(csvColumns()); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	for _, res := range results {
		for i := range res.Cells {
			c := &res.Cells[i]
			head := csvHead(res, c)
			rows := [][]string{append(head, make([]string, len(csvColumns())-len(head))...)}
			if len(c.Metrics) > 0 {
				rows = nil
			}
			for _, m := range c.Metrics {
				rows = append(rows, append(head[:len(head):len(head)], csvMetric(m)...))
			}
			for _, row := range rows {
				if err := table.Write(row); err != nil {
					return nil, fmt.Errorf("write report: %w", err)
				}
			}
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return nil, nil
}

// csvHead identifies the cell of a row.
func csvHead(res *result.Result, c *result.Cell) []string {
	own := maps.Clone(c.Params)
	var lab []string
	for _, name := range []string{"nic", "link", "mtu", "pin", "cc"} {
		lab = append(lab, csvText(c.Params.Text(name)))
		delete(own, name)
	}
	head := []string{
		csvText(res.ID), csvText(res.Started), csvText(c.Network), csvText(c.Path), csvText(c.Workload), csvText(c.Mode),
		csvText(c.Fidelity), csvText(c.Status), csvText(c.Reason),
	}
	return append(append(head, lab...), csvText(own.Key()))
}

func csvMetric(m result.Metric) []string {
	row := []string{csvText(m.Name), csvText(m.Unit), csvText(string(m.Better)), strconv.Itoa(m.N), csvNumber(&m.Value), csvNumber(m.Low), csvNumber(m.High)}
	if m.Baseline != nil {
		row = append(row, csvText(m.Baseline.Network), csvNumber(&m.Baseline.Value))
	} else {
		row = append(row, "", "")
	}
	if t := m.Toll; t != nil {
		row = append(row, csvNumber(&t.Value), csvNumber(t.Low), csvNumber(t.High), csvText(t.Verdict), csvNumber(&t.Margin),
			csvNumber(&t.Delta.Value), csvNumber(t.Delta.Low), csvNumber(t.Delta.High))
	} else {
		row = append(row, make([]string, 8)...)
	}
	if m.Ceiling != nil {
		row = append(row, csvNumber(&m.Ceiling.Value), csvNumber(&m.Ceiling.Ratio))
	} else {
		row = append(row, "", "")
	}
	if m.TollParts != nil {
		row = append(row, csvNumber(&m.TollParts.Framing), csvNumber(&m.TollParts.Processing))
	} else {
		row = append(row, "", "")
	}
	return append(row, csvText(strings.Join(m.Warnings, "; ")))
}

func csvNumber(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// csvText is a text that a spreadsheet does not read as a formula.
func csvText(text string) string {
	text = result.Plain(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
