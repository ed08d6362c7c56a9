package foreign

import (
	"strings"
	"testing"

	"tare/test/labtest"
)

// The counters of errors are there where any of them is above 0; k is a thousand.
func TestErrorsOfAutocannon(t *testing.T) {
	const text = "Running 10s test @ http://h:80\n10 connections\n\n2k errors (1k timeouts)\n20k requests in 10.01s, 3 MB read\n"
	for _, c := range []struct {
		log, counter string
		want         float64
	}{
		{text, "errors", 2000},
		{text, "errors_timeout", 1000},
		{text + "20k requests with mismatched body\nrequest pipeline was resetted 7 times\n", "mismatches", 20e3},
		{text + "20k requests with mismatched body\nrequest pipeline was reset 7 times\n", "resets", 7},
		{`{"url": "http://h:80", "latency": {"average": 1}, "requests": {"average": 10}, "errors": 0, "timeouts": 0, "non2xx": 5}`, "non_2xx", 5},
		{`{"latency":{"average":1},"requests":{"average":10},"errors":0,"timeouts":5,"non2xx":0,"url":"http://h:80"}`, "errors_timeout", 5},
	} {
		cells, err := Read("log", []byte(c.log))
		if err != nil || len(cells) != 1 || len(cells[0].Samples) != 1 {
			t.Fatalf("%s: %v, %+v", c.log, err, cells)
		}
		labtest.Equal(t, "url", cells[0].Params.Text("url"), "http://h:80")
		labtest.Equal(t, c.counter, cells[0].Samples[0].Counters[c.counter], c.want)
	}
}

// A run that is asked for is read, also behind what has no width or is a time; one that failed is an error.
func TestReadRun(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp.client.json"))
	for name, text := range map[string]string{"whole": "\ufeff" + document, "with times": "2026-11-20T13:00:00Z " + strings.ReplaceAll(document, "\n", "\n2026-11-20T13:00:00Z ")} {
		cell, err := ReadRun("iperf3", []byte(text))
		if err != nil || cell.Workload != "tcp_stream" {
			t.Errorf("%s: %q, %v", name, cell.Workload, err)
		}
	}
	for name, text := range map[string][]byte{"refused": read(t, "testdata/iperf3/refused.client.json"), "no run": []byte("hello")} {
		if _, err := ReadRun("iperf3", text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSpansOfTime(t *testing.T) {
	for text, want := range map[string]float64{"3ms": 0.003, "30s": 30, "2m": 120, "1h": 3600} {
		got, ok := parseSpan(text)
		labtest.Equal(t, text+" is a time", ok, true)
		labtest.Equal(t, text, got, want)
	}
}

// Buckets whose latencies are printed alike are one; the last has an end, too.
func TestQuantilesOfAHistogram(t *testing.T) {
	histogram := []bucket{{1e-6, 5}, {1e-6, 5}, {1, 10}}
	labtest.Between(t, "the lower quarter", quantile(histogram, 0.25), 0.9e-6, 1.1e-6)
	labtest.Between(t, "the slowest", quantile(histogram, 0.99), 1, 1.01)
}
