package foreign

import (
	"path/filepath"
	"strings"
	"testing"

	"tare/test/labtest"
)

// allWarnings are those of a run and of its metrics.
func allWarnings(t *testing.T, log string) string {
	t.Helper()
	cells, err := Read("log", []byte(log))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range cells {
		for _, m := range c.Metrics {
			texts = append(texts, m.Warnings...)
		}
		texts = append(texts, c.Samples[0].Warnings...)
	}
	return strings.Join(texts, "\n")
}

// Clients of 3.18 and 3.22 beside servers of 3.9 and 3.12, a tenth lost: the document, the text of one stream
// and the sum of two print 0 %.
func TestLossThatANewClientDoesNotPrint(t *testing.T) {
	for file, want := range map[string]struct {
		loss float64
		say  string
	}{
		"older-server.client.json":     {0.089, "0 of 503 datagrams lost are 0 %"},
		"older-server-p.client.txt":    {0.110, "the sum says 0 of 1006 datagrams lost, its streams 111 of 1006"},
		"older-server-3.18.client.txt": {0.103, "bytes did not arrive: the loss is that of the bytes"},
	} {
		log := string(read(t, filepath.Join("testdata", "iperf3", file)))
		cells, err := Read(file, []byte(log))
		if err != nil {
			t.Fatal(err)
		}
		loss := cells[0].Samples[0].Metrics["loss"]
		labtest.Between(t, file, loss, want.loss-0.002, want.loss+0.002)
		if said := allWarnings(t, log); !strings.Contains(said, twoFigures) || !strings.Contains(said, want.say) {
			t.Errorf("%s: %s", file, said)
		}
	}
}

// 3.9 names the sums of both directions of --bidir alike, also a server's of UDP, which has no sum_sent.
func TestDirectionsOfAnOldDocument(t *testing.T) {
	for file, want := range map[string]string{
		"old-bidir.client.json":     "client bidir 459 back 479",
		"old-bidir.server.json":     "server bidir 459 back 502",
		"old-udp-bidir.server.json": "server bidir 7 back 8",
	} {
		cells, err := Read(file, read(t, filepath.Join("testdata", "iperf3", file)))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v", file, err)
		}
		labtest.Equal(t, file, bothWays(cells[0]), want)
	}
}

