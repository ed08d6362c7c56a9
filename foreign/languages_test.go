package foreign

import (
	"fmt"
	"strings"
	"testing"

	"tare/test/labtest"
)

// ping of iputils 20240117 is translated: its summary has the same numbers at the same places.
func TestPingInOtherLanguages(t *testing.T) {
	for language, log := range map[string]string{
		"German": "PING h (10.0.0.9) 56(84) Bytes an Daten.\n64 Bytes von h (10.0.0.9): icmp_seq=1 ttl=64 Zeit=0,412 ms\n64 Bytes von h (10.0.0.9): icmp_seq=3 ttl=64 Zeit=0,388 ms\n\n" +
			"--- h ping-Statistik ---\n4 Pakete übertragen, 2 empfangen, 50% packet loss, Zeit 3002ms\nrtt min/avg/max/mdev = 0.388/0.400/0.412/0.012 ms\n",
		"French": "PING h (10.0.0.9) 56(84) octets de données.\n64 octets de h (10.0.0.9) : icmp_seq=1 ttl=64 temps=0.412 ms\n\n" +
			"--- statistiques ping h ---\n4 paquets transmis, 2 reçus, 50% packet loss, time 3002ms\nrtt min/avg/max/mdev = 0.388/0.400/0.412/0.012 ms\n",
	} {
		cells, err := Read("log.txt", []byte(log))
		if err != nil || len(cells) != 1 {
			t.Errorf("%s: %v", language, err)
			continue
		}
		metrics := cells[0].Samples[0].Metrics
		labtest.Equal(t, language, fmt.Sprint(metrics["loss"], metrics["rtt_mean"], cells[0].Params["size"], cells[0].Params["duration"]), "0.5 0.0004 56 3.002")
	}
}

// gh run view --log has a job, its step and a time before each line, journalctl in Spanish a month in small letters, Loki's export
// a time in nanoseconds, GitLab's jobs a stream.
func TestTimesBeforeLines(t *testing.T) {
	text := string(read(t, "testdata/wrk/latency.txt"))
	want, _ := Read("log.txt", []byte(text))
	for name, before := range map[string]string{
		"gh":      "load (2)\tRun wrk\t2026-01-02T03:04:%02d.1234567Z ",
		"journal": "nov 02 10:11:%02d node-a bench[812]: ",
		"gitlab":  "2026-01-02T03:04:%02d.123456Z 01O ",
		"loki":    "17672352%02d123456789\t",
	} {
		var log strings.Builder
		for n, line := range strings.Split(text, "\n") {
			fmt.Fprintf(&log, before+"%s\n", n%60, line)
		}
		cells, err := Read("log.txt", []byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		labtest.Equal(t, name, describe(cells), describe(want))
	}
}

// The server of iperf3 3.1 prints 0 for the end that it is not, and what it had until a client went away is of the receiver.
func TestServerOfOldVersions(t *testing.T) {
	const head = "Server listening on 5201\nAccepted connection from 10.0.0.1, port 40000\n[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40002\n"
	cells, err := Read("server.log", []byte(head+`[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
[  5]   0.00-1.00   sec   110 MBytes   923 Mbits/sec    3    311 KBytes
[  5]   1.00-2.00   sec   112 MBytes   940 Mbits/sec    0    321 KBytes
[ ID] Interval           Transfer     Bandwidth       Retr
[  5]   0.00-2.00   sec   222 MBytes   931 Mbits/sec    3             sender
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec                  receiver
`+head+`[ ID] Interval           Transfer     Bandwidth
[  5]   0.00-1.00   sec   100 MBytes   839 Mbits/sec
iperf3: error - the client has unexpectedly closed the connection
`))
	if err != nil || len(cells) != 2 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "sent", cells[0].Samples[0].Metrics["throughput"], 931e6)
	labtest.Equal(t, "direction", cells[1].Params["direction"], any(forward))
	labtest.Equal(t, "whose", strings.Contains(describe(cells[1:]), sendersFigure), false)
}

// netperf -P 0 leaves the heads of a table out: the command has what they say. A sockperf that was refused
// between two runs is none of them, and a command whose output was not read is said.
func TestRunsThatLackTheirHeads(t *testing.T) {
	cells, err := Read("log.txt", []byte("$ netperf -H h -t TCP_MAERTS -P 0\n131072  16384  16384    10.00    9312.44\n$ netperf -H h -t TCP_RR -P 0\n16384  131072 1        1       10.00    4512.33\n"+
		"$ netperf -H h -t TCP_RR -P 0 -- -k all\n5 4 3 2\n"))
	if err != nil || len(cells) != 2 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "figures", [2]float64{cells[0].Samples[0].Metrics["throughput"], cells[1].Samples[0].Metrics["rate"]}, [2]float64{9312.44e6, 4512.33})
	labtest.Equal(t, "not read", strings.Contains(describe(cells), "nothing was read of what"), true)

	cells, err = Read("log.txt", []byte("$ netperf -H h -t TCP_RR -P 0\n16384  131072 1        1       10.00    4512.33\n16384  131072 1        1       10.00    4711.09\n"))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "rows of a loop", strings.Contains(describe(cells), "the rows of several runs"), true)

	cells, err = Read("log.txt", []byte("$ netperf -H h -t UDP_STREAM -P 0\n212992   65507   10.00      180422      0    9455.08\n212992           10.00      150100           7866.10\n"))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "received", cells[0].Samples[0].Metrics["throughput"], 7866.10e6)
	labtest.Equal(t, "one run", strings.Contains(describe(cells), "several runs"), false)

	pong := "sockperf: == version #3.8-no.git ==\nsockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=20000; ReceivedMessages=19999\nsockperf: ====> avg-latency=24.100 (std-dev=2.110)\n"
	cells, err = Read("log.txt", []byte(pong+"sockperf: ERROR: Can`t connect socket (errno=111 Connection refused)\n"+pong))
	if err != nil || len(cells) != 3 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "status", fmt.Sprint(cells[0].Status == "ok", cells[1].Status == "ok", cells[2].Status == "ok"), "true false true")
}

// Where the columns behind the jitter were cut off, a server's summary is still of the receiver.
func TestServerThatWasCut(t *testing.T) {
	cells, err := Read("server.log", []byte("Accepted connection from 10.0.0.1, port 4000\n[ ID] Interval           Transfer     Bitrate         Jitter\n"+
		"[  5]   0.00-1.00   sec  11.9 MBytes  99.8 Mbits/sec  0.021 ms\n[  5]   1.00-2.00   sec  11.9 MBytes  99.6 Mbits/sec  0.019 ms\n"+
		"[  5]   0.00-2.00   sec  23.8 MBytes  99.7 Mbits/sec  0.019 ms\n"))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "whose", strings.Contains(describe(cells), sendersFigure), false)
}
