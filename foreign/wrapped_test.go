package foreign

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"tare/test/labtest"
)

// What loggers, mails and languages do to the lines of a run leaves its numbers as they are: Docker's json-file
// driver, zap's fields, logrus, Ansible's debug task, a mail of 64 columns, iperf where decimals have a comma.
func TestWhatWrapsARun(t *testing.T) {
	text := string(read(t, "testdata/iperf3/tcp.client.txt"))
	quoted := func(s string) string { j, _ := json.Marshal(s); return string(j) }
	var docker strings.Builder
	for line := range strings.Lines(text) {
		docker.WriteString(`{"log":` + quoted(line) + `,"stream":"stdout","time":"2026-03-01T10:00:00Z"}` + "\n")
	}
	want, err := Read("log.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]string{
		"docker":              docker.String(),
		"a field of an event": `{"level":"info","msg":"finished","output":` + quoted(text) + "}\n",
		"keys and values":     `time="2026-03-01T10:00:00Z" level=info msg=` + quoted(text) + "\n",
		"python":              "{'changed': True, 'stdout': '" + strings.ReplaceAll(text, "\n", `\n`) + "', 'rc': 0}",
		"ansible":             "ok: [a] => {\n    \"rc\": 0,\n    \"stdout\": " + quoted(text) + ",\n}\n",
		"a narrow mail":       strings.NewReplacer("  sender", "\n  sender", "  receiver", "\n  receiver", " KBytes ", "\nKBytes ").Replace(text),
		"commas":              commaAfter(text),
	} {
		cells, err := Read("log.txt", []byte(log))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		labtest.Equal(t, name, brief(cells), brief(want))
	}
}

// commaAfter writes the decimals of rows with a comma.
func commaAfter(text string) string {
	return expressionOf(`(\d)\.(\d+)(-| +sec| [KMG]?B| [KMG]?b)`).ReplaceAllString(text, "$1,$2$3")
}

// A document of a tool in a logger's field is that document; one that begins as a logger's line stays one.
func TestDocumentsInLogs(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp.client.json"))
	inside, _ := json.Marshal(map[string]string{"level": "info", "message": document})
	want, err := Read("want.json", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := Read("log.json", inside)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "cells", describe(cells), describe(want))
}

// esnet/iperf 1143: the error with which a client ends comes behind its document, and is no second run. That
// another could not connect is one.
func TestAnErrorBehindADocument(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp.client.json"))
	for line, runs := range map[string]int{
		"iperf3: error - unable to send control message: Broken pipe":     1,
		"iperf3: error - unable to connect to server: Connection refused": 2,
	} {
		cells, err := Read("log.json", []byte(document+"\n"+line+"\n"))
		if err != nil || len(cells) != runs {
			t.Fatalf("%s: %v, %d", line, err, len(cells))
		}
		if runs == 1 {
			labtest.Equal(t, line, strings.Join(cells[0].Samples[0].Warnings, ";"), "unable to send control message: Broken pipe")
		}
	}
}

// The server of iperf3 3.21, whose client was stopped, gives what was carried until then as carried until its last
// interval; in a UDP run of 3.1 the server may print its client's sum. Its intervals say another rate.
func TestASummaryBesideItsIntervals(t *testing.T) {
	cells, err := Read("log.txt", []byte(`Accepted connection from 10.0.0.1, port 40070
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40080
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.10 GBytes  9.45 Gbits/sec    8   1023 KBytes
[  5]   1.00-2.01   sec   664 MBytes  5.52 Gbits/sec   10   1023 KBytes
[  5]   1.00-2.01   sec   664 MBytes  5.52 Gbits/sec   10   1023 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-2.01   sec  2.13 GBytes  9.09 Gbits/sec   18            sender
iperf3: the client has terminated
`))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "warning", strings.Contains(strings.Join(cells[0].Metrics[0].Warnings, ";"), "broken off by the other end"), true)
	labtest.Equal(t, "rate", fmt.Sprintf("%.3g", cells[0].Metrics[0].Value), "7.48e+09")
}