func TestFiguresThatContradictEachOther(t *testing.T) {
	const udp = "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
	for _, c := range []struct{ name, log, want string }{
		{"rate and amount of one line", "Connecting to host 10.0.0.2, port 5201\n[  5]   0.00-10.00  sec  1.09 GBytes   470 Mbits/sec    3             sender\n[  5]   0.00-10.00  sec  1.09 GBytes   470 Mbits/sec                  receiver", "the same line says 4.7e+08 bit/s"},
		{"more received than sent", "Connecting to host 10.0.0.2, port 5201\n[  5]   0.00-10.00  sec   562 MBytes   471 Mbits/sec    3             sender\n[  5]   0.00-10.00  sec  1.09 GBytes   937 Mbits/sec                  receiver", "bytes were received of"},
		{"lost bytes without lost datagrams", udp + "[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8562 (0%)  sender\n[  5]   0.00-10.00  sec  10.7 MBytes  9.00 Mbits/sec  0.020 ms  0/8562 (0%)  receiver", "the loss is that of the bytes"},
		{"another loss than that of the bytes", udp + "[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8562 (0%)  sender\n[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.020 ms  2000/8562 (23%)  receiver", "2000 of 8562 datagrams lost are 23.4 %, but 0 of"},
		{"rows that agree", udp + "[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8562 (0%)  sender\n[  5]   0.00-10.00  sec  10.7 MBytes  9.00 Mbits/sec  0.020 ms  860/8562 (10%)  receiver", ""},
		{"a client, and the server that it asked", udp + "[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8562 (0%)  sender\n\nServer output:\nAccepted connection from 10.0.0.1, port 40000\n" +
			"[  5]   0.00-10.00  sec  10.7 MBytes  9.00 Mbits/sec  0.020 ms  860/8562 (10%)  receiver", "the client says 1e+07, and the server, which counted what arrived, 9e+06: this is the server's"},
		{"a document with the server's text", `{"start": {"connecting_to": {"host": "h2", "port": 5201}, "test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 0}}, "intervals": [],
"end": {"sum": {"start": 0, "end": 3, "bytes": 389512, "bits_per_second": 1038698, "jitter_ms": 0.19, "lost_packets": 0, "packets": 269}},
"server_output_text": "Accepted connection from 10.0.0.1, port 40000\n[  5]   0.00-3.04   sec   274 KBytes   739 Kbits/sec  0.190 ms  75/269 (28%)  receiver\n"}`,
			"the client says 0, and the server, which counted what arrived, 0.279: this is the server's"},
	} {
		said := allWarnings(t, c.log)
		if c.want == "" && strings.Contains(said, twoFigures) || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}

// A rate of few digits, as -f T prints it, is that of its amount.
func TestRatesOfFewDigits(t *testing.T) {
	for row, want := range map[string]float64{
		"[  5]   0.00-10.00  sec  36.2 MBytes  0.00 Tbits/sec                  receiver": 3.0367e7,
		"[  5]   0.00-10.00  sec  36.2 MBytes  0.03 Gbits/sec                  receiver": 3.0367e7,
		"[  5]   0.00-10.00  sec  36.2 MBytes  30.4 Mbits/sec                  receiver": 3.04e7,
		"[  5]   0.00-0.00   sec  10.0 KBytes  0.03 Gbits/sec                  receiver": 3e7,
	} {
		r, ok := parseRow(row)
		labtest.Equal(t, row+" is a row", ok, true)
		labtest.Between(t, row, r.bits, want*0.999, want*1.001)
	}
}

// Loss and jitter of iperf3 that nobody counted, and what a division by nothing leaves.
func TestFiguresOfNothingOfIperf(t *testing.T) {
	const server = "Server listening on 5201\nAccepted connection from 10.0.0.1, port 40000\n"
	for _, c := range []struct{ name, log, want, say string }{
		{"a server that sends", server + "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n[  5]   0.00-1.00   sec  2.38 MBytes  20.0 Mbits/sec  1785\n[  5]   0.00-1.00   sec  2.38 MBytes  20.0 Mbits/sec  0.000 ms  0/1785 (0%)  sender",
			"iperf3 udp_stream side=server direction=reverse flows=1 throughput=2e+07!", lossNotKnown},
		{"the same before 3.2", server + "[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n[  5]   0.00-1.00   sec  2.38 MBytes  20.0 Mbits/sec  1785\n[  5]   0.00-1.00   sec  2.38 MBytes  20.0 Mbits/sec  0.000 ms  0/1785 (0%)",
			"iperf3 udp_stream side=server direction=reverse flows=1 throughput=2e+07!", lossNotKnown},
		{"a jitter longer than the run", server + "[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  51200998871.204 ms  0/16 (0%)\n[  5]   0.00-1.02   sec   128 KBytes  1.03 Mbits/sec  963437124.181 ms  0/16 (0%)  receiver",
			"iperf3 udp_stream side=server direction=forward flows=1 throughput=1.03e+06 loss=0", "can't be: it is left out"},
		{"intervals in which nothing came", server + "[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.020 ms  1/17 (5.9%)\n[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec  -nan ms  0/0 (-nan%)\n[  5]   2.00-3.00   sec  0.00 Bytes  -nan bits/sec  0.020 ms  0/0 (-nan%)\n[  5]   0.00-3.00   sec   128 KBytes   350 Kbits/sec  0.020 ms  1/17 (5.9%)  receiver",
			"iperf3 udp_stream side=server direction=forward flows=1 throughput=350000 loss=0.0588235 jitter=2e-05", "1 of its numbers are nan or infinite"},
		{"a document with them", `{"start": {"accepted_connection": {"host": "h1", "port": 5201}, "version": "iperf 3.0.11", "test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 0}},
"intervals": [{"sum": {"start": 0, "end": 1, "bits_per_second": 0, "lost_percent": -nan}}, {"sum": {"start": 1, "end": 2, "bits_per_second": 98000, "lost_percent": 1}}],
"end": {"sum": {"start": 0, "end": 2, "bytes": 12250, "bits_per_second": 49000, "jitter_ms": 0.452, "lost_packets": 1, "packets": 50, "lost_percent": 2}}}`,
			"iperf3 udp_stream side=server direction=forward flows=1 throughput=49000 loss=0.02 jitter=0.000452", "1 of its numbers are nan or infinite"},
		{"a client that was stopped first", "Connecting to host 10.0.0.2, port 5201\n[SUM]   0.00-0.00   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)  sender\n[SUM]   0.00-0.00   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)  receiver\niperf3: interrupt - the client has terminated",
			"iperf3 udp_stream side=client direction=forward throughput=0 failed: interrupted before anything was carried: interrupt - the client has terminated", ""},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		labtest.Equal(t, c.name, brief(cells), c.want)
		if said := allWarnings(t, c.log); !strings.Contains(said, c.say) {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}
