package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// openText is the OpenMetrics text of results.
func openText(t *testing.T, results ...*result.Result) string {
	t.Helper()
	var text strings.Builder
	if _, err := writeOpenMetrics(&text, results, ""); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

var (
	openMeta   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-z_:][a-z0-9_:]*) (.+)$`)
	openSample = regexp.MustCompile(`^([a-z_:][a-z0-9_:]*)(\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[0-9.]+(?:e[+-][0-9]+)?)( [0-9]+)?$`)
)

// readOpen reads a text as strictly as the specification asks: each family begins with its type,
// then its unit, with which its name ends, then its help; its samples follow, and no other
// family interrupts them; those of a series are together, one without times, several with times
// that increase. The last line is # EOF. It returns the values by series.
func readOpen(t *testing.T, text string) map[string][]float64 {
	t.Helper()
	body, whole := strings.CutSuffix(text, "\n# EOF\n")
	if !whole {
		t.Fatalf("the text ends in %q", text[max(0, len(text)-40):])
	}
	values, lastTime := map[string][]float64{}, map[string]int{}
	var families []string
	last, before := "", "sample" // the kind of the line before
	for _, line := range strings.Split(body, "\n") {
		if m := openMeta.FindStringSubmatch(line); m != nil {
			kind, family, rest := m[1], m[2], m[3]
			wanted := map[string][]string{"TYPE": {"sample"}, "UNIT": {"TYPE"}, "HELP": {"TYPE", "UNIT"}}[kind]
			if !slices.Contains(wanted, before) {
				t.Errorf("%s: after a line of %s", line, before)
			}
			if kind == "TYPE" {
				if rest != "gauge" || slices.Contains(families, family) {
					t.Errorf("%s: a second time, or no gauge", line)
				}
				families = append(families, family)
			}
			if family != families[len(families)-1] || kind == "UNIT" && !strings.HasSuffix(family, "_"+rest) {
				t.Errorf("%s: of another family, or the name does not end in the unit", line)
			}
			before = kind
			continue
		}
		m := openSample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no line of OpenMetrics", line)
		}
		series := m[1] + m[2]
		if before != "HELP" && before != "sample" || m[1] != families[len(families)-1] {
			t.Errorf("%s: not below its family", line)
		}
		if len(values[series]) > 0 && series != last {
			t.Errorf("%s: apart from the other values of its series", line)
		}
		at, _ := strconv.Atoi(strings.TrimSpace(m[5]))
		if len(values[series]) > 0 && at <= lastTime[series] {
			t.Errorf("%s: not later than the value before it", line)
		}
		value, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		before = "sample"
		last, lastTime[series], values[series] = series, at, append(values[series], value)
	}
	return values
}

func TestOpenMetricsHoldsAMesh(t *testing.T) {
	res := twelve()
	values := readOpen(t, openText(t, res))
	one := func(series string) float64 {
		if len(values[series]) != 1 {
			t.Fatalf("%s has the values %v, want one", series, values[series])
		}
		return values[series][0]
	}
	labtest.Equal(t, "nodes", one("tare_mesh_nodes"), 12)
	labtest.Equal(t, "named nodes", one(`tare_mesh_named{kind="node"}`), 1)
	labtest.Equal(t, "named links", one(`tare_mesh_named{kind="link"}`), 1)
	labtest.Equal(t, "named uplinks", one(`tare_mesh_named{kind="uplink"}`), 0)
	labtest.Equal(t, "nodes that were not measured", one(`tare_mesh_unmeasured{kind="node"}`), 1)
	labtest.Equal(t, "when", one("tare_mesh_finished_timestamp_seconds"), 1795694460)
	for _, n := range res.Mesh.Named {
		of := fmt.Sprintf(`{kind=%q,of=%q,metric="throughput"}`, n.Kind, strings.Join(n.Of, " - "))
		labtest.Equal(t, "how slow", one("tare_mesh_slow_ratio"+of), n.Value)
		labtest.Equal(t, "how slow, at least", one("tare_mesh_slow_low_ratio"+of), n.Low)
		labtest.Equal(t, "how slow, at most", one("tare_mesh_slow_high_ratio"+of), n.High)
	}
	labtest.Equal(t, "effect", one(`tare_mesh_effect_ratio{kind="node",of="node-3",metric="throughput"}`), res.Mesh.Effects[2].Value)
	labtest.Between(t, "many to one", one(`tare_mesh_incast_ratio{of="node-6",metric="throughput"}`), 0.3, 0.37)
	labtest.Between(t, "the middle", one(`tare_mesh_middle_bits_per_second{metric="throughput"}`), 8e9, 10e9)
}

// Of several meshes each value has its time, in whatever order they are named; one that is named
// twice is refused.
func TestOpenMetricsOfSeveralMeshesIsATimeLine(t *testing.T) {
	first, later := twelve(), slowNode()
	later.Finished = "2026-11-26T13:00:00Z"
	later.Mesh.Nodes[0].Name = `a"b\c` + "\n"
	later.Mesh.Effects[0].Of = []string{`a"b\c` + "\n"}
	text := openText(t, later, first)
	values := readOpen(t, text)
	labtest.Equal(t, "nodes", fmt.Sprint(values["tare_mesh_nodes"]), "[12 5]")
	labtest.Contains(t, "text", text, "\ntare_mesh_nodes 12 1795694460\ntare_mesh_nodes 5 1795698000\n")
	labtest.Contains(t, "text", text, `of="a\"b\\c`)
	if _, err := writeOpenMetrics(&strings.Builder{}, []*result.Result{first, first}, ""); err == nil {
		t.Error("a mesh that is named twice is written")
	}
}

