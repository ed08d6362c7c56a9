package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLogsThatLackSomething takes each kind of line out of logs, and each name out of documents, or sets
// their numbers to 0, and compares what is then read otherwise with testdata/cut.golden, which -update writes.
func TestLogsThatLackSomething(t *testing.T) {
	var got strings.Builder
	for _, path := range []string{
		"autocannon/plain.txt", "autocannon/bad.txt", "autocannon/run.json", "containerd-stress/terminal.txt", "containerd-stress/run.json",
		"iperf2/tcp-trip.client.txt", "iperf2/tcp-p.client.txt", "iperf2/udp-e.client.txt", "iperf2/udp.server.txt", "iperf2/tcp-d.server.txt",
		"iperf3/tcp-p.client.txt", "iperf3/udp.client.txt", "iperf3/udp-p.server.txt", "iperf3/tcp-bidir.client.txt", "iperf3/tcp-omit.client.txt",
		"iperf3/tcp-r.client.json", "iperf3/tcp-bidir.client.json", "iperf3/udp.server.json", "iperf3/udp-r.client.json",
		"qperf/vvu.txt", "qperf/ub.txt", "sockperf/pp.txt", "sockperf/tp-tcp.txt", "sockperf/ul-rtt.txt",
		"sysbench/read_only.txt", "sysbench/cpu.txt", "sysbench/histogram.txt", "wrk/latency.txt", "wrk/non2xx.txt", "iperf2/tcp-ep.server.txt", "iperf3/int.client.txt", "iperf3/two.server.txt", "autocannon/short.json",
		"netperf/udp-loss.txt", "netperf/rr-burst.txt", "ping/dup.txt", "h2load/missing.txt", "ghz/some.json",
	} {
		text := string(read(t, filepath.Join("testdata", path)))
		whole := readAs(path, text)
		cuts := otherLinesOf(text)
		if strings.HasSuffix(path, ".json") {
			cuts = otherNamesOf(t, text)
		}
		for _, what := range slices.Sorted(maps.Keys(cuts)) {
			if other := otherLines(whole, readAs(path, cuts[what])); other != "" {
				fmt.Fprintf(&got, "== %s %s\n%s", path, what, other)
			}
		}
	}
	golden := filepath.Join("testdata", "cut.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, golden)); got.String() != want {
		t.Errorf("what is read differs from %s; -update writes it\n%s", golden, differing(want, got.String()))
	}
}

func readAs(path, text string) string {
	cells, err := Read(filepath.Base(path), []byte(text))
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), ": give the output of ") // each tool that is read
		return describe(cells) + "error " + what + "\n"
	}
	return describe(cells)
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	digit  = regexp.MustCompile(`[0-9]`)
)

// otherLinesOf is a log without its first line of each kind, and with zeros in it: those that differ in
// numbers are one kind.
func otherLinesOf(text string) map[string]string {
	logs, seen := map[string]string{}, map[string]bool{}
	lines := strings.SplitAfter(text, "\n")
	for n, line := range lines {
		kind := digits.ReplaceAllString(strings.Join(strings.Fields(line), " "), "0")
		if kind == "" || seen[kind] {
			continue
		}
		seen[kind] = true
		name := fmt.Sprintf("line %02d: %s", n+1, strings.TrimSpace(line))
		logs["without "+name] = strings.Join(slices.Concat(lines[:n], lines[n+1:]), "")
		logs["zeros in "+name] = strings.Join(slices.Concat(lines[:n], []string{digit.ReplaceAllString(line, "0")}, lines[n+1:]), "")
	}
	return logs
}

// otherNamesOf is a document without all values of each name, and with a zero in the place of each number.
func otherNamesOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	namesIn(doc, names)
	docs := map[string]string{}
	for name := range names {
		for what, other := range map[string]any{"without " + name: without(doc, name, false), "zeros as " + name: without(doc, name, true)} {
			short, err := json.MarshalIndent(other, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			docs[what] = string(short) + "\n"
		}
	}
	return docs
}

func namesIn(doc any, names map[string]bool) {
	switch v := doc.(type) {
	case map[string]any:
		for name, value := range v {
			names[name] = true
			namesIn(value, names)
		}
	case []any:
		for _, value := range v {
			namesIn(value, names)
		}
	}
}

// without takes all values of a name out of a document; or else sets its numbers to zero.
func without(doc any, name string, zero bool) any {
	switch v := doc.(type) {
	case map[string]any:
		other := map[string]any{}
		for n, value := range v {
			_, number := value.(float64)
			switch {
			case n != name || zero && !number:
				other[n] = without(value, name, zero)
			case zero:
				other[n] = 0.0
			}
		}
		return other
	case []any:
		other := make([]any, len(v))
		for n, value := range v {
			other[n] = without(value, name, zero)
		}
		return other
	}
	return doc
}

// otherLines are the lines of two descriptions that only one of them has, cut to what one reads.
func otherLines(whole, short string) string {
	var out strings.Builder
	was, is := strings.Split(whole, "\n"), strings.Split(short, "\n")
	for _, side := range []struct {
		mark       string
		own, other []string
	}{{"-", was, is}, {"+", is, was}} {
		for _, line := range side.own {
			if !slices.Contains(side.other, line) {
				fmt.Fprintf(&out, "%s %.150s\n", side.mark, line)
			}
		}
	}
	return out.String()
}
