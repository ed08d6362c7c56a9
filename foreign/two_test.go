package foreign

import (
	"path/filepath"
	"strings"
	"testing"
)

// joined are logs of which the second is read as a part of the first, or with its parameters: one
// that was interrupted, one without a run, a server's beside a client's of the same port.
func joined() map[[2]string]bool {
	return map[[2]string]bool{
		{"iperf2/csv-dual.client.txt", "iperf2/csv-dual.client.txt"}:         true, // the same run
		{"iperf2/csv-dual.server.txt", "iperf2/csv-dual.server.txt"}:         true,
		{"iperf2/csv-timeless.server.txt", "iperf2/csv-timeless.server.txt"}: true,
		{"iperf2/csv-udp-p.client.txt", "iperf2/csv-udp-p.client.txt"}:       true,
		{"iperf2/csv-udp-p.server.txt", "iperf2/csv-udp-p.server.txt"}:       true,
		{"iperf2/tcp-r.server.txt", "iperf2/udp-ep.client.txt"}:              true,
		{"iperf2/tcp-ep.server.txt", "iperf2/udp-ep.client.txt"}:             true,
		{"iperf2/udp-e.server.txt", "iperf2/udp-ep.client.txt"}:              true,
		{"iperf3/gbyte.server.txt", "iperf3/int.client.txt"}:                 true,
		{"iperf3/int.client.txt", "iperf3/int.client.txt"}:                   true,
		{"iperf3/int.client.txt", "iperf3/int.server.txt"}:                   true,
		{"iperf3/new-text.server.txt", "iperf3/refused.client.txt"}:          true,
		{"qperf/conf.txt", "qperf/loop-vu.txt"}:                              true,
		{"qperf/conf.txt", "qperf/v.txt"}:                                    true,
	}
}

// Two logs in one text are read as each by itself.
func TestLogsOneAfterTheOther(t *testing.T) {
	var names []string
	for _, path := range fixtures(t) {
		if filepath.Ext(path) == ".txt" {
			names = append(names, path)
		}
	}
	for n, first := range names {
		for _, second := range []string{first, names[(n+1)%len(names)], names[(n+7)%len(names)]} {
			if first == second && strings.HasPrefix(string(read(t, first)), "{") {
				continue // one document
			}
			if joined()[[2]string{fixture(first), fixture(second)}] {
				continue
			}
			a, b := string(read(t, first)), string(read(t, second))
			cells, err := Read("log.txt", []byte(a+b))
			one, errOne := Read("log.txt", []byte(a))
			other, errOther := Read("log.txt", []byte(b))
			if (err != nil) != (errOne != nil && errOther != nil) {
				t.Errorf("%s, then %s: %v", first, second, err)
				continue
			}
			if got, want := withoutTwice(describe(cells)), describe(one)+describe(other); got != want {
				t.Errorf("%s, then %s: %s", first, second, differing(want, got))
			}
		}
	}
}

// withoutTwice is a description without what is said where a run is there twice.
func withoutTwice(text string) string {
	return strings.NewReplacer("  warning "+maybeTwice+"\n", "", "  warning "+printedTwice+"\n", "").Replace(text)
}

// fixture is a path in testdata.
func fixture(path string) string { return filepath.ToSlash(path[len("testdata/"):]) }
