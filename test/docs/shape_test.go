package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shaping takes from an output what changes from run to run: numbers, units,
// verdicts, footnotes, and what the machine is. Rows of tables keep their name.
var shaping = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`(?m)^ +\*\d+ .*\n(     .*\n)*`), ""},                                                                         // footnotes
	{regexp.MustCompile(`\*\d+`), ""},                                                                                                 // and their marks
	{regexp.MustCompile(`(?m)^ +\?: inconclusive.*\n`), ""},                                                                           // the legend of ?
	{regexp.MustCompile(`(?m)^- .*\n(  .*\n)*`), ""},                                                                                  // what follows from the tolls
	{regexp.MustCompile(`(?m)^  = no toll .*\n(  .*\n)*`), ""},                                                                        // the marks of a matrix
	{regexp.MustCompile(`(?s)Machine: [^\n]*\n(?:[^\n]+\n)*?\nTolls`), "Tolls"},                                                       // this machine, above a matrix
	{regexp.MustCompile(`(?s)Machine: .*?\nSet-up: `), "Machine: \nSet-up: "},                                                         // and above tables
	{regexp.MustCompile(`(?s)((Quiet|Fairly quiet|Noisy) machine|It is not known how quiet the machine was): .*?\nA toll`), "A toll"}, // its noise
	{regexp.MustCompile(`(?s)(\d+ comparisons?), .*?(\n\n|\n  host is|\n  \d+ block)`), "$1$2"},                                       // margins
	{regexp.MustCompile(`(?m)^(\S+, nic \w+, mtu \d+): .*$`), "$1"},
	{regexp.MustCompile(`comparisons?\b`), "comparisons"},
	{regexp.MustCompile(`\d+ to (\d+ blocks)`), "$1"},                                                                // what is decided has fewer
	{regexp.MustCompile(`(?m)^ {8,}.*\n( +network.*\n)?`), "columns\n"},                                              // which columns fit
	{regexp.MustCompile(`(?m)^( +(?:[├└│] ?)*)([a-z]+(?:, nic [a-z]+)?)( \(as [^)]*\))?  +[-+±\d·=!].*$`), "$1$2$3"}, // rows
	{regexp.MustCompile(`[-+±]?\d[\d.]*`), "N"},                                                                      // numbers
	{regexp.MustCompile(`\b[GMk]bit`), "bit"},                                                                        // and units
	{regexp.MustCompile(`\b(N?)[mun]?s\b`), "${1}s"},
}

func shape(text string) []string {
	text += "\n\n"
	for _, s := range shaping {
		text = s.pattern.ReplaceAllString(text, s.to)
	}
	// Two workloads share a table where it fits, and else have one each, with
	// the same rows.
	var paragraphs []string
	for _, p := range strings.Split(text, "\n\n") {
		paragraphs = append(paragraphs, strings.TrimSpace(p))
	}
	return strings.Fields(strings.Join(slices.Compact(paragraphs), "\n"))
}

// fits reports whether what a document shows has the shape of what was printed. A
// line of three dots matches anything.
func fits(shown, printed string) (missing string, ok bool) {
	words := shape(printed)
	parts := regexp.MustCompile(`(?m)^\.\.\.$`).Split(shown, -1)
	for n, part := range parts {
		want := shape(part)
		at := 0
		for at+len(want) <= len(words) && !slices.Equal(words[at:at+len(want)], want) {
			at++
			if n == 0 {
				break // the first part begins the output
			}
		}
		if at+len(want) > len(words) || n == 0 && at > 0 {
			return strings.Join(want, " "), false
		}
		words = words[at+len(want):]
	}
	if last := parts[len(parts)-1]; strings.TrimSpace(last) != "" && len(words) > 0 {
		return "(and then it ends, but more was printed: " + strings.Join(words, " ") + ")", false
	}
	return "", true
}