// hping3 and arping end with a line as ping's: it makes no run of ping. A ping below them is one.
func TestAnEndingIsNoRunOfPing(t *testing.T) {
	const hping = "HPING h (eth0 10.1.0.8): S set, 40 headers + 0 data bytes\nlen=44 ip=10.1.0.8 ttl=64 DF id=0 sport=22 flags=SA seq=0 win=29200 rtt=1.6 ms\n\n" +
		"--- h hping statistic ---\n5 packets transmitted, 5 packets received, 0% packet loss\nround-trip min/avg/max = 1.6/5.5/11.9 ms\n"
	const arping = "ARPING 10.0.0.2\n42 bytes from 02:42:0a:00:00:02 (10.0.0.2): index=0 time=6.412 usec\n\n--- 10.0.0.2 statistics ---\n" +
		"2 packets transmitted, 2 packets received,   0% unanswered (0 extra)\n"
	for tool, log := range map[string]string{"hping3": hping, "arping": arping} {
		cells, err := Read("log.txt", []byte(log))
		if err == nil || !strings.Contains(err.Error(), "this is "+tool+"'s output") {
			t.Errorf("%s: %v, %s", tool, err, brief(cells))
		}
		ping, _ := os.ReadFile("testdata/ping/plain.txt")
		cells, err = Read("log.txt", append([]byte(log), ping...))
		alone, _ := Read("log.txt", ping)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, tool, brief(cells), brief(alone))
	}
}

// iperf3 --sctp is no TCP, and iperf3.exe names its version in words.
func TestOtherProtocolsAndNames(t *testing.T) {
	const row = "[  5]   0.00-3.00   sec   321 MBytes   898 Mbits/sec                  receiver\n"
	cells, err := Read("log.txt", []byte("$ iperf3 -c h --sctp\n"+row))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "workload", cells[0].Workload, "sctp_stream")
	cells, err = Read("log.txt", []byte("iperf3.exe version 3.19.1\n"+row))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "version", cells[0].Params["tool_version"], any("3.19.1"))
}

// netperf -P 0 leaves the head of its CSV out: the command says what the values are.
func TestColumnsOfACommand(t *testing.T) {
	cells, err := Read("log.txt", []byte("$ netperf -P 0 -t TCP_RR -H h -- -o P50_LATENCY,P99_LATENCY,STDDEV_LATENCY\n34,55,2.5\n"))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "workload", cells[0].Workload, "tcp_rr")
	labtest.Equal(t, "p50", cells[0].Samples[0].Metrics["rtt_p50"], 34e-6)
	labtest.Equal(t, "p99", cells[0].Samples[0].Metrics["rtt_p99"], 55e-6)
}

// netperf -j, or -O as Cilium's documents have it, prints a table of columns that were chosen: its figures are
// not those of the classic test whose head is above it.
func TestChosenColumnsAreNoClassicTest(t *testing.T) {
	cells, err := Read("log.txt", []byte(`MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h () port 0 AF_INET : first burst 0
Minimum      Mean         90th         Maximum      Stddev       Transaction
Latency      Latency      Percentile   Latency      Latency      Rate
Microseconds Microseconds Latency      Microseconds Microseconds Tran/s
                          Microseconds
31           36.35        41           213          5.10         27411.500
`))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "figures", len(cells[0].Metrics), 0)
	labtest.Equal(t, "size", cells[0].Params["size"], nil)
	labtest.Equal(t, "warning", strings.Contains(warnings(cells), "give those of -k"), true)
}

// containerd writes the time, the stream and whether a line is whole before each line of a pod's log file.
func TestFilesOfACRI(t *testing.T) {
	document := string(read(t, "testdata/iperf3/tcp.client.json"))
	cells, err := Read("0.log", []byte("2026-03-01T10:00:00.1+02:00 stdout F "+strings.ReplaceAll(document, "\n", "\n2026-03-01T10:00:00.1+02:00 stdout F ")))
	want, errWant := Read("0.log", []byte(document))
	if err != nil || errWant != nil {
		t.Fatal(err, errWant)
	}
	labtest.Equal(t, "cells", describe(cells), describe(want))
}
