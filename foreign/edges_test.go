package foreign

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// warnings are those of all runs, in their order.
func warnings(cells []result.Cell) string {
	var all []string
	for _, c := range cells {
		all = append(all, c.Samples[0].Warnings...)
	}
	return strings.Join(all, "; ")
}

// A warning is there where its reason is, and nowhere else.
func TestWarningsAreOfWhatIsThere(t *testing.T) {
	const answer = "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.20 ms\n"
	const stress = `level=info msg="create/start/delete 202 containers in 10.100 seconds (20.000 c/sec) or (0.050 sec/c)" failures=0` + "\n"
	for _, c := range []struct{ name, log, runs, said string }{
		{"a ping that was cut", answer, "ping icmp_rr side=client rtt_mean=0.0002", "no summary: the text breaks off before it; one observation is all there is: it has no percentiles, and its mean is of one"},
		{"a ping that was cut, with a duplicate", answer + strings.Replace(answer, "\n", " (DUP!)\n", 1), "ping icmp_rr side=client rtt_mean=0.0002",
			"no summary: the text breaks off before it; 1 duplicates; one observation is all there is: it has no percentiles, and its mean is of one"},
		{"two that failed alike, without a figure", strings.Repeat("ping: h9: Name or service not known\n", 2),
			strings.Repeat("\nping icmp_rr side=client failed: h9: Name or service not known", 2)[1:], ""},
		{"a qperf in lower case, as some loggers make it", "tcp_bw:\n    bw  =  2.9 gb/sec\n", "qperf tcp_stream side=client direction=forward",
			`no figure: "2.9 gb/sec" has no unit of qperf's, whose letters are B for bytes and b for bits`},
		{"a log and a document of the same run, less its rounding", stress + `{"total":202,"failures":0,"seconds":10.1004,"containersPerSecond":19.9992,"secondsPerContainer":0.0500}`,
			"containerd-stress lifecycle side=client rate=20\ncontainerd-stress lifecycle side=client rate=19.9992", maybeTwice},
		{"a log and a document of another", stress + `{"total":202,"failures":0,"seconds":10.3,"containersPerSecond":19.6,"secondsPerContainer":0.051}`,
			"containerd-stress lifecycle side=client rate=20\ncontainerd-stress lifecycle side=client rate=19.6", ""},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		labtest.Equal(t, c.name+": runs", brief(cells), c.runs)
		labtest.Equal(t, c.name+": warnings", warnings(cells), c.said)
	}
}

// What the receiver got counts before what was sent.
func TestWhatTheReceiverGot(t *testing.T) {
	const text = "THROUGHPUT=941.00\nTHROUGHPUT_UNITS=10^6bits/s\nPROTOCOL=TCP\nDIRECTION=Send\nELAPSED_TIME=10.00\n"
	for received, want := range map[string]string{
		"930.00": "netperf tcp_stream side=client direction=forward flows=1 throughput=9.3e+08",
		"-1.00":  "netperf tcp_stream side=client direction=forward flows=1 throughput=9.41e+08", // not measured
		"0":      "netperf tcp_stream side=client direction=forward flows=1 throughput=9.41e+08",
	} {
		labtest.Equal(t, received, brief([]result.Cell{one(t, text+"REMOTE_RECV_THROUGHPUT="+received)}), want)
	}
}

// Where a paste lost the end of a line of h2load its other lines are read.
func TestTimesOfConnections(t *testing.T) {
	const text = `finished in 100.00ms, 10000.00 req/s, 1.00MB/s
requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout
                     min         max         mean         sd        +/- sd
time for request:       23us       666us        60us        52us    97.50%
time for connect:      TIMES   100.00%
`
	for times, want := range map[string]float64{"127us  653us  390us  371us": 390e-6, "127us  653us": 0} {
		cell := one(t, strings.Replace(text, "TIMES", times, 1))
		labtest.Equal(t, times, cell.Samples[0].Counters["connect_mean"], want)
		labtest.Equal(t, times+": requests", cell.Samples[0].Metrics["latency_mean"], 60e-6)
	}
}

// wrk has no latency of what was later than its timeout, so that fewer are behind its percentiles.
func TestPercentilesWithoutWhatWasLate(t *testing.T) {
	const text = `Running 10s test @ http://10.0.0.2/
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.00s   200.00ms   1.90s    70.00%
     99%    1.80s
  2000 requests in 10.00s, 2.00MB read
  Socket errors: connect 0, read 0, write 0, timeout LATE
Requests/sec:    200.00
Transfer/sec:    204.80KB
`
	const few = "too few observations for this percentile"
	for late, want := range map[string]bool{"10": false, "1500": true} {
		got := said(one(t, strings.Replace(text, "LATE", late, 1)), "latency_p99")
		labtest.Equal(t, late+" were late", strings.Contains(got, few), want)
	}
}

// Runs that few make are read as all others.
func TestRunsOfSeldomKinds(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"the test back of iperf 2.0, which marks nothing, by the server that read the one ahead", `------------------------------------------------------------
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
------------------------------------------------------------
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec
------------------------------------------------------------
Client connecting to 10.0.0.1, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  4] local 10.0.0.2 port 41000 connected with 10.0.0.1 port 5001
[  4]  0.0-10.0 sec   219 MBytes   184 Mbits/sec`,
			"iperf tcp_stream side=server direction=forward flows=1 throughput=9.41e+08\niperf tcp_stream side=server direction=reverse flows=1 throughput=1.84e+08!"},
		{"iperf3 that lost all", "Server listening on 5201\nAccepted connection from 10.0.0.1, port 40000\n" +
			"[  5]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  90/90 (100%)  receiver", "iperf3 udp_stream side=server direction=forward flows=1 throughput=0 loss=1"},
		{"iperf3 that was cut in no time", "Server listening on 5201\nAccepted connection from 10.0.0.1, port 40000\n" +
			"[  5]   0.00-0.00   sec  10.0 KBytes  30.0 Mbits/sec", "iperf3 tcp_stream side=server flows=1 throughput=3e+07!"},
		{"qperf that lost nothing", "udp_bw:\n    send_bw    =  1 GB/sec\n    recv_bw    =  1 GB/sec\n    send_msgs  =  19,290\n    recv_msgs  =  19,290\n",
			"qperf udp_stream side=client direction=forward throughput=8e+09 loss=0"},
		{"netperf of a pair that does not answer", `MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       10.00    0.00
16384  131072`, "netperf tcp_rr side=client flows=1 size=1 failed: no transaction was answered"},
		{"sockperf that does not count observations", `sockperf: == version #3.7-no.git ==
[ 0] IP = 10.0.0.2       PORT =  8302 # TCP
sockperf: [Valid Duration] RunTime=10.000 sec; SentMessages=50000; ReceivedMessages=50000
sockperf: ====> avg-rtt=98.441 (std-dev=5.000)
sockperf: ---> percentile 99.000 = 120.441`, "sockperf tcp_rr side=client rate=5000 rtt_p99=0.000120441 rtt_mean=9.8441e-05"},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		labtest.Equal(t, c.name, brief(cells), c.want)
	}
}

// autocannon's document has its times, or a duration alone.
func TestDurationsOfAutocannon(t *testing.T) {
	const times = `"start":"2026-11-20T13:00:00.000Z","finish":"2026-11-20T13:00:10.250Z",`
	for more, want := range map[string]float64{times + `"duration":10.2,`: 10.25, `"duration":10.2,`: 10.2} {
		cell := one(t, `{"url":"http://h:80",`+more+`"latency":{"average":1},"requests":{"average":10}}`)
		labtest.Equal(t, more, cell.Params.Number("duration"), want)
	}
}
