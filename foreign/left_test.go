package foreign

import (
	"fmt"
	"strings"
	"testing"

	"tare/result"
)

// What is left of a log is read as far as it goes, and each run of it by itself.
func TestWhatIsLeftOfALog(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"a client of iperf 2 that was cut after its connection", `------------------------------------------------------------
Client connecting to 10.0.0.2, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001`,
			`iperf tcp_stream side=client direction=forward flows=1`},
		{"rows of iperf 2 alone, of two runs that were cut", `[  3]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec
[  3]  1.0- 2.0 sec   112 MBytes   944 Mbits/sec
[  3]  0.0- 1.0 sec  56.0 MBytes   470 Mbits/sec
[  3]  1.0- 2.0 sec  56.0 MBytes   474 Mbits/sec`,
			"iperf tcp_stream flows=1 throughput=9.42e+08!\niperf tcp_stream flows=1 throughput=4.72e+08!"},
		{"two runs of a server of iperf 2", `------------------------------------------------------------
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
------------------------------------------------------------
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec
[  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40002
[  5]  0.0-10.0 sec  1.09 GBytes   934 Mbits/sec`,
			"iperf tcp_stream side=server direction=forward flows=1 throughput=9.41e+08\niperf tcp_stream side=server direction=forward flows=1 throughput=9.34e+08"},
		{"both ways with iperf 2, whose first connection is printed above the heading", `[  1] local 127.0.0.1 port 35266 connected with 127.0.0.1 port 5001 (full-duplex) (icwnd/mss/irtt=319/32741/16)
------------------------------------------------------------
Client connecting to 127.0.0.1, TCP port 5001
TCP window size: 3.76 MByte (default)
------------------------------------------------------------
[  2] local 127.0.0.1 port 35278 connected with 127.0.0.1 port 5001 (full-duplex) (icwnd/mss/irtt=319/32741/21)
[ ID] Interval       Transfer     Bandwidth
[  2] 0.0000-1.0042 sec   163 MBytes  1.36 Gbits/sec
[  1] 0.0000-1.0027 sec   653 MBytes  5.46 Gbits/sec
[ *2] 0.0000-1.0055 sec   141 MBytes  1.18 Gbits/sec
[ *1] 0.0000-1.0351 sec   510 MBytes  4.13 Gbits/sec
[SUM] 0.0000-1.0351 sec  1.43 GBytes  11.9 Gbits/sec`,
			`iperf tcp_stream side=client direction=bidir throughput=6.82e+09!`},
		{"iperf 2 with the size of its buffer in KByte", `Client connecting to 10.0.0.2, TCP port 5001 with pid 812
Write buffer size:  128 KByte
TCP window size: 85.0 KByte (default)
[  3]  0.0000-10.0012 sec  1.10 GBytes   941 Mbits/sec  8971/0          5     1023K/680 us  172985.17`,
			`iperf tcp_stream side=client direction=forward flows=1 size=131072 throughput=9.41e+08! retransmits=5`},
		{"the sum of iperf 2 without the totals of all its streams", `[  1] 0.0000-2.0039 sec  4.52 GBytes  19.4 Gbits/sec  36988/0          0     1023K/363(587) us  6664782
[SUM] 0.0000-2.0006 sec  8.89 GBytes  38.2 Gbits/sec  72819/0         2`,
			`iperf tcp_stream flows=1 throughput=3.82e+10! retransmits=2`},
		{"a server of iperf 2 under UDP that was cut", `Server listening on UDP port 5001
[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  3]  0.0- 1.0 sec   128 KBytes  1.05 Mbits/sec   0.021 ms    1/   90 (1.1%)
[  3]  1.0- 2.0 sec   128 KBytes  1.05 Mbits/sec   0.023 ms    8/   90 (8.9%)`,
			`iperf udp_stream side=server direction=forward flows=1 throughput=1.05e+06 loss=0.05 jitter=2.3e-05`},
		{"two streams of iperf3 without their sum", `[  5]   0.00-10.00  sec   562 MBytes   471 Mbits/sec    3             sender
[  5]   0.00-10.00  sec   561 MBytes   470 Mbits/sec                  receiver
[  7]   0.00-10.00  sec   561 MBytes   470 Mbits/sec    4             sender
[  7]   0.00-10.00  sec   560 MBytes   469 Mbits/sec                  receiver`,
			`iperf3 tcp_stream flows=2 throughput=9.39e+08 retransmits=7`},
		{"rows of iperf3 that end in a number of datagrams", `[  5]   0.00-1.00   sec  11.9 MBytes   100 Mbits/sec  382
[  5]   1.00-2.00   sec  11.9 MBytes   100 Mbits/sec  381`,
			`iperf3 udp_stream flows=1 throughput=1e+08!`},
		{"rows of iperf3 alone, of two runs that were cut", `[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0    269 KBytes
[  5]   1.00-2.00   sec   112 MBytes   944 Mbits/sec    0    269 KBytes
[  5]   0.00-1.00   sec  56.0 MBytes   470 Mbits/sec    3    269 KBytes
[  5]   1.00-2.00   sec  56.0 MBytes   474 Mbits/sec    4    269 KBytes`,
			"iperf3 tcp_stream flows=1 throughput=9.42e+08! retransmits=0\niperf3 tcp_stream flows=1 throughput=4.72e+08! retransmits=7"},
		{"rows of an iperf3 server, of a run of one interval and one that was cut", `[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec
[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec                  receiver
[  5]   0.00-1.00   sec   102 MBytes   857 Mbits/sec`,
			"iperf3 tcp_stream flows=1 throughput=9.4e+08\niperf3 tcp_stream flows=1 throughput=8.57e+08!"},
		{"two runs of one interval under UDP, of an iperf3 before 3.2", `[  5]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  0.020 ms  0/82 (0%)
[  5]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  0.020 ms  0/82 (0%)
[  5]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  0.030 ms  41/82 (50%)
[  5]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  0.030 ms  41/82 (50%)`,
			"iperf3 udp_stream flows=1 throughput=950000 loss=0 jitter=2e-05\niperf3 udp_stream flows=1 throughput=950000 loss=0.5 jitter=3e-05"},
		{"two streams under UDP, of an iperf3 before 3.2", `Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82
[  6]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82
[SUM]   0.00-1.00   sec   232 KBytes  1.90 Mbits/sec  164
[  4]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  90
[  6]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  90
[SUM]   1.00-2.00   sec   256 KBytes  2.10 Mbits/sec  180
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-2.00   sec   244 KBytes  1.00 Mbits/sec  0.020 ms  43/172 (25%)
[  4] Sent 172 datagrams
[  6]   0.00-2.00   sec   244 KBytes  1.00 Mbits/sec  0.030 ms  0/172 (0%)
[  6] Sent 172 datagrams
[SUM]   0.00-2.00   sec   488 KBytes  2.00 Mbits/sec  0.025 ms  43/344 (12%)`,
			`iperf3 udp_stream side=client direction=forward flows=2 throughput=2e+06! loss=0.125 jitter=2.5e-05`},
		{"the end of a run of iperf3, and a whole one", `[  5]   0.00-10.00  sec  1.09 GBytes   937 Mbits/sec   34             sender
[  5]   0.00-10.00  sec  1.09 GBytes   935 Mbits/sec                  receiver
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 34000 connected to 10.0.0.2 port 5201
[  5]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7    269 KBytes
[  5]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7             sender
[  5]   0.00-1.00   sec   102 MBytes   856 Mbits/sec                  receiver`,
			"iperf3 tcp_stream flows=1 throughput=9.35e+08 retransmits=34\niperf3 tcp_stream side=client direction=forward flows=1 throughput=8.56e+08 retransmits=7"},
		{"an iperf3 that was cut after its connections", `Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 34000 connected to 10.0.0.2 port 5201
[  7] local 10.0.0.1 port 34002 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd`,
			`iperf3 tcp_stream side=client direction=forward flows=2`},
		{"a document that breaks off behind an interval", shortDocument[:strings.Index(shortDocument, "\n\t}]")],
			`iperf3 tcp_stream side=client direction=forward flows=1 size=131072 throughput=9.5e+08! retransmits=4`},
		{"a document that breaks off in a name, and a whole one", shortDocument[:strings.Index(shortDocument, `ransmits": 4}`+"\n\t}]")] + "\n" + shortDocument,
			"iperf3 tcp_stream side=client direction=forward flows=1 size=131072 throughput=9.5e+08!\niperf3 tcp_stream side=client direction=forward flows=1 size=131072 throughput=9e+08 retransmits=4"},
		{"a document of a client to which nothing came", `{"start": {"connecting_to": {"host": "h2", "port": 5201}, "test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 1}}, "intervals": [],
"end": {"sum_sent": {"start": 0, "end": 1, "bits_per_second": 1048576}, "sum_received": {"start": 0, "end": 1, "bits_per_second": 0}}}`,
			`iperf3 udp_stream side=client direction=reverse flows=1 throughput=0`},
		{"sockperf whose command alone names the protocol", `$ sockperf pp -i 10.0.0.2 --tcp -t 1
sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=1000; ReceivedMessages=1000
sockperf: ====> avg-latency=10.000 (std-dev=1.000)`,
			`sockperf tcp_rr side=client rate=2000 latency_one_way=1e-05!`},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := brief(cells); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A head is no run before it is connected, and a server's is none before it has figures.
