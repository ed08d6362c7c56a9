package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tare/foreign"
	"tare/result"
	"tare/test/labtest"
)

// benchLine is a line of the Go benchmark format: a name, a count, and pairs
// of value and unit.
var benchLine = regexp.MustCompile(`^Benchmark[A-Z]\S* 1( [0-9.e+-]+ [A-Za-z]\S*)+$`)

// TestExports compares each format of a small result with what it was.
func TestExports(t *testing.T) {
	res, err := result.ReadFile("testdata/few.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if f.Name == "html" { // html_test.go reads what it draws
			continue
		}
		var got bytes.Buffer
		left, err := f.Write(&got, []*result.Result{res}, "")
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("left: " + strings.Join(left, ", ") + "\n")
		golden := filepath.Join("testdata", "few."+f.Name)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs; run with -update and look at the difference", golden)
		}
	}
}

// TestGoBenchHoldsEverySample has a line per sample, which benchstat's format
// allows, whatever the names in the result.
func TestGoBenchHoldsEverySample(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no results: %v", err)
	}
	for _, file := range files {
		res, err := result.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples := 0
		for _, c := range res.Cells {
			for _, s := range c.Samples {
				for name := range s.Metrics {
					if _, known := result.QuantityOf(name); known {
						samples++
						break
					}
				}
			}
		}
		var text bytes.Buffer
		if _, err := writeGoBench(&text, []*result.Result{res}, ""); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.SplitSeq(text.String(), "\n") {
			switch {
			case line == "", strings.HasPrefix(line, "Unit "):
			case benchLine.MatchString(line):
				lines++
			default:
				t.Errorf("%s: not of the format: %s", file, line)
			}
		}
		if lines != samples {
			t.Errorf("%s: %d lines for %d samples", file, lines, samples)
		}
	}
}

// TestBenchNamesAreOneWord checks that hostile names follow the format.
func TestBenchNamesAreOneWord(t *testing.T) {
	c := &result.Cell{Workload: "tcp_crr", Network: "a b/c\n", Mode: "x", Params: result.Params{"nic": "full-8", "flows": 4.0, "duration": 2.0, "cc": nil}}
	if got, want := benchName(c), "BenchmarkTCPCRR/network=a_b_c/mode=x/flows=4/nic=full_8"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestIperf3JSONAddsUp compares the sums of a document with its intervals and with
// the cell.
func TestIperf3JSONAddsUp(t *testing.T) {
	again := []float64{1, 2}
	cell := result.Cell{
		Network: "vxlan", Path: "cross-host", Workload: "tcp_stream", Mode: "write128K", Status: result.StatusOK,
		Params: result.Params{"flows": 2.0, "size": 131072.0, "duration": 2.0, "cc": "cubic"},
		Samples: []result.Sample{
			{Metrics: map[string]float64{"throughput": 8e9, "retransmits": 3}, Series: map[string][]float64{"throughput": {6e9, 10e9}, "retransmits": again}},
			{Block: 1, Metrics: map[string]float64{"throughput": 16e9, "retransmits": 1}},
		},
	}
	var text bytes.Buffer
	left, err := writeIperf3JSON(&text, []*result.Result{{Cells: []result.Cell{cell, {Workload: "tcp_rr", Status: result.StatusOK}}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0] != "tcp_rr" {
		t.Errorf("left out %q, want the cell that carries no bulk data", left)
	}
	var extras iperf3Extras
	doc := foreign.Iperf3Document{Tare: &extras}
	if err := json.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	bytes := 0.0
	for _, interval := range doc.Intervals {
		bytes += interval.Sum.Bytes
	}
	received := doc.End.Received
	labtest.Equal(t, "number of intervals", len(doc.Intervals), 3)
	labtest.Equal(t, "bit/s received", *received.BitsPerSecond, 12e9)
	labtest.Equal(t, "seconds", received.Seconds, 4)
	labtest.Equal(t, "bytes received", received.Bytes, 6e9)
	labtest.Equal(t, "bytes of all intervals", bytes, received.Bytes)
	if doc.End.Sent.Retransmits == nil {
		t.Fatalf("no retransmits: %+v", doc.End.Sent)
	}
	labtest.Equal(t, "retransmits", *doc.End.Sent.Retransmits, 4)
	labtest.Equal(t, "streams", doc.Start.Test.Streams, 2)
	labtest.Equal(t, "network", extras.Network, "vxlan")
}

// importedRuns are runs of other tools.
func importedRuns() *result.Result {
	metric := func(name string, value float64, warnings ...string) result.Metric {
		q, _ := result.QuantityOf(name)
		return result.Metric{Name: name, Unit: q.Unit, Better: q.Better, N: 1, Value: value, Warnings: warnings}
	}
	return &result.Result{Cells: []result.Cell{
		{Mode: "iperf3", Workload: "tcp_stream", Status: result.StatusOK, Params: result.Params{"file": "a.log", "side": "client", "direction": "bidir", "flows": 4, "size": nil},
			Metrics: []result.Metric{metric("throughput", 9.41e8, "the sender's figure"), metric("retransmits", 16)},
			Samples: []result.Sample{{Counters: map[string]float64{"throughput_reverse": 9e8}, Warnings: []string{"interrupted"}}}},
		{Mode: "qperf", Workload: "tcp_rr", Status: result.StatusOK, Params: result.Params{"file": "a.log", "size": 64}, Metrics: []result.Metric{metric("latency_one_way", 34.2e-6)}},
		{Mode: "containerd-stress", Workload: "lifecycle", Status: result.StatusOK, Params: result.Params{"file": "b.log", "workers": 10}, Metrics: []result.Metric{metric("rate", 16.341)}},
		{Mode: "iperf3", Workload: "udp_stream", Status: result.StatusFailed, Reason: "connection \x1b[31mrefused", Params: result.Params{"file": "b.log"}},
	}}
}

// TestImportedShowsEveryRun checks that the table of imported runs fits its width
// and shows everything that was read.
func TestImportedShowsEveryRun(t *testing.T) {
	var text bytes.Buffer
	if err := Imported(&text, importedRuns(), Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `4 runs

a.log
  tool    workload          side    flows  size   measured                                lost
                                           bytes
  iperf3  tcp_stream bidir  client      4      -  941 Mbit/s*1, 900 Mbit/s back*2         16 resent
  qperf   tcp_rr            -           -     64  34.2 us one way                         -

b.log
  tool               workload    flows  measured
  containerd-stress  lifecycle      10  16.3 1/s
  iperf3             udp_stream      -  failed*3

  *1 the sender's figure
  *2 interrupted
  *3 connection [31mrefused
  percentiles, counters and the series per interval: --json
`
	squeezed := func(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }
	if squeezed(text.String()) != squeezed(want) {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}
