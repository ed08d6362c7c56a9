package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// anyResult draws results that the schema allows, sane or not.
func anyResult() *rapid.Generator[*result.Result] {
	text := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.StringN(0, 300, -1), rapid.Just("\x1b[2J\r\n\t\u202e网"))
	return rapid.Custom(func(t *rapid.T) *result.Result {
		texts := rapid.SliceOfN(text, 0, 2)
		findings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) result.Finding {
			return result.Finding{
				ID: text.Draw(t, "id"), Cause: text.Draw(t, "cause"), Fix: text.Draw(t, "fix"), Confidence: anyNumber(t), Share: anyNumber(t),
				Evidence: []result.Evidence{{Name: text.Draw(t, "name"), Value: anyParam(text).Draw(t, "value"), Source: text.Draw(t, "source")}},
			}
		}), 0, 2)
		res := &result.Result{
			Schema: result.Schema, Finished: text.Draw(t, "finished"),
			Environment: result.Environment{Kernel: text.Draw(t, "kernel"), CPUModel: text.Draw(t, "cpu"), Virtualisation: text.Draw(t, "hv")},
			Plan: result.Plan{
				Name: text.Draw(t, "plan"), EncapNIC: texts.Draw(t, "encap"),
				Axes: result.PlanAxes{
					"nic": rapid.SliceOfN(text.AsAny(), 0, 2).Draw(t, "nics"), "cc": {text.Draw(t, "cc")}, "link": {anyNumber(t)}, "mtu": {anyNumber(t)},
				},
				Duration: result.Seconds(anyNumber(t)), Margin: anyNumber(t), Blocks: 10,
				Skipped: []result.SkippedNetwork{{Name: text.Draw(t, "left out"), Reason: text.Draw(t, "why")}},
			},
			Noise:    result.Noise{Steal: anyNumber(t), Pressure: anyNumber(t), ForeignCPU: anyNumber(t)},
			Cells:    rapid.SliceOfN(anyCell(text), 0, 12).Draw(t, "cells"),
			Findings: findings.Draw(t, "findings"), Warnings: texts.Draw(t, "warnings"),
		}
		for _, c := range res.Cells {
			res.Noise.AA = append(res.Noise.AA, result.AA{
				Path: c.Path, Workload: c.Workload, Params: c.Params, Metric: "throughput",
				Low: anyNumber(t), High: anyNumber(t), Verdict: text.Draw(t, "verdict"),
			})
		}
		return res
	})
}

func anyNumber(t *rapid.T) float64 {
	return rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e9, 1e11), rapid.Just(0.0), rapid.Float64Range(-1e308, 1e308)).Draw(t, "number")
}

func maybe(t *rapid.T) *float64 {
	if rapid.Bool().Draw(t, "absent") {
		return nil
	}
	v := anyNumber(t)
	return &v
}

func anyParam(text *rapid.Generator[string]) *rapid.Generator[any] {
	return rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](1e9), rapid.Just[any](true), rapid.Just[any](1500), text.AsAny())
}

func anyCell(text *rapid.Generator[string]) *rapid.Generator[result.Cell] {
	pick := func(known ...string) *rapid.Generator[string] {
		return rapid.OneOf(rapid.SampledFrom(known), rapid.SampledFrom(known), text)
	}
	return rapid.Custom(func(t *rapid.T) result.Cell {
		c := result.Cell{
			Network: pick(names()...).Draw(t, "network"), Path: pick(catalog.Paths()...).Draw(t, "path"),
			Workload: pick("tcp_stream", "tcp_rr", "udp_pps").Draw(t, "workload"),
			Mode:     rapid.SampledFrom([]string{"", "", "mmsg"}).Draw(t, "mode"),
			Fidelity: pick(catalog.SamePath, catalog.StandIn, "").Draw(t, "fidelity"),
			Status:   pick(result.StatusOK, result.StatusOK, result.StatusSkipped, result.StatusFailed).Draw(t, "status"),
			Reason:   text.Draw(t, "reason"), Params: result.Params{},
		}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"nic", "link", "mtu", "flows"}), 0, 2).Draw(t, "params") {
			c.Params[name] = anyParam(text).Draw(t, "param")
		}
		for _, name := range rapid.SliceOfN(pick("throughput", "rtt_p50", "rate", "cpu_per_gbit", "loss"), 0, 4).Draw(t, "metrics") {
			c.Metrics = append(c.Metrics, anyMetric(t, name, text))
		}
		for block := range rapid.IntRange(0, 8).Draw(t, "blocks") {
			s := result.Sample{Block: block, Metrics: map[string]float64{}}
			for _, m := range c.Metrics {
				s.Metrics[m.Name] = anyNumber(t)
			}
			c.Samples = append(c.Samples, s)
		}
		return c
	})
}

