package foreign

import (
	"path/filepath"
	"strings"
	"testing"

	"tare/test/labtest"
)

// What a tool prints that is not read is named, and none of its numbers is another tool's.
func TestToolsThatAreNotRead(t *testing.T) {
	for tool, log := range map[string]string{
		"hey": `Summary:
  Total:	10.0021 secs
  Slowest:	0.0810 secs
  Requests/sec:	412.7

Latency distribution:
  50% in 0.0210 secs
Details (average, fastest, slowest):
  resp wait:	0.0200 secs, 0.0100 secs, 0.0800 secs`,
		"oha": `Summary:
  Success rate:	100.00%
  Requests/sec:	5021.1
  Size/sec:	3.1 MiB
Response time distribution:
  50.00% in 0.0019 secs`,
		"ab":              "This is ApacheBench, Version 2.3\nRequests per second:    812.10 [#/sec] (mean)\nTransfer rate:          91.2 [Kbytes/sec] received",
		"bombardier":      "Statistics        Avg      Stdev        Max\n  Reqs/sec     20000.00    1000.00   25000.00\n  Latency        6.20ms     1.10ms    50.00ms\n  Latency Distribution\n     50%     5.00ms",
		"dnsperf":         "DNS Performance Testing Tool\n  Queries sent:         5000\n  Queries per second:   811.2\n  Average Latency (s):  0.0021 (min 0.0001, max 0.09)",
		"pgbench":         "scaling factor: 10\nlatency average = 2.110 ms\ntps = 473.9 (without initial connection time)\nFATAL:  too many connections",
		"lagscope":        "lagscope 1.0.1\n01:13:26 INFO: Ping statistics for 10.0.9.4:\n    Number of successful Pings: 9\n\nPercentile       Latency(us)\n     50%         39",
		"nuttcp":          " 1121.1250 MB /  10.04 sec =  936.5000 Mbps 4 %TX 12 %RX 0 retrans 0.21 msRTT",
		"uperf":           "timestamp_ms:1610000000000.1 name:Txn2 nr_bytes:21474836480 nr_ops:327680",
		"ntttcp":          "Thread  Time(s) Throughput(KB/s) Avg B / Compl\n======  ======= ================ =============\n     0   10.010       585312.000     65536.000",
		"mtr":             "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\nMTR.0.95,1795970391,OK,h,1,h,0.00,2,0,0.03,0.05,0.03,0.08,0.03",
		"knb":             " Generator       : knb\n  Pod to pod :\n    TCP :\n      bandwidth = 8835 Mbit/s",
		"flent":           "Summary of rrul test run from 2026-03-01 10:00:00\n                   avg       median          # data pts\n Ping (ms) ICMP : 12.30        11.50 ms              350",
		"httping":         "--- http://h/ ping statistics ---\n2 connects, 2 ok, 0.00% failed, time 2002ms\nround-trip min/avg/max = 0.5/0.6/0.7 ms",
		"pscheduler":      "0.0 - 2.0      9.41 Gbps      3              9.38 Gbps\nNo further runs scheduled.",
		"perf-tests":      "MSS , Maximum, 96, 160, 224\n1 iperf TCP. Same VM using Pod IP ,24252.000000,22650,23224,24101",
		"nping":           "Max rtt: 0.043ms | Min rtt: 0.021ms | Avg rtt: 0.030ms\nNping done: 1 IP address pinged in 2.04 seconds",
		"ping of Windows": "Ping statistics for h:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\n    Minimum = 0ms, Maximum = 377ms, Average = 211ms",
		"cyclictest":      "T: 0 ( 1234) P:80 I:1000 C:  10000 Min:      2 Act:    4 Avg:    3 Max:      21",
		"hackbench":       "Each sender will pass 100 messages of 100 bytes\nTime: 0.462",
		"neper":           "num_transactions=1284531\nthroughput=128453.10\ntime_end=512634.401123912\nlatency_mean=0.000077",
		"owping":          "--- owping statistics from [h]:8861 to [i]:9173 ---\n100 sent, 0 lost (0.000%), 0 duplicates\none-way delay min/median/max = 0.12/0.2/0.45 ms, (err=0.5 ms)",
		"twping":          "--- twping statistics from [h]:8861 to [i]:9173 ---\nround-trip time min/median/max = 0.31/0.4/0.92 ms, (err=0.1 ms)",
		"TRex":            "-Per port stats table\n   opackets |         9821342\n Total-Tx        :      10.06 Gbps",
		"trafgen":         "     1000000 packets outgoing\n    64000000 bytes outgoing",
		"fortio":          "Sockets used: 8 (for perfect keepalive, would be 8)\nAll done 8000 calls (plus 8 warmup) 1.234 ms avg, 799.9 qps",
		"k6":              "metric_name,timestamp,metric_value\nhttp_req_tls_handshaking,1795984153,0.000000,,,,true,,GET,http://h/",
		"k8s-netperf":     "| RESULT TYPE | DRIVER | SCENARIO | AVG VALUE |\n| Stream | netperf | TCP_STREAM | 9100.1 (Mb/s) |",
		"redis-benchmark": `====== GET ======
  1000 requests completed in 0.02 seconds
Latency by percentile distribution:
50.000% <= 0.303 milliseconds (cumulative count 512)
Summary:
  throughput summary: 50000.00 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.322     0.144     0.303     0.495     0.703     1.311`,
		"cilium connectivity perf": "📋 Scenario        | Node       | Test            | Duration        | Min             | Mean\n📋 pod-to-pod      | same-node  | TCP_RR          | 10s             | 8µs             | 21µs",
	} {
		cells, err := Read("log.txt", []byte(log))
		if err == nil || !strings.Contains(err.Error(), tool+"'s output, which tare does not read") || !strings.Contains(err.Error(), "give the output of iperf3") {
			t.Errorf("%s: %s, %v", tool, brief(cells), err)
		}
	}
}

