package foreign

import (
	"testing"

	"tare/test/labtest"
)

// Pastes of which an issue or a page has some lines only: each run is read by itself, and nothing is made up.
func TestPickedLines(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"the tool of a container that is called as another", `kubectl exec -n netperf -it netperf-client -- iperf3 -c server -t 30 -P 4
[SUM]   0.00-30.01  sec  24.7 GBytes  7.07 Gbits/sec  5924             sender
[SUM]   0.00-30.01  sec  24.7 GBytes  7.07 Gbits/sec                   receiver
kubectl exec -n netperf -it netperf-client -- iperf3 -c server -u -b 10G -t 30
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-30.00  sec  4.36 GBytes  1.25 Gbits/sec  0.000 ms  0/3346278 (0%)  sender
[  5]   0.00-30.00  sec  4.35 GBytes  1.25 Gbits/sec  0.015 ms  2999/3346271 (0.09%)  receiver`,
			"iperf3 tcp_stream side=client direction=forward flows=4 throughput=7.07e+09 retransmits=5924\niperf3 udp_stream side=client direction=forward flows=1 rate=1e+10 throughput=1.25e+09 loss=0.000896221 jitter=1.5e-05"},
		{"a command that a shell was given", `kubectl exec pod -- \
  bash -lc 'iperf3 -c 10.0.0.2 -P 4 -t 10'
[SUM]   0.00-10.00  sec  18.4 GBytes  15.8 Gbits/sec
kubectl exec pod -- \
  bash -lc 'iperf3 -c 10.0.0.1 -P 4 -t 10'
[SUM]   0.00-10.00  sec  27.4 GBytes  23.6 Gbits/sec`,
			"iperf3 tcp_stream side=client direction=forward flows=4 throughput=1.58e+10!\niperf3 tcp_stream side=client direction=forward flows=4 throughput=2.36e+10!"},
		{"prose that names a command", `HOST_A enabled = 1, iperf3 -c HOST_B
HOST_B enabled = 1, iperf3 -s
[  4]   0.00-1.00   sec   112 MBytes   939 Mbits/sec    0   14.1 KBytes
[  4]   1.00-2.00   sec   111 MBytes   933 Mbits/sec    0   14.1 KBytes`,
			"iperf3 tcp_stream flows=1 throughput=9.36e+08! retransmits=0"},
		{"sums of other runs behind a run of one stream", `Connecting to host 10.1.0.4, port 5201
[  4] local 10.2.0.4 port 45070 connected to 10.1.0.4 port 5201
[ ID] Interval           Transfer     Bandwidth       Retr
[  4]   0.00-10.00  sec  2.30 GBytes  1.98 Gbits/sec  385             sender
[  4]   0.00-10.00  sec  2.30 GBytes  1.97 Gbits/sec                  receiver
64 flows:
[SUM]   0.00-10.00  sec  6.50 GBytes  5.58 Gbits/sec    6             sender
[SUM]   0.00-10.00  sec  6.44 GBytes  5.53 Gbits/sec                  receiver`,
			"iperf3 tcp_stream side=client direction=forward flows=1 throughput=1.97e+09 retransmits=385\niperf3 tcp_stream side=client direction=forward throughput=5.53e+09 retransmits=6"},
		{"both ends, each of which gave up", `[  4]  11.00-12.00  sec  12.6 KBytes   103 Kbits/sec  9
[  4]  12.00-13.00  sec  12.6 KBytes   103 Kbits/sec  9
iperf3: error - control socket has closed unexpectedly
[  5]  11.00-12.00  sec  12.6 KBytes   103 Kbits/sec  1.082 ms  0/9 (0%)
[  5]  12.00-13.00  sec  12.6 KBytes   103 Kbits/sec  0.833 ms  0/9 (0%)
iperf3: error - select failed: Bad file descriptor`,
			"iperf3 udp_stream flows=1 throughput=103000! failed: control socket has closed unexpectedly\niperf3 udp_stream flows=1 throughput=103000! loss=0 jitter=0.000833 failed: select failed: Bad file descriptor"},
		{"notes on datagrams out of order", `[  5]   0.00-60.00  sec  6.67 GBytes   955 Mbits/sec  0.009 ms  48/4863957 (0.00099%)
[  5]  60.00-120.00 sec  6.67 GBytes   955 Mbits/sec  0.009 ms  48/4863957 (0.00099%)
iperf3: OUT OF ORDER - incoming packet = 28979725 and received packet = 28979750 AND SP = 5`,
			"iperf3 udp_stream flows=1 throughput=9.55e+08! loss=9.86851e-06 jitter=9e-06"},
		{"summaries of 3.0", `[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec  1.24 GBytes  1.06 Gbits/sec  0.001 ms  135795/162217 (84%)
[  4] Sent 162217 datagrams
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec   124 MBytes   104 Mbits/sec  0.038 ms  13456/15827 (85%)`,
			"iperf3 udp_stream flows=1 throughput=1.06e+09! loss=0.837119 jitter=1e-06\niperf3 udp_stream flows=1 throughput=1.04e+08! loss=0.850193 jitter=3.8e-05"},
		{"what was sent, in a summary of 3.1 with -R", `iperf3.exe -c 10.10.10.2 -t 60 -u -b 1000m -R -l 5000.
[  4]  59.00-60.00  sec   112 MBytes   937 Mbits/sec  0.039 ms  2741/24956 (11%)
[  4]   0.00-60.00  sec  7.03 GBytes  1006 Mbits/sec  0.766 ms  177259/1511665 (12%)`,
			"iperf3 udp_stream side=client direction=reverse flows=1 size=5000 rate=1e+09 throughput=8.88036e+08! loss=0.117261 jitter=0.000766"},
		{"a count that has overflowed", `[  5] 86380.00-86400.00 sec  2.33 GBytes  1.00 Gbits/sec  0.003 ms  0/1801158 (0%)
[  5]   0.00-86400.04 sec  9.82 TBytes  1000 Mbits/sec  0.007 ms  0/2147483647 (0%)  receiver`,
			"iperf3 udp_stream flows=1 throughput=1e+09 jitter=7e-06"},
		{"the last word of an SCTP run", `iperf3 -c 10.0.0.2 -t 4 -i 2 --sctp
[  5]   0.00-2.00   sec  64.0 KBytes   262 Kbits/sec
[  5]   2.00-4.00   sec  0.00 Bytes  0.00 bits/sec
[  5]   0.00-4.00   sec  64.0 KBytes   131 Kbits/sec                  sender
[  5]   0.00-4.00   sec  64.0 KBytes   131 Kbits/sec`,
			"iperf3 sctp_stream side=client direction=forward flows=1 throughput=131000"},
		{"the connection of the next run", `Reverse mode, remote host 10.0.0.1 is sending
[  5] local 10.0.0.81 port 62551 connected to 10.0.0.1 port 5201
[  5]   0.00-60.00  sec  88.2 MBytes  12.3 Mbits/sec  2015             sender
[  5]   0.00-60.00  sec  86.0 MBytes  12.0 Mbits/sec                  receiver
[  5] local 10.0.0.81 port 62600 connected to 10.0.0.1 port 5201
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-10.00  sec  11.3 MBytes  9.45 Mbits/sec`,
			"iperf3 tcp_stream direction=reverse flows=1 throughput=1.2e+07 retransmits=2015\niperf3 tcp_stream direction=reverse flows=1 throughput=9.45e+06!"},
		{"some of the streams that were asked for", `$ iperf3 -c 10.0.0.2 -P 10 -R | grep -E "sender|receiver"
[  5]   0.00-10.09  sec  56.6 MBytes  47.0 Mbits/sec  3391             sender
[  5]   0.00-10.01  sec  27.8 MBytes  23.3 Mbits/sec                  receiver
[  7]   0.00-10.09  sec  66.6 MBytes  55.3 Mbits/sec  1511             sender`,
			"iperf3 tcp_stream side=client direction=reverse flows=10 throughput=2.33e+07 retransmits=4902"},
		{"streams that were left out beside their sum", `[  5]   0.00-60.00  sec   109 MBytes  15.2 Mbits/sec  3307             sender
[  5]   0.00-60.08  sec   104 MBytes  14.5 Mbits/sec                  receiver
[SUM]   0.00-60.00  sec   750 MBytes   105 Mbits/sec  23711    sender
[SUM]   0.00-60.08  sec   722 MBytes   101 Mbits/sec          receiver`,
			"iperf3 tcp_stream throughput=1.01e+08 retransmits=23711"},
		{"two sums of iperf 2, whose jitter is none", `[ ID] Interval            Transfer     Bandwidth        Jitter   Lost/Total
[  3] 0.0000-4.9589 sec   613 KBytes  1.01 Mbits/sec   0.756 ms    0/  628 (0%)
[  4] 0.0000-4.9592 sec   613 KBytes  1.01 Mbits/sec   0.644 ms    0/  628 (0%)
[SUM] 0.0000-4.9643 sec  1.20 MBytes  2.02 Mbits/sec   0.000 ms    0/ 1256 (0%)
[ ID] Interval            Transfer     Bandwidth        Jitter   Lost/Total
[  8] 0.0000-4.9594 sec   625 KBytes  1.03 Mbits/sec   0.080 ms    0/  628 (0%)
[  3] 0.0000-4.9435 sec   604 KBytes  1.00 Mbits/sec   0.120 ms    9/  628 (1.4%)
[SUM] 0.0000-4.9597 sec  1.20 MBytes  2.03 Mbits/sec   0.000 ms    9/ 1256 (0.72%)`,
			"iperf udp_stream flows=2 throughput=2.02e+06 loss=0 jitter=0.0007\niperf udp_stream flows=2 throughput=2.03e+06 loss=0.00716561 jitter=0.0001"},
		{"the server's report in the CSV of iperf 2", `20090314193213,10.0.0.1,63132,10.0.0.2,5001,3,0.0-10.0,1312710,1048592
20090314193213,10.0.0.2,5001,10.0.0.1,63132,3,0.0-10.0,1312710,1049881,0.838,9,893,1.008,0`,
			"iperf udp_stream direction=forward flows=1 throughput=1.04988e+06 loss=0.0100784 jitter=0.000838"},
		{"that of -d", `20240718030119,10.0.0.8,59608,10.1.0.4,5001,3,0.0-10.0,393577800,314824870
20240718030119,10.1.0.4,5001,10.0.0.8,59608,3,0.0-9.8,392785470,320693067,0.114,539,267740,0.201,0
20240718030119,10.0.0.8,5001,10.1.0.4,51402,4,0.0-10.0,368989110,295186328,0.060,3822,254835,1.500,0`,
			"iperf udp_stream direction=bidir throughput=3.20693e+08 loss=0.00201315 jitter=0.000114"},
		{"a stream of iperf 2 without its connection", `Server listening on TCP port 5001
Client connecting to 10.0.0.62, TCP port 5001
[  4] local 10.0.0.2 port 32880 connected with 10.0.0.62 port 5001
[  6] local 10.0.0.2 port 5001 connected with 10.0.0.62 port 55152
[  8]  0.0-120.0 sec  6.45 GBytes   462 Mbits/sec
[  6]  0.0-120.0 sec  6.46 GBytes   462 Mbits/sec
[  4]  0.0-120.0 sec  6.47 GBytes   463 Mbits/sec`,
			"iperf tcp_stream side=client direction=bidir throughput=4.63e+08!"},
		{"a window that iperf 2.0.13 could not read", `Client connecting to localhost, TCP port 5001 with pid 11813
[ ID] Interval        Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT        NetPwr
[  3] 0.00-5.00 sec  15961817088 Bytes  25537890933 bits/sec  121779/0          0       -1K/98 us  32573840.48`,
			"iperf tcp_stream side=client direction=forward flows=1 throughput=2.55379e+10! retransmits=0"},
		{"totals of two runs of iperf 2", `Before:
[  3]  0.0-10.0 sec  62.8 MBytes  52.6 Mbits/sec
After:
[  3]  0.0-10.0 sec  62.8 MBytes  52.8 Mbits/sec
On the host:
[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec`,
			"iperf tcp_stream flows=1 throughput=5.26e+07!\niperf tcp_stream flows=1 throughput=5.28e+07!\niperf tcp_stream flows=1 throughput=9.41e+08!"},
		{"some intervals of a run whose summary was cut", `Connecting to host 10.0.0.2, port 5201
[  4]   0.00-1.00   sec   384 KBytes  3.14 Mbits/sec  136   4.24 KBytes
[  4]   1.00-2.00   sec   384 KBytes  3.14 Mbits/sec  132   4.24 KBytes
[  4]   9.00-10.00  sec   384 KBytes  3.14 Mbits/sec  140   4.24 KBytes
[  4]   0.00-10.00  sec  3.75 MBytes  3.14 Mbits/sec`,
			"iperf3 tcp_stream side=client direction=forward flows=1 throughput=3.14e+06!"},
		{"a heading of a page", "# Throughput\n\n## Latency\nsockperf: Summary: Latency is 68.964 usec\nsockperf: ---> percentile 50.000 =   67.161",
			"sockperf  side=client latency_one_way=6.8964e-05!"},
		{"the means of sockperf", `sockperf ping-pong -i 10.42.131.14 -t 20
sockperf: Summary: Round trip is 84.117 usec
sockperf: ---> percentile 50.000 =  81.664`,
			"sockperf udp_rr side=client rtt_p50=8.1664e-05 rtt_mean=8.4117e-05"},
		{"a mail in quoted-printable", "sockperf: [Valid Duration] RunTime=3D1.000 sec; SentMessages=3D20000;=\n ReceivedMessages=3D20000\n" +
			"> sockperf: =3D=3D=3D=3D> avg-latency=3D24.571 (std-dev=3D93.297)\n> sockperf: ---> percentile 99.000 =3D   33.390",
			"sockperf  side=client rate=20000 latency_one_way=2.4571e-05!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells, err := Read("log.txt", []byte(c.log))
			if err != nil {
				t.Fatal(err)
			}
			labtest.Equal(t, "what is read", brief(cells), c.want)
		})
	}
}