func TestHeadsAloneAreNoRun(t *testing.T) {
	for _, head := range []string{
		"Client connecting to 10.0.0.2, TCP port 5001\nTCP window size: 85.0 KByte (default)\n",
		"Server listening on TCP port 5001\n[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000\n",
		"Connecting to host 10.0.0.2, port 5201\n",
	} {
		if cells, err := Read("head.txt", []byte(head)); err == nil || !strings.Contains(err.Error(), "without a run") {
			t.Errorf("%q: %s, %v", head, brief(cells), err)
		}
	}
}

// The steps of a run whose first are lost count from the first that is left, and all are there.
func TestStepsOfTheEndOfALog(t *testing.T) {
	for name, log := range map[string]string{
		"text": `[  5]  20.00-21.00  sec   112 MBytes   940 Mbits/sec    0    269 KBytes
[  5]  21.00-22.00  sec   112 MBytes   944 Mbits/sec    0    269 KBytes`,
		"events": `{"event":"interval","data":{"streams":[],"sum":{"start":20,"end":21,"bits_per_second":940000000}}}
{"event":"interval","data":{"streams":[],"sum":{"start":21,"end":22,"bits_per_second":944000000}}}`,
	} {
		cells, err := Read(name, []byte(log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v, %s", name, err, describe(cells))
		}
		series := cells[0].Samples[0].Series
		if got := fmt.Sprint(series[result.StepEnds], series["throughput"]); got != "[1 2] [9.4e+08 9.44e+08]" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
