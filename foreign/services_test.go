package foreign

import (
	"fmt"
	"strings"
	"testing"

	"tare/test/labtest"
)

// Logs into which several services printed, as docker compose, kubectl and others show them: the lines of
// each are read by themselves.
func TestServicesInOneLog(t *testing.T) {
	server, client := string(read(t, "testdata/iperf3/tcp.server.txt")), string(read(t, "testdata/iperf3/tcp.client.txt"))
	document := string(read(t, "testdata/iperf3/udp.server.json"))
	want := func(text string) string {
		cells, err := Read("alone", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return describe(cells)
	}
	for name, form := range map[string]string{
		"docker compose":          "iperf-%s-1  | %s",
		"docker compose, older":   "iperf_%s_1 | %s",
		"docker compose, times":   "%s-1  | 2026-03-01T10:00:00.123456789Z %s",
		"kubectl logs --prefix":   "[pod/iperf-%s-7d9f/perf] %s",
		"stern":                   "iperf-%s-7d9f perf %s",
		"journalctl":              "Mar 01 10:00:00 %s iperf3[812]: %s",
		"pdsh":                    "%s: %s",
		"iperf3 --title":          "%s:  %s",
		"a quotation of compose":  "> %s-1  | %s",
		"compose with its colour": "\x1b[33m%s-1  | \x1b[0m%s",
	} {
		for _, other := range []string{client, document} {
			a, b := linesOf(form, "server", server), linesOf(form, "client", other)
			cells, err := Read("log.txt", []byte(alternating(a, b)))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			labtest.Equal(t, name, describe(cells), want(server)+want(other))
		}
		one, err := Read("log.txt", []byte("Attaching to it\n"+strings.Join(linesOf(form, "client", client), "\n")))
		labtest.Equal(t, name+", one service", err, nil)
		labtest.Equal(t, name+", one service", describe(one), want(client))
	}
}

func linesOf(form, name, text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, fmt.Sprintf(form, name, strings.TrimSuffix(line, "\n")))
	}
	return lines
}

// alternating takes a line of each in turn.
func alternating(a, b []string) string {
	var all []string
	for n := range max(len(a), len(b)) {
		all = append(all, a[min(n, len(a)):min(n+1, len(a))]...)
		all = append(all, b[min(n, len(b)):min(n+1, len(b))]...)
	}
	return strings.Join(all, "\n") + "\n"
}

// Two runs at the same time in one terminal, with no names before their lines, are refused: nobody can
// see whose each line is.
func TestTwoRunsInOneTerminal(t *testing.T) {
	text := string(read(t, "testdata/iperf3/tcp.client.txt"))
	second := strings.NewReplacer("port 52574", "port 52575", "17.5 G", "7.75 G", "14.3 G", "7.43 G", "15.1 G", "7.51 G", "15.6 G", "7.56 G").Replace(text)
	rows := func(text string) string { return text[strings.Index(text, "[ ID]"):] }
	for name, logs := range map[string][2]string{
		"whole":                {text, second},
		"without their heads":  {rows(text), rows(second)},
		"of which one is late": {rows(text), "\n" + rows(second)},
	} {
		cells, err := Read("log.txt", []byte(alternating(strings.Split(logs[0], "\n"), strings.Split(logs[1], "\n"))))
		if err == nil || !strings.Contains(err.Error(), "the lines of two runs are mixed") || !strings.Contains(err.Error(), "by itself") {
			t.Errorf("%s: %v, %s", name, err, describe(cells))
		}
	}
}

// Two runs of wrk in one terminal print their heads at once, and their figures when they end.
func TestTwoRunsOfWrkInOneTerminal(t *testing.T) {
	text := string(read(t, "testdata/wrk/latency.txt"))
	at := strings.Index(text, "  Thread Stats")
	cells, err := Read("log.txt", []byte(text[:at]+text[:at]+text[at:]+text[at:]))
	if err == nil || !strings.Contains(err.Error(), "the figures of each come after 2 heads") {
		t.Errorf("%v, %s", err, describe(cells))
	}
}

// A log in one line is read as if its line ends were there.
func TestALogWithoutLineEnds(t *testing.T) {
	for _, path := range []string{"testdata/iperf3/tcp.client.txt", "testdata/iperf3/udp-p.client.txt", "testdata/iperf2/tcp-p.client.txt"} {
		text := string(read(t, path))
		cells, err := Read("log.txt", []byte(strings.ReplaceAll(text, "\n", " ")))
		want, errWant := Read("log.txt", []byte(text))
		if err != nil || errWant != nil {
			t.Fatal(err, errWant)
		}
		labtest.Equal(t, path, brief(cells), brief(want))
	}
}
