package peers

import (
	"maps"
	"math"
	"strings"
	"testing"
)

// Outputs of the real tools, shortened.
const (
	iperf3TCPOutput = `{"start": {"version": "iperf 3.12"}, "end": {
		"sum_sent": {"seconds": 1.0, "bits_per_second": 36e9, "retransmits": 3},
		"sum_received": {"start": 0, "end": 1.000036, "seconds": 1.000036, "bits_per_second": 35.5e9},
		"sender_tcp_congestion": "cubic", "receiver_tcp_congestion": "cubic"}}`
	iperf3UDPOutput = `{"start": {"version": "iperf 3.12", "test_start": {"protocol": "UDP"}}, "end": {
		"sum_received": {"end": 2.0, "seconds": 2.0, "bits_per_second": 227774456.1, "jitter_ms": 0.01, "lost_packets": 10377, "packets": 455265}}}`
	iperf3Refused = `{"start": {"connected": [], "version": "iperf 3.12"}, "error": "unable to connect to server: Connection refused"}`

	iperfFlowsOutput = `[ ID] Interval       Transfer     Bandwidth
[  7] 0.0000-0.9949 sec  353024 KBytes  2862028 Kbits/sec
[  1] 0.0000-1.0006 sec  342272 KBytes  2774502 Kbits/sec
[SUM] 0.0000-1.0036 sec  2760576 KBytes  22538238 Kbits/sec
`
	iperfUDPOutput = `[  1] Sent 378918 datagrams
[  1] Server Report:
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  1] 0.0000-1.2500 sec  23530 KBytes  192763 Kbits/sec   0.000 ms 2445/378917 (0.65%)
`
	nuttcpTCPOutput  = "megabytes=6010.1250 real_seconds=1.00 rate_Mbps=50412.3984 tx_cpu=81 rx_cpu=66 retrans=0 rtt_ms=0.07\n"
	nuttcpUDPOutput  = "megabytes=22.1110 real_seconds=1.00 rate_Mbps=185.4737 tx_cpu=98 rx_cpu=21 drop=311 pkt=362578 data_loss=0.08586\n"
	qperfTCPOutput   = "tcp_bw:\n    bw  =  46967816192 bits/sec\n"
	qperfRROutput    = "tcp_lat:\n    latency  =  38759.6899 ns\n"
	sockperfTPClient = "sockperf: Total of 408836 messages sent in 1.000 sec\nsockperf: Summary: Message Rate is 408640 [msg/sec]\n"
	sockperfTPServer = "sockperf: Test end (interrupted by user)\nsockperf: Total 407320 messages received and handled\n"
	sockperfPPOutput = `sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=13159; ReceivedMessages=13158
sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=7031; ReceivedMessages=7030
sockperf: ====> avg-rtt=78.169 (std-dev=9.000)
sockperf: Summary: Round trip is 78.169 usec
sockperf: ---> percentile 99.900 =  306.455
sockperf: ---> percentile 99.000 =  200.475
sockperf: ---> percentile 50.000 =   66.648
`
	wrkOutput        = "  133087 requests in 1.10s, 20.82MB read\nRequests/sec: 121020.97\nTransfer/sec:     18.93MB\n"
	wrkWrong         = "  133087 requests in 1.10s, 20.82MB read\n  Non-2xx or 3xx responses: 133087\nRequests/sec: 121020.97\n"
	wrkBroken        = "  12 requests in 1.10s, 20.82MB read\n  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec:     11.97\n"
	abOutput         = "Complete requests:      31867\nFailed requests:        0\nRequests per second:    31865.50 [#/sec] (mean)\n"
	abWrong          = "Complete requests:      31867\nFailed requests:        7\nRequests per second:    31865.50 [#/sec] (mean)\n"
	heyOutput        = "Summary:\n  Total:\t1.0004 secs\n  Requests/sec:\t43849.0148\n\nStatus code distribution:\n  [200]\t43866 responses\n"
	heyWrong         = heyOutput + "\nError distribution:\n  [3]\tGet http://10.0.0.1/: dial tcp: connection refused\n"
	heyNotFound      = "Summary:\n  Requests/sec:\t43849.0148\n\nStatus code distribution:\n  [404]\t43866 responses\n"
	autocannonOutput = `{"url":"http://10.0.0.1/","duration":2,"errors":0,"timeouts":0,"non2xx":0,"2xx":59118,"latency":{"average":0.2},"requests":{"average":29500,"total":59118}}`
	autocannonWrong  = `{"url":"http://10.0.0.1/","duration":2,"errors":0,"timeouts":0,"non2xx":4,"2xx":59118,"latency":{"average":0.2},"requests":{"average":29500,"total":59122}}`
)