// So it is with the tools of applications, whose lines a grep or a loop picked.
func TestPickedLinesOfApplications(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"sysbench at two levels", `Number of threads: 1
    transactions:                        7412   (123.51 per sec.)
    total time:                          60.0102s
         avg:                                    8.09
Number of threads: 4
    transactions:                        21056  (350.81 per sec.)
    total time:                          60.0211s
         avg:                                   11.40`,
			"sysbench mysql side=client rate=123.51 latency_mean=0.00809\nsysbench mysql side=client rate=350.81 latency_mean=0.0114"},
		{"intervals of sysbench at two levels", `[ 10s ] thds: 8 tps: 25.00 qps: 500.00 lat (ms,95%): 400.00
[ 20s ] thds: 8 tps: 0.00 qps: 0.00 lat (ms,95%): 0.00
[ 10s ] thds: 24 tps: 76.00 qps: 1520.00 lat (ms,95%): 400.00`,
			"sysbench mysql side=client rate=12.5!\nsysbench mysql side=client rate=76!"},
		{"a loop of sysbench", "for t in 1 2; do sysbench cpu --threads=$t run | grep 'events per second'; done\n    events per second:  1210.33\n    events per second:  2411.87",
			"sysbench cpu side=client rate=1210.33\nsysbench cpu side=client rate=2411.87"},
		{"sysbench that asked PostgreSQL", "sysbench oltp_read_only --db-driver=pgsql run\n    transactions:                        4170   (417.00 per sec.)",
			"sysbench  side=client rate=417"},
		{"rates of wrk", "wrk -c 100 http://10.0.0.2/\nRequests/sec:  23911.04\nTransfer/sec:      3.00MB\nRequests/sec:  24100.50\nTransfer/sec:      3.00MB",
			"wrk http side=client throughput=2.51658e+07! rate=23911\nwrk http side=client throughput=2.51658e+07! rate=24100.5"},
		{"a fork of wrk2 whose third column is a percentile", `Running 10s test @ http://10.0.0.2/
  2 threads and 5 connections
  Thread Stats   Avg      Stdev     99%   +/- Stdev
    Latency     1.23s   200.00ms   1.61s    60.00%
  100 requests in 10.00s, 1.00MB read
Requests/sec:     10.00`,
			"wrk http side=client throughput=838861! rate=10 latency_mean=1.23! latency_p99=1.61!"},
		{"two heads of wrk2", `  1 threads and 5 connections
  50.000%  189.95ms
Requests/sec:     10.00
  1 threads and 50 connections
  50.000%    1.21s
Requests/sec:      9.91`,
			"wrk2 http side=client rate=10 latency_p50=0.18995!\nwrk2 http side=client rate=9.91 latency_p50=1.21!"},
		{"ping whose packets could not be sent", "ping: sendto: Host is down\nping: sendto: Host is down\n6 packets transmitted, 0 packets received, 100.0% packet loss",
			"ping icmp_rr side=client loss=1 failed: none of 6 packets was answered: sendto: Host is down"},
		{"tables of netperf without their names", `netperf -H 10.0.0.2
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.00    2745.06
`,
			"netperf tcp_stream side=client direction=forward flows=1 size=16384 throughput=2.74506e+09"},
		{"times of ping", "rtt min/avg/max/mdev = 0.200/0.231/0.300/0.010 ms\nrtt min/avg/max/mdev = 0.200/0.228/0.300/0.010 ms",
			"ping icmp_rr side=client rtt_mean=0.000231\nping icmp_rr side=client rtt_mean=0.000228"},
		{"ping of OpenBSD", "10 packets transmitted, 9 packets received, 10.0% packet loss\nround-trip min/avg/max/std-dev = 0.211/0.302/1.902/0.100 ms",
			"ping icmp_rr side=client rtt_mean=0.000302 loss=0.1"},
		{"ping in Chinese", "PING 10.0.0.1 (10.0.0.1) 56(84) 字节的数据。\n已发送 3 个包， 已接收 2 个包, 33.3333% 包丢失, 耗时 2003 毫秒\nrtt min/avg/max/mdev = 0.512/0.556/0.600/0.044 ms",
			"ping icmp_rr side=client size=56 rtt_mean=0.000556 loss=0.333333"},
		{"netperf with bits of requests", "netperf -H 10.0.0.2 -f m -t omni -- -d rr -k THROUGHPUT,P50_LATENCY\nTHROUGHPUT=75.78\nP50_LATENCY=77",
			"netperf  side=client flows=1 rtt_p50=7.7e-05"},
		{"netperf that was cut", "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo : first burst 0\n" +
			"Interim result: 32000.00 Trans/s over 1.000 seconds ending at 1.000\nInterim result: 33000.00 Trans/s over 1.000 seconds ending at 2.000",
			"netperf tcp_rr side=client flows=1 rate=32500! rtt_mean=3.07692e-05!"},
		{"a note behind the figures", "h2load -n 100 -c 50 http://10.0.0.2/\n`finished in 20.01s, 3497.50 req/s, 1.10MB/s`  ← before\n`requests: 70000 total, 70000 started, 70000 done, 70000 succeeded, 0 failed, 0 errored, 0 timeout`",
			"h2load http side=client throughput=9.22747e+06! rate=3497.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells, err := Read("log.txt", []byte(c.log))
			if err != nil {
				t.Fatal(err)
			}
			labtest.Equal(t, "what is read", brief(cells), c.want)
		})
	}
}
