package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// A report of a run has a test for each cell, and those that were not measured say why.
func TestJUnitHasATestForEachCell(t *testing.T) {
	res := &result.Result{
		ID: "one", Started: "2026-11-26T13:00:00+01:00",
		Plan: result.Plan{Skipped: []result.SkippedNetwork{{Name: "cilium", Reason: "cilium is not installed"}}},
		Cells: []result.Cell{
			{Network: "vxlan", Path: "cross-host", Workload: "tcp_rr", Status: result.StatusOK, Params: result.Params{"nic": "full"}, Metrics: []result.Metric{
				{Name: "rtt_p50", Unit: "s", Value: 5e-5, Toll: &result.Toll{Value: 0.2, Verdict: "slower"}},
			}},
			{Network: "nat", Path: "cross-host", Workload: "tcp_rr", Status: result.StatusFailed, Reason: `no route <to> "host"` + "\x1b[31m"},
			{Network: "macvlan", Path: "own-host", Workload: "tcp_rr", Status: result.StatusSkipped, Reason: "it has no such path"},
		},
	}
	var text strings.Builder
	if _, err := writeJUnit(&text, []*result.Result{res}, ""); err != nil {
		t.Fatal(err)
	}
	var doc suites
	if err := xml.Unmarshal([]byte(text.String()), &doc); err != nil {
		t.Fatalf("%v:\n%s", err, text.String())
	}
	labtest.Equal(t, "suites", len(doc.Suites), 1)
	s := doc.Suites[0]
	labtest.Equal(t, "tests", s.Tests, 4)
	labtest.Equal(t, "failures", s.Failures, 1)
	labtest.Equal(t, "skipped", s.Skipped, 2)
	labtest.Equal(t, "time", s.Timestamp, "2026-11-26T12:00:00")
	labtest.Equal(t, "class", s.Cases[0].Class, "tare.cross-host.tcp_rr")
	labtest.Equal(t, "name", s.Cases[0].Name, "vxlan nic=full")
	labtest.Contains(t, "output", s.Cases[0].Output, "toll +20.0 %")
	labtest.Contains(t, "why the second failed", s.Cases[1].Failure.Message, `no route <to> "host"`)
	labtest.Equal(t, "why the third is skipped", s.Cases[2].Skipped.Message, "it has no such path")
	labtest.Equal(t, "why the network is skipped", s.Cases[3].Skipped.Message, "cilium is not installed")
}