// redis-benchmark 6 has no head above its CSV.
func TestATableWithoutItsHeadIsNamed(t *testing.T) {
	_, err := Read("log.csv", []byte("\"PING_INLINE\",\"129870.13\"\n\"SET\",\"128205.13\"\n\"GET\",\"131578.95\"\n"))
	if err == nil || !strings.Contains(err.Error(), "redis-benchmark's output, which tare does not read") {
		t.Errorf("it is not named: %v", err)
	}
}

// A log of a service in logfmt, a mail, a table: each has a line such as some tool prints, and no run.
func TestALineMakesNoRun(t *testing.T) {
	for name, log := range map[string]string{
		"logfmt":          "time=2026-03-01T10:00:00Z level=info msg=started\ntime=2026-03-01T10:00:05Z level=warn msg=\"slow\" latency=12.4",
		"a rate":          "We had\nRequests/sec: 812.4\nbefore the change.",
		"percentiles":     "Percentile  Latency (ms)\n 50%  1.2\n 99%  8.1",
		"a database":      "FATAL:  password authentication failed\ntotal time: 12.1s",
		"a header":        "> Cookie: session=81\n< HTTP/1.1 200 OK",
		"a pull":          "pulling docker.io/library/alpine:latest\nworker 1 finished",
		"a refused login": "ssh: connect to host h port 22: Connection refused\ntime = 2 sec",
	} {
		if cells, err := Read("log.txt", []byte(log)); err == nil {
			t.Errorf("%s: %s", name, brief(cells))
		}
	}
}

// A run is read whatever another tool printed beside it, which is named; where that is in its
// midst, as mtr in the same terminal, the run is whole.
func TestARunBesideAToolThatIsNotRead(t *testing.T) {
	wrk := string(read(t, "testdata/wrk/latency.txt"))
	iperf := string(read(t, "testdata/iperf3/tcp.client.txt"))
	hey := "Summary:\n  Slowest:\t0.0810 secs\n  Requests/sec:\t412.7\nLatency distribution:\n  50% in 0.0210 secs\n  resp wait:\t0.0200 secs\n"
	mtr := "  1.|-- 10.0.0.1   0.0%    10    0.2   0.2   0.1   0.3   0.0 My traceroute"
	for _, c := range []struct{ name, log, run, tool string }{
		{"before", wrk + hey, wrk, "hey"},
		{"in its midst", interleaved(iperf, mtr), iperf, "mtr"},
		{"after", hey + wrk, wrk, "hey"},
	} {
		cells, err := Read("log.txt", []byte(c.log))
		alone, errAlone := Read("log.txt", []byte(c.run))
		if err != nil || errAlone != nil {
			t.Fatalf("%s: %v, %v", c.name, err, errAlone)
		}
		warning := "  warning beside it is " + c.tool + "'s output, which tare does not read\n"
		labtest.Equal(t, c.name, strings.Contains(describe(cells), warning), true)
		labtest.Equal(t, c.name, strings.ReplaceAll(describe(cells), warning, ""), describe(alone))
	}
}

// interleaved puts a line after each of a text.
func interleaved(text, line string) string {
	return strings.ReplaceAll(text, "\n", "\n"+line+"\n")
}

// What the tools print that are read shows none of the others.
func TestMarksOfOthers(t *testing.T) {
	for _, path := range fixtures(t) {
		if filepath.Ext(path) != ".txt" {
			continue // a document that is read
		}
		others := newOthers()
		for _, line := range clean(read(t, path)) {
			if parsers()[3].claim([]string{line}) != certain && others.meet(line) { // sockperf's own words begin its lines
				t.Errorf("%s: %q is %s", path, line, others.names())
			}
		}
	}
}

// ping that runs in the same terminal does not part the run of iperf3.
func TestTwoToolsInOneTerminal(t *testing.T) {
	iperf, ping := string(read(t, "testdata/iperf3/tcp.client.txt")), string(read(t, "testdata/ping/plain.txt"))
	cells, err := Read("log.txt", []byte(alternating(strings.Split(ping, "\n"), strings.Split(iperf, "\n"))))
	one, errOne := Read("log.txt", []byte(iperf))
	other, errOther := Read("log.txt", []byte(ping))
	if err != nil || errOne != nil || errOther != nil {
		t.Fatal(err, errOne, errOther)
	}
	labtest.Equal(t, "both", describe(cells), describe(other)+describe(one))
}