func TestOpenMetricsHoldsCells(t *testing.T) {
	res := quick()
	values := readOpen(t, openText(t, res))
	at := slices.IndexFunc(res.Cells, func(c result.Cell) bool { return c.Network != "host" && len(c.Metrics) > 0 && c.Metrics[0].Toll != nil })
	c := res.Cells[at]
	labels := openLabels(append(cellLabels(&c), "metric", c.Metrics[0].Name))
	one := func(name string) float64 {
		if len(values[name]) != 1 {
			t.Fatalf("%s has the values %v, want one", name, values[name])
		}
		return values[name][0]
	}
	u := map[string]string{"bit/s": "bits_per_second", "s": "seconds", "1/s": "per_second"}[c.Metrics[0].Unit]
	labtest.Equal(t, "value", one("tare_cell_value_"+u+labels), c.Metrics[0].Value)
	labtest.Equal(t, "its low end", one("tare_cell_low_"+u+labels), *c.Metrics[0].Low)
	labtest.Equal(t, "toll", one("tare_cell_toll_ratio"+labels), c.Metrics[0].Toll.Value)
	labtest.Equal(t, "its high end", one("tare_cell_toll_high_ratio"+labels), *c.Metrics[0].Toll.High)
	labtest.Contains(t, "labels", labels, `{network="`+c.Network+`",path="`+c.Path+`",workload="`+c.Workload+`"`)
	for n := range res.Cells {
		series := "tare_cell_measured" + openLabels(cellLabels(&res.Cells[n]))
		if want := res.Cells[n].Status == result.StatusOK; (one(series) == 1) != want {
			t.Errorf("%s is %g, and the cell is %s", series, one(series), res.Cells[n].Status)
		}
	}
}

// Every result of the tests can be read by the parser that Prometheus's client for Python has: of one,
// of several at different times, and of a mesh.
func TestRealOpenMetricsParser(t *testing.T) {
	const parser = `import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
read = lambda text: sum(len(family.samples) for family in families(text))
print(json.dumps({name: read(text) for name, text in json.load(sys.stdin).items()}))`
	later := quick()
	later.Finished = "2036-01-01T00:00:00Z"
	texts := map[string]string{"a mesh": openText(t, twelve()), "a time line": openText(t, quick(), later)}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no results: %v", err)
	}
	for _, file := range files {
		res, err := result.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = openText(t, res)
	}
	given, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/python3", "-c", parser)
	cmd.Stdin = bytes.NewReader(given)
	out, err := cmd.CombinedOutput()
	samples := map[string]int{}
	if err = errors.Join(err, json.Unmarshal(out, &samples)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range texts {
		want := 0
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") {
				want++
			}
		}
		labtest.Equal(t, name+": samples", samples[name], want)
	}
}

// Runs that were imported do not say how they differ: one is written, and the others are named.
func TestOpenMetricsNamesCellsThatAreTheSame(t *testing.T) {
	cell := result.Cell{Workload: "tcp_stream", Status: result.StatusOK, Metrics: []result.Metric{{Name: "throughput", Unit: "bit/s", Value: 1e9}}}
	var text strings.Builder
	left, err := writeOpenMetrics(&text, []*result.Result{{Cells: []result.Cell{cell, cell}}}, "")
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "left out", fmt.Sprint(left), "[tcp_stream]")
	labtest.Equal(t, "values", len(readOpen(t, text.String())[`tare_cell_value_bits_per_second{workload="tcp_stream",metric="throughput"}`]), 1)
}
