package result

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// texts are short, so that rapid spends its time on shapes.
func texts() *rapid.Generator[string] { return rapid.StringN(0, 6, 24) }

func numbers() *rapid.Generator[float64] { return rapid.Float64Range(-1e15, 1e15) }

// maybe is a value or nil.
func maybe[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.Custom(func(t *rapid.T) *T {
		if rapid.Bool().Draw(t, "absent") {
			return nil
		}
		v := g.Draw(t, "value")
		return &v
	})
}

// lists are nil, empty or short.
func lists[T any](g *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.Custom(func(t *rapid.T) []T {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		return rapid.SliceOfN(g, 0, 3).Draw(t, "list")
	})
}

func findings() *rapid.Generator[Finding] {
	return rapid.Custom(func(t *rapid.T) Finding {
		evidence := rapid.Custom(func(t *rapid.T) Evidence {
			value := rapid.OneOf(numbers().AsAny(), texts().AsAny(), rapid.Bool().AsAny()).Draw(t, "value")
			return Evidence{Name: texts().Draw(t, "name"), Value: value, Source: texts().Draw(t, "source")}
		})
		return Finding{
			ID: texts().Draw(t, "id"), Evidence: lists(evidence).Draw(t, "evidence"),
			Confidence: numbers().Draw(t, "confidence"), Share: numbers().Draw(t, "share"),
		}
	})
}

func metrics() *rapid.Generator[Metric] {
	return rapid.Custom(func(t *rapid.T) Metric {
		q := rapid.SampledFrom(Quantities()).Draw(t, "quantity")
		m := Metric{
			Name: q.Name, Unit: q.Unit, Better: q.Better, N: rapid.IntRange(0, 60).Draw(t, "n"),
			Value: numbers().Draw(t, "metric"), Low: maybe(numbers()).Draw(t, "low"), High: maybe(numbers()).Draw(t, "high"),
			Warnings: lists(texts()).Draw(t, "warnings"),
		}
		if rapid.Bool().Draw(t, "weighed") {
			m.Baseline = &Baseline{Network: texts().Draw(t, "network"), Value: numbers().Draw(t, "baseline")}
			m.Toll = &Toll{
				Value: numbers().Draw(t, "toll"), Verdict: texts().Draw(t, "verdict"),
				Margin: numbers().Draw(t, "margin"), BlocksToSay: rapid.IntRange(0, 99).Draw(t, "blocks"),
				Delta: Delta{Value: numbers().Draw(t, "delta"), Low: maybe(numbers()).Draw(t, "delta low")},
			}
			m.Ceiling = &Ceiling{Value: numbers().Draw(t, "ceiling"), Ratio: numbers().Draw(t, "ratio")}
			m.TollParts = &TollParts{Framing: numbers().Draw(t, "framing"), Processing: numbers().Draw(t, "processing")}
		}
		return m
	})
}

func samples() *rapid.Generator[Sample] {
	return rapid.Custom(func(t *rapid.T) Sample {
		return Sample{
			Block: rapid.IntRange(0, 99).Draw(t, "block"), Order: rapid.IntRange(0, 99).Draw(t, "order"),
			Layout: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "layout"), Warnings: lists(texts()).Draw(t, "warnings"),
			Metrics:  rapid.MapOfN(texts(), numbers(), 0, 3).Draw(t, "metrics"),
			Series:   rapid.MapOfN(texts(), lists(numbers()), 0, 3).Draw(t, "series"),
			Counters: rapid.MapOfN(texts(), numbers(), 0, 3).Draw(t, "counters"),
		}
	})
}