func TestReadTools(t *testing.T) {
	tools := listed(t).Tools
	for _, c := range []struct {
		name string
		tool string
		out  printed
		want values
	}{
		{"iperf3 tcp", "iperf3 tcp", printed{client: []byte(iperf3TCPOutput)}, values{"throughput": 35.5e9}},
		{"iperf3 udp", "iperf3 udp", printed{client: []byte(iperf3UDPOutput)}, values{"rate": (455265 - 10377) / 2.0}},
		{"iperf tcp", "iperf tcp", printed{server: []byte(iperfFlowsOutput)}, values{"throughput": 22538238e3}},
		{"iperf udp", "iperf udp", printed{client: []byte(iperfUDPOutput)}, values{"rate": (378917 - 2445) / 1.25}},
		{"nuttcp tcp", "nuttcp tcp", printed{client: []byte(nuttcpTCPOutput)}, values{"throughput": 50412.3984e6}},
		{"nuttcp udp", "nuttcp udp", printed{client: []byte(nuttcpUDPOutput)}, values{"rate": 362578 - 311}},
		{"qperf tcp", "qperf tcp", printed{client: []byte(qperfTCPOutput)}, values{"throughput": 46967816192}},
		{"qperf rr", "qperf tcp_rr", printed{client: []byte(qperfRROutput)}, values{"rtt_mean": 77.5193798e-6, "rate": 1 / 77.5193798e-6}},
		{"sockperf tp", "sockperf tp", printed{client: []byte(sockperfTPClient), server: []byte(sockperfTPServer)}, values{"rate": 407320}},
		{"sockperf pp", "sockperf tcp", printed{client: []byte(sockperfPPOutput)},
			values{"rtt_p50": 66.648e-6, "rtt_p99": 200.475e-6, "rtt_mean": 78.169e-6, "rate": 14060}},
		{"wrk", "wrk", printed{client: []byte(wrkOutput)}, values{"rate": 121020.97}},
		{"ab", "ab", printed{client: []byte(abOutput)}, values{"rate": 31865.5}},
		{"hey", "hey", printed{client: []byte(heyOutput)}, values{"rate": 43849.0148}},
		{"autocannon", "autocannon", printed{client: []byte(autocannonOutput)}, values{"rate": 29559}},
	} {
		got, err := tools[c.tool].Read.values(c.out)
		if err != nil || !maps.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a/b-1) < 1e-6 }) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

// TestReadToolsThatFailed: a tool that reports that something went wrong gives no
// number, and neither does one that printed nothing.
func TestReadToolsThatFailed(t *testing.T) {
	tools := listed(t).Tools
	reno := strings.ReplaceAll(iperf3TCPOutput, `"cubic"`, `"reno"`)
	for _, c := range []struct {
		name string
		tool string
		out  string
		want string
	}{
		{"iperf3 refused", "iperf3 tcp", iperf3Refused, "Connection refused"},
		{"iperf3 with another control", "iperf3 tcp", reno, "reno"},
		{"wrk with wrong answers", "wrk", wrkWrong, "neither 2xx nor 3xx"},
		{"wrk with broken connections", "wrk", wrkBroken, "read 3"},
		{"ab with failures", "ab", abWrong, "7 requests failed"},
		{"hey with failures", "hey", heyWrong, "connection refused"},
		{"hey with wrong answers", "hey", heyNotFound, "404"},
		{"autocannon with wrong answers", "autocannon", autocannonWrong, "4 responses"},
	} {
		if got, err := tools[c.tool].Read.values(printed{client: []byte(c.out)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", c.name, got, err, c.want)
		}
	}
	for name, tool := range tools {
		if got, err := tool.Read.values(printed{}); err == nil {
			t.Errorf("%s: %v is read from nothing", name, got)
		}
	}
}
