package foreign

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"tare/test/labtest"
)

// A run that was printed twice is one run, or it is said that it may be one.
func TestRunsThatArePrintedTwice(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp.client.json"))
	events := string(read(t, "testdata/iperf3/new-stream.client.txt"))
	stress := `time="2026-03-01T10:00:00Z" level=info msg="starting stress test run..."
time="2026-03-01T10:00:10Z" level=info msg="create/start/delete 202 containers in 10.100 seconds (20.000 c/sec) or (0.050 sec/c)" failures=0
`
	const asJSON = `{"total":202,"failures":0,"seconds":10.1,"containersPerSecond":20,"secondsPerContainer":0.05}`
	text := string(read(t, "testdata/wrk/latency.txt"))
	for _, c := range []struct {
		name, log string
		runs      int
		warning   string
	}{
		{"a document twice", document + document, 1, printedTwice},
		{"a document between others", document + text + document, 2, printedTwice},
		{"events and their document, as --json-stream-full-output prints them", events + documentOf(t, events), 1, printedTwice},
		{"a log and its document, as containerd-stress --json prints them", stress + asJSON, 1, printedTwice},
		{"a log twice", text + text, 2, maybeTwice},
		{"two documents", document + strings.ReplaceAll(document, `"bits_per_second":	1`, `"bits_per_second":	2`), 2, ""},
	} {
		cells, err := Read("log.txt", []byte(c.log))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		labtest.Equal(t, c.name+": runs", len(cells), c.runs)
		got := describe(cells)
		labtest.Equal(t, c.name+": said", strings.Contains(got, printedTwice) || strings.Contains(got, maybeTwice), c.warning != "")
		labtest.Equal(t, c.name, strings.Contains(got, c.warning), true)
	}
}

// documentOf is the document that a stream of events adds up to, with blanks as iperf3 writes it.
func documentOf(t *testing.T, events string) string {
	t.Helper()
	doc, _ := streamAt(strings.Split(events, "\n"), 0)
	if doc == nil {
		t.Fatal("no events")
	}
	var text bytes.Buffer
	if err := json.Indent(&text, doc, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return text.String() + "\n"
}

// iperf3 3.7 gives the sums of both ways of --bidir one name; the first is of the way from client to server.
func TestSumsOfOneName(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp-bidir.client.json"))
	older := strings.NewReplacer("_bidir_reverse", "", `"bidir":	1`, `"bidir":	0`).Replace(document)
	cells, err := Read("older.json", []byte(older))
	want, errWant := Read("newer.json", []byte(document))
	if err != nil || errWant != nil {
		t.Fatal(err, errWant)
	}
	labtest.Equal(t, "both ways", describe(cells), describe(want))
	labtest.Equal(t, "names that were taken off", strings.Count(older, "_bidir_reverse"), 0)
}