func results() *rapid.Generator[*Result] {
	cells := rapid.Custom(func(t *rapid.T) Cell {
		params := rapid.MapOfN(texts(), rapid.OneOf(numbers().AsAny(), texts().AsAny(), rapid.Bool().AsAny()), 0, 3)
		return Cell{
			Network: texts().Draw(t, "network"), Path: texts().Draw(t, "path"), Workload: texts().Draw(t, "workload"),
			Params: params.Draw(t, "params"), Status: StatusOK, Metrics: lists(metrics()).Draw(t, "metrics"),
			Samples: lists(samples()).Draw(t, "samples"), Findings: lists(findings()).Draw(t, "findings"),
		}
	})
	return rapid.Custom(func(t *rapid.T) *Result {
		return &Result{
			Schema: Schema, ID: texts().Draw(t, "id"), Started: texts().Draw(t, "started"), Finished: texts().Draw(t, "finished"),
			Environment: Environment{
				Kernel: texts().Draw(t, "kernel"), MemoryBytes: rapid.Uint64().Draw(t, "memory"),
				Parts: rapid.MapOfN(texts(), texts(), 0, 2).Draw(t, "parts"),
			},
			Plan: plans().Draw(t, "plan"),
			Noise: Noise{Steal: numbers().Draw(t, "steal"), AA: lists(rapid.Custom(func(t *rapid.T) AA {
				return AA{Path: texts().Draw(t, "path"), Low: numbers().Draw(t, "low"), High: numbers().Draw(t, "high")}
			})).Draw(t, "aa")},
			Cells: lists(cells).Draw(t, "cells"), Findings: lists(findings()).Draw(t, "findings"),
			Warnings: lists(texts()).Draw(t, "warnings"),
		}
	})
}

func written(t interface {
	Helper()
	Fatal(...any)
}, res *Result) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := res.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestWhatIsWrittenReadsBack checks also that a result written twice is the same
// text.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := results().Draw(t, "result")
		text := written(t, res)
		back, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for n := range res.Cells { // a nil map of parameters reads back as an empty one, by design
			if len(res.Cells[n].Params) == 0 {
				back.Cells[n].Params = res.Cells[n].Params
			}
		}
		if again := written(t, back); !bytes.Equal(text, again) {
			t.Fatalf("written again it is another text:\n%s\n%s", text, again)
		}
		if !reflect.DeepEqual(res, back) {
			t.Fatalf("wrote %+v\nread %+v", res, back)
		}
	})
}

// TestArraysAreNeverNull, also for what is a zero value in memory.
// Two runs that begin in the same second have each a file.
func TestNewFilesAreNobodyElses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tare-20261128-150405.json")
	names := map[string]bool{}
	for range 3 {
		name, err := NewFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names[filepath.Base(name)] = true
	}
	for _, want := range []string{"tare-20261128-150405.json", "tare-20261128-150405-2.json", "tare-20261128-150405-3.json"} {
		labtest.Equal(t, want, names[want], true)
	}
	if _, err := NewFile(filepath.Join(t.TempDir(), "absent", "x.json")); err == nil {
		t.Error("a file in a folder that is not there was made")
	}
}

func TestArraysAreNeverNull(t *testing.T) {
	full := &Result{
		Schema: Schema, Findings: make([]Finding, 1),
		Cells: []Cell{{Metrics: make([]Metric, 1), Findings: make([]Finding, 1), Samples: []Sample{{Series: map[string][]float64{"rtt": nil}}}}},
	}
	for _, res := range []*Result{{Schema: Schema}, full} {
		text := string(written(t, res))
		text = strings.ReplaceAll(text, `"value": null`, "") // evidence may be nothing
		if strings.Contains(text, "null") {
			t.Errorf("null in %s", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if text := written(t, results().Draw(t, "result")); bytes.Contains(text, []byte(": null")) {
			t.Fatalf("null in %s", text)
		}
	})
}

func TestReadRefuses(t *testing.T) {
	whole := string(written(t, &Result{Schema: Schema, ID: "x"}))
	for name, test := range map[string]struct{ text, want string }{
		"nothing":            {"", "is it whole"},
		"half of one":        {whole[:len(whole)/2], "is it whole"},
		"another file":       {"networks: [host]\n", "written by tare"},
		"another schema":     {strings.Replace(whole, Schema, "tare.result/9", 1), `schema "tare.result/9"`},
		"no schema":          {"{}", "names no schema"},
		"two results":        {whole + whole, "one result per file"},
		"a number in words":  {strings.Replace(whole, `"cpus": 0`, `"cpus": "many"`, 1), "is it whole"},
		"something after it": {whole + "and so on", "one result per file"},
	} {
		if _, err := Read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v does not contain %q", name, err, test.want)
		}
	}
}