// anew gives what a document shows of an output with the words of what was printed now. A
// line of three dots stays: what is before it begins the output, what is after the last one
// ends it, and the rest is found by its shape.
func anew(shown, printed string) (text string, ok bool) {
	parts := regexp.MustCompile(`(?m)^\.\.\.\n`).Split(shown, -1)
	if len(parts) == 1 {
		return printed, true
	}
	lines := strings.SplitAfter(strings.TrimSuffix(printed, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	for n, part := range parts {
		long := strings.Count(part, "\n")
		at := 0
		switch {
		case long > len(lines):
			return shown, false
		case n == len(parts)-1:
			at = len(lines) - long
		case n > 0:
			for at+long <= len(lines) && !slices.Equal(shape(strings.Join(lines[at:at+long], "")), shape(part)) {
				at++
			}
		}
		if at+long > len(lines) {
			return shown, false
		}
		parts[n] = strings.Join(lines[at:at+long], "")
		lines = lines[at+long:]
	}
	return strings.Join(parts, "...\n"), true
}

func TestShownAnew(t *testing.T) {
	const printed = "one 5\ntwo 6\nthree 7\nfour 8\nfive 9\n"
	for shown, want := range map[string]string{
		"one 1\ntwo 2\n":             printed,
		"one 1\n...\nfive 3\n":       "one 5\n...\nfive 9\n",
		"...\nfive 3\n":              "...\nfive 9\n",
		"one 1\n...\nthree 3\n...\n": "one 5\n...\nthree 7\n...\n",
		"one 1\n...\nseven 3\n...\n": "",
	} {
		if got, ok := anew(shown, printed); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, want %q", shown, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	const printed = `tare quick: 2 networks
Machine: Linux 6.1, CPU A B,
2 CPUs.
Set-up: window 60.0 ms.
Noisy machine: ±3 %.
A toll is a cost.

same-host: tcp_rr (block)
           round trip p50
  network  us*1  verdict
  host     7.51  inconclusive
  veth     9.03  slower
  *1 foreign-cpu: other work kept 2.03 CPUs busy; and
     more
  2 comparisons, margin 2.0 %
  %)
  ?: inconclusive; with a number

result: x.json
`
	for _, c := range []struct {
		name, shown string
		ok          bool
	}{
		{"itself", printed, true},
		{"other numbers, machine and footnotes", `tare quick: 3 networks
Machine: Linux 7.2.
Set-up: window 80.0 us.
Quiet machine: ±0.1 %.
A toll is a cost.

same-host: tcp_rr (block)
           round trip p50  p99
  network  us  x  verdict
  host     17.51  equal
  veth     19  equal
  2 comparisons, margin 12.0 %

result: x.json
`, true},
		{"dots", "tare quick: 2 networks\n...\nresult: x.json\n", true},
		{"another row", strings.Replace(printed, "veth ", "ptp  ", 1), false},
		{"a row less", strings.Replace(printed, "  veth     9.03  slower\n", "", 1), false},
		{"another heading", strings.Replace(printed, "same-host", "cross-host", 1), false},
		{"ends early", "tare quick: 2 networks\n", false},
		{"another beginning", "tare slow: 2 networks\n...\n", false},
		{"dots and what is not there", "...\nno such line\n...\n", false},
	} {
		if missing, ok := fits(c.shown, printed); ok != c.ok {
			t.Errorf("%s: %v, want %v (%s)", c.name, ok, c.ok, missing)
		}
	}
}

// An answer's matrix keeps its rows, whatever was inconclusive.
func TestShapeOfAnAnswer(t *testing.T) {
	const printed = `tare quick: 3 networks
Machine: Linux 6.1, CPU A B,
2 CPUs.
Noisy machine: ±3 %.

Tolls compared with host: throughput in %, round trip p50 in us; + is worse
                  same host  cross
                             host
  network            %   us     %   us
  bridge             =    ·
  vxlan            +14 +1.6     · +5.0
  vxlan, nic tso                !    !
  = no toll beyond the margin; · inconclusive in this run; !
  failed.

- This run can detect tolls of 3 %
  of throughput.

result: x.json
`
	const other = `tare quick: 4 networks
Machine: Linux 7.2.
Quiet machine: ±0.1 %.

Tolls compared with host: throughput in %, round trip p50 in us; + is worse
           same host  cross
                      host
  network          %   us     %   us
  bridge           ·    =
  vxlan            ·    ·    +1   +5
  vxlan, nic tso              ·    ·
  = no toll beyond the margin; · inconclusive in this run.

- No comparison is inconclusive.

result: x.json
`
	if missing, ok := fits(other, printed); !ok {
		t.Errorf("other numbers differ: %s", missing)
	}
	if _, ok := fits(strings.Replace(printed, "  bridge ", "  macvlan", 1), printed); ok {
		t.Error("another row has the same shape")
	}
}
