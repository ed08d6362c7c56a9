package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// gated is a comparison with a value that is met, one that is not, and one that is missing.
func gated() []result.Comparison {
	return []result.Comparison{{
		Old: result.Compared{File: "old.json"}, New: result.Compared{File: "new.json"},
		Held: []result.Held{
			{Gate: "max-toll", Cell: "bridge cross-host tcp_rr", Metric: "rtt_p50", Limit: 0.1, Value: 0.02, Low: 0.01, High: 0.03, Met: true},
			{Gate: "max-toll", Cell: "vxlan cross-host tcp_rr", Metric: "rtt_p50", Limit: 0.1, Value: 0.2, Low: 0.19, High: 0.21},
		},
		Unmet: []result.Unmet{
			{Gate: "max-toll", Cell: "vxlan cross-host tcp_rr", Metric: "rtt_p50", Limit: 0.1, Value: 0.2, Low: 0.19},
			{Gate: "max-toll", Cell: "nat cross-host tcp_rr", Limit: 0.1, Reason: `failed: <a> & "b"`},
		},
	}}
}

func TestJUnitHasATestForEachValue(t *testing.T) {
	var text bytes.Buffer
	if err := JUnit(&text, gated()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatalf("%v:\n%s", err, text.String())
	}
	labtest.Equal(t, "suites", len(doc.Suites), 1)
	s := doc.Suites[0]
	labtest.Equal(t, "tests", s.Tests, 3)
	labtest.Equal(t, "failures", s.Failures, 2)
	labtest.Equal(t, "cases", len(s.Cases), 3)
	labtest.Equal(t, "the first passes", s.Cases[0].Failure == nil, true)
	labtest.Equal(t, "why the last fails", s.Cases[2].Failure.Message, `failed: <a> & "b"`)
}

func TestSummaryCountsWhatWasHeld(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"old.json", "--max-toll 10.0 %: 2 values held, 1 beyond it, 1 that could not be held", "| nat cross-host tcp\\_rr | failed: &lt;a&gt;"},
		"zh": {"old.json", "2 个值", "1 项无法检查"},
	} {
		var text bytes.Buffer
		if err := GatesMarkdown(&text, gated(), lang); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%s: no %q in\n%s", lang, part, text.String())
			}
		}
	}
}