// TestEveryTruncationIsRefused cuts a result at every byte.
func TestEveryTruncationIsRefused(t *testing.T) {
	text := bytes.TrimSpace(written(t, &Result{Schema: Schema, Cells: []Cell{{Metrics: []Metric{{Name: "rate", Value: 1.5}}}}}))
	for n := range text {
		if _, err := Read(bytes.NewReader(text[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a result", n, len(text))
		}
	}
}

func TestReadAcceptsUnknownFields(t *testing.T) {
	text := `{"schema": "` + Schema + `", "colour": {"of": ["it"]}, "cells": [{"network": "vxlan", "weight": 3}]}`
	res, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Cells) != 1 || res.Cells[0].Network != "vxlan" {
		t.Errorf("cells: %+v", res.Cells)
	}
}

func TestNumbersWithoutAWordStayOut(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		good := 1.0
		weighed := Metric{
			Name: "rate", Value: 1, Low: &bad, High: &good, Baseline: &Baseline{Value: 1}, Ceiling: &Ceiling{1, bad, 0},
			Toll: &Toll{Value: 0.5, Low: &bad, High: &good, Delta: Delta{High: &bad}}, TollParts: &TollParts{bad, 1},
		}
		untolled := Metric{Name: "throughput", Value: 1, Baseline: &Baseline{Value: 1}, Toll: &Toll{Value: bad}, TollParts: &TollParts{0, 0}}
		res := &Result{
			Schema: Schema, Noise: Noise{AA: []AA{{Low: bad}, {High: bad}, {Metric: "kept"}}},
			Findings: []Finding{{Share: bad}, {ID: "kept", Evidence: []Evidence{{Value: bad}, {Value: "kept"}}}},
			Cells: []Cell{{
				Metrics: []Metric{{Name: "loss", Value: bad}, weighed, untolled},
				Samples: []Sample{{
					Metrics: map[string]float64{"bad": bad, "good": 1}, Counters: map[string]float64{"bad": bad, "good": 1},
					Series: map[string][]float64{"bad": {1, bad, 2}, "good": {1, 2}},
				}},
			}},
		}
		back, err := Read(bytes.NewReader(written(t, res)))
		if err != nil {
			t.Fatal(err)
		}
		c := back.Cells[0]
		s := c.Samples[0]
		of := fmt.Sprintf("%v in a sample: ", bad)
		labtest.Equal(t, of+"number of metrics", len(s.Metrics), 1)
		labtest.Equal(t, of+"number of counters", len(s.Counters), 1)
		labtest.Equal(t, of+"number of series", len(s.Series), 1)
		labtest.Equal(t, of+"length of the good series", len(s.Series["good"]), 2)
		if len(back.Noise.AA) != 1 || len(back.Findings) != 1 || len(back.Findings[0].Evidence) != 1 {
			t.Errorf("%v: A/A %+v, findings %+v", bad, back.Noise.AA, back.Findings)
		}
		if len(c.Metrics) != 2 {
			t.Fatalf("%v: metrics %+v", bad, c.Metrics)
		}
		m := c.Metrics[0]
		if m.Toll == nil {
			t.Fatalf("%v in a metric: no toll: %+v", bad, m)
		}
		of = fmt.Sprintf("%v in a metric: ", bad)
		labtest.Equal(t, of+"low end", m.Low, nil)
		labtest.Equal(t, of+"high end", m.High, nil)
		labtest.Equal(t, of+"ceiling", m.Ceiling, nil)
		labtest.Equal(t, of+"parts of the toll", m.TollParts, nil)
		labtest.Equal(t, of+"low end of the toll", m.Toll.Low, nil)
		labtest.Equal(t, of+"high end of the toll", m.Toll.High, nil)
		labtest.Equal(t, of+"high end of the delta", m.Toll.Delta.High, nil)
		if m := c.Metrics[1]; m.Toll != nil || m.TollParts != nil {
			t.Errorf("a toll of %v: %+v", bad, m)
		}
	}
}

func TestParamsKeySurvivesTheFile(t *testing.T) {
	before := Params{"nic": "full", "mtu": 1500, "link": 1e10, "rps": true, "duration": 0.06}
	res := &Result{Schema: Schema, Cells: []Cell{{Params: before}}}
	back, err := Read(bytes.NewReader(written(t, res)))
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Cells[0].Params.Key(); got != before.Key() {
		t.Errorf("key %s, before it was written %s", got, before.Key())
	}
	if before.Key() == (Params{"nic": "tso", "mtu": 1500}).Key() {
		t.Error("other parameters, same key")
	}
}