func anyMetric(t *rapid.T, name string, text *rapid.Generator[string]) result.Metric {
	q, _ := result.QuantityOf(name)
	m := result.Metric{Name: name, Unit: q.Unit, Better: q.Better, N: 4, Value: anyNumber(t), Low: maybe(t), High: maybe(t)}
	m.Warnings = rapid.SliceOfN(text, 0, 2).Draw(t, "warnings")
	if rapid.Bool().Draw(t, "weighed") {
		m.Toll = &result.Toll{
			Value: anyNumber(t), Low: maybe(t), High: maybe(t), Margin: anyNumber(t), BlocksToSay: rapid.IntRange(0, 1000).Draw(t, "needed"),
			Verdict: rapid.OneOf(rapid.Just(string(stats.Slower)), rapid.Just(string(stats.Inconclusive)), text).Draw(t, "verdict"),
			Delta:   result.Delta{Value: anyNumber(t), Low: maybe(t), High: maybe(t)},
		}
		m.TollParts = &result.TollParts{Framing: anyNumber(t), Processing: anyNumber(t)}
		m.Ceiling = &result.Ceiling{Value: anyNumber(t), Ratio: anyNumber(t)}
	}
	return m
}

func TestAnyResultFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := anyResult().Draw(t, "result")
		columns := rapid.IntRange(minWidth, maxWidth).Draw(t, "width")
		lang := rapid.SampledFrom(Languages()).Draw(t, "language")
		fits(t, render(t, res, Options{Width: columns, Lang: lang}), columns)
	})
}

// TestAnyResultIsATable writes results with hostile names: every row of CSV has
// all columns and no formula, every row of Markdown as many fields as the first of
// its table and no tag.
func TestAnyResultIsATable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := []*result.Result{anyResult().Draw(t, "result")}
		var comma, marked bytes.Buffer
		if _, err := writeCSV(&comma, results, ""); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&comma).ReadAll() // which wants as many fields in each
		if err != nil || len(rows) < 1+len(results[0].Cells) {
			t.Fatalf("%d rows of %d cells: %v", len(rows), len(results[0].Cells), err)
		}
		for _, row := range rows {
			for n, field := range row {
				if field != "" && strings.ContainsRune("=+@", rune(field[0])) || strings.HasPrefix(field, "-") && !isNumber(field) {
					t.Fatalf("column %s holds a formula: %q", csvColumns()[n], field)
				}
			}
		}
		if _, err := writeMarkdown(&marked, results, ""); err != nil {
			t.Fatal(err)
		}
		fields := 0 // of the table
		for line := range strings.Lines(marked.String()) {
			bare := strings.NewReplacer(`\\`, "", `\|`, "").Replace(line)
			if strings.HasPrefix(line, "   ") { // a fix, in a fence
				continue
			}
			row := 0
			if strings.HasPrefix(line, "|") {
				row = strings.Count(bare, "|")
			}
			if fields > 0 && row > 0 && row != fields || strings.ContainsAny(line, "<>") {
				t.Fatalf("row %q in a table of %d fields", line, fields-1)
			}
			fields = row
		}
	})
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
