package foreign

import "testing"

// What generators of load print is read with its units, and figures that are of nothing are not.
func TestGeneratorsOfLoad(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"netperf's receiver of datagrams, in MByte/s", `MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   MBytes/sec

212992    1400   10.00      200000      0      26.70
212992           10.00      150000             20.03`,
			`netperf udp_stream side=client direction=forward flows=1 size=1400 throughput=1.68024e+08 loss=0.25`},
		{"an older netperf", `TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h2 (10.0.0.2) port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.00     941.31`,
			`netperf tcp_stream side=client direction=forward flows=1 size=16384 throughput=9.4131e+08`},
		{"a CSV of netperf with columns that were chosen", `MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 7 AF_INET to 10.0.0.2 () port 7 AF_INET : +/-2.500% @ 99% conf.  : first burst 0
Throughput,Throughput Units,Throughput Confidence Width (%),50th Percentile Latency Microseconds,99th Percentile Latency Microseconds,Minimum Latency Microseconds
10000.00,Trans/s,3.100,80,200,50`,
			`netperf tcp_rr side=client flows=1 rate=10000 rtt_p50=8e-05 rtt_p99=0.0002 rtt_mean=0.0001!`},
		{"values of netperf without a head", "THROUGHPUT=940.25\nTHROUGHPUT_UNITS=10^6bits/s\nPROTOCOL=TCP\nDIRECTION=Receive\nELAPSED_TIME=10.00",
			`netperf tcp_stream side=client direction=reverse flows=1 throughput=9.4025e+08`},
		{"several requests of netperf under way", `MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : first burst 7
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       10.00    80000.00
16384  131072`, `netperf tcp_rr side=client flows=1 size=1 rate=80000`},
		{"a ping that nobody answers", "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\nFrom 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n\n--- 10.0.0.9 ping statistics ---\n2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 1010ms",
			`ping icmp_rr side=client size=56 loss=1 failed: none of 2 packets was answered: Destination Host Unreachable`},
		{"a ping that was cut", "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.20 ms\n64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.40 ms",
			`ping icmp_rr side=client rtt_p50=0.0002! rtt_mean=0.0003`},
		{"a fortio in which some failed", `{"RunType":"HTTP","RequestedQPS":"1000","ActualQPS":998.5,"ActualDuration":10000000000,"NumThreads":4,"DurationHistogram":{"Count":9985,"Avg":0.0012,"Data":[{"Start":0.0009,"End":0.001,"Percent":60},{"Start":0.001,"End":0.004,"Percent":100}],
"Percentiles":[{"Percentile":50,"Value":0.00095},{"Percentile":99,"Value":0.0035}]},"RetCodes":{"200":9900,"503":85},"URL":"http://h:8080/"}`,
			`fortio http side=client rate=1000 rate=998.5! latency_mean=0.0012 latency_p50=0.00095 latency_p99=0.0035!`},
		{"a vegeta in which nothing succeeded", `{"latencies":{"mean":1034685,"50th":193899,"99th":12627173},"bytes_in":{"total":0},"duration":1000000000,"requests":20,"rate":20,"throughput":0,"success":0,"status_codes":{"0":20},"errors":["connection refused"]}`,
			`vegeta http side=client failed: all 20 requests failed: connection refused`},
		{"a new h2load, which has percentiles", `starting benchmark...
spawning thread #0: 10 total client(s). 1000 total requests
Application protocol: h2

finished in 100.00ms, 10000.00 req/s, 1.00MB/s
requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx
                 min         max         median      p95         p99         mean        sd         +/- sd
request     :      100us      5.00ms       400us       900us      2.00ms       500us       100us    90.00%`,
			`h2load http side=client throughput=8.38861e+06! rate=10000 latency_mean=0.0005 latency_p50=0.0004 latency_p95=0.0009 latency_p99=0.002`},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := brief(cells); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
