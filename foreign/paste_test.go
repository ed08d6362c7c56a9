package foreign

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"tare/result"
)

// brief writes the cells in short: what a table of pastes compares.
func brief(cells []result.Cell) string {
	var out []string
	for _, c := range cells {
		text := c.Mode + " " + c.Workload
		for _, name := range []string{"side", "direction", "flows", "size", "rate"} {
			if v := c.Params[name]; v != nil {
				text += fmt.Sprintf(" %s=%v", name, v)
			}
		}
		for _, m := range c.Metrics {
			text += fmt.Sprintf(" %s=%.6g", m.Name, m.Value)
			if len(m.Warnings) > 0 {
				text += "!"
			}
		}
		if c.Status != result.StatusOK {
			text += " " + c.Status + ": " + c.Reason
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestPastes(t *testing.T) {
	for _, c := range []struct{ name, paste, want string }{
		{"blanks lost, headings in Chinese, brackets lost", `# > 0.00-1.00sec112MBytes941Mbits/sec
# > 1.00-2.00sec110MBytes920Mbits/sec`,
			`iperf3 tcp_stream throughput=9.305e+08!`},
		{"a number that has run into another is nobody's", `Connecting to host 10.0.0.2, port 5201
[4]0.00-1.00sec112MBytes941Mbits/sec0269KBytes
[4]0.00-1.00sec112MBytes941Mbits/sec0sender
[4]0.00-1.00sec112MBytes940Mbits/secreceiver`,
			`iperf3 tcp_stream side=client direction=forward flows=1 throughput=9.4e+08 retransmits=0`},
		{"iperf3 before 3.2 under TCP", `Connecting to host 10.0.0.2, port 5201
[  4] local 10.0.0.1 port 34000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
[  4]   0.00-1.00   sec   114 MBytes   956 Mbits/sec   12    354 KBytes
...
[  4]   9.00-10.00  sec   111 MBytes   934 Mbits/sec    0    354 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Retr
[  4]   0.00-10.00  sec  1.09 GBytes   937 Mbits/sec   34             sender
[  4]   0.00-10.00  sec  1.09 GBytes   935 Mbits/sec                  receiver

iperf Done.`,
			`iperf3 tcp_stream side=client direction=forward flows=1 throughput=9.35e+08 retransmits=34`},
		{"iperf3 -O in 80 columns: the first interval is left out", `Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.13 GBytes  18.3 Gbits/sec   12   1023 KBytes       (o
[  5]   0.00-1.00   sec  2.19 GBytes  18.8 Gbits/sec   20   1023 KBytes
[  5]   1.00-2.00   sec  2.45 GBytes  21.0 Gbits/sec    9   1023 KBytes
[  5]   0.00-2.00   sec  4.64 GBytes  19.9 Gbits/sec   29             sender
[  5]   0.00-2.00   sec  4.64 GBytes  19.9 Gbits/sec                  receiver`,
			`iperf3 tcp_stream side=client direction=forward flows=1 throughput=1.99e+10 retransmits=29`},
		{"a server that sends, its summary cut before its word", `Server listening on 5201
Accepted connection from 10.0.0.1, port 60392
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec  11.9 MBytes   100 Mbits/sec  382
[  5]   1.00-2.00   sec  11.9 MBytes  99.9 Mbits/sec  381
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Tot
[  5]   0.00-2.00   sec  23.8 MBytes   100 Mbits/sec  0.000 ms  0/763 (0`,
			`iperf3 udp_stream side=server direction=reverse flows=1 throughput=1e+08!`},
		{"the last line of a client that was stopped", "[  5]   0.00-2.49   sec  0.00 Bytes  0.00 bits/sec                  receiver",
			`iperf3 tcp_stream flows=1 throughput=0!`},
		{"figures of sysbench that were cut", "sysbench 1.0.20\nCPU speed:\n    events per second:   267.95\nLatency (ms):\n         avg:            3.6\n         95th percentile:  15.\n",
			`sysbench cpu side=client rate=267.95`},
		{"iperf3 before 3.2 under UDP has one total", `Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82
[  4]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  90
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-2.00   sec   244 KBytes  1.00 Mbits/sec  0.023 ms  43/172 (25%)
[  4] Sent 172 datagrams`,
			`iperf3 udp_stream side=client direction=forward flows=1 throughput=1e+06! loss=0.25 jitter=2.3e-05`},
		{"its server's total holds no bytes", `Server listening on 5201
Accepted connection from 10.0.0.1, port 40000
[  5]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  0.020 ms  0/82 (0%)
[  5]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  0.023 ms  8/90 (8.9%)
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec  0.023 ms  8/172 (4.7%)`,
			`iperf3 udp_stream side=server direction=forward flows=1 throughput=1e+06! loss=0.0465116 jitter=2.3e-05`},
		{"nothing carried is 0", `Connecting to host 172.17.0.3, port 5201
[  5]   0.00-1.00   sec  87.4 KBytes   715 Kbits/sec    2   1.37 KBytes
[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1   1.37 KBytes
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec    3             sender
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec                  receiver`,
			`iperf3 tcp_stream side=client direction=forward flows=1 throughput=0 retransmits=3`},
		{"nothing arrived", `Connecting to host 172.17.0.3, port 5201
[  5]   0.00-2.00   sec  87.4 KBytes   358 Kbits/sec    3             sender
[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec                  receiver`,
			`iperf3 tcp_stream side=client direction=forward flows=1 throughput=0! retransmits=3`},
		{"a loss below zero is a fault of the tool", `[  5]   0.00-2.00   sec  11.9 MBytes  50.1 Mbits/sec  0.019 ms  -5/382 (-1.3%)  receiver`,
			`iperf3 udp_stream flows=1 throughput=5.01e+07 jitter=1.9e-05`},
		{"runs that follow each other without a heading", `[  4]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    269 KBytes
[  4]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0             sender
[  4]   0.00-1.00   sec   112 MBytes   940 Mbits/sec                  receiver
[  4]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7    269 KBytes
[  4]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7             sender
[  4]   0.00-1.00   sec   102 MBytes   856 Mbits/sec                  receiver`,
			"iperf3 tcp_stream flows=1 throughput=9.4e+08 retransmits=0\niperf3 tcp_stream flows=1 throughput=8.56e+08 retransmits=7"},
		{"a cut run before a whole one", `[  4]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    269 KBytes
[  4]   1.00-2.00   sec   112 MBytes   939 Mbits/sec    0    269 KBytes
$ iperf3 -c 10.0.0.2 -P 1 -l 64K -b 2G
[  4]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7    269 KBytes
[  4]   0.00-1.00   sec   102 MBytes   857 Mbits/sec    7             sender`,
			"iperf3 tcp_stream flows=1 throughput=9.4e+08! retransmits=0\niperf3 tcp_stream side=client direction=forward flows=1 size=65536 rate=2e+09 throughput=8.57e+08! retransmits=7"},
		{"iperf 2.0", `$ iperf -c 10.0.0.2 -u -b 100M
[  3]  0.0-10.0 sec   119 MBytes   100 Mbits/sec
[  3] Sent 85034 datagrams
[  3] Server Report:
[  3]  0.0-10.0 sec   107 MBytes  89.9 Mbits/sec   0.012 ms 8503/85034 (10%)`,
			`iperf udp_stream flows=1 rate=1.048576e+08 throughput=8.99e+07 loss=0.0999953 jitter=1.2e-05`},
		{"two tools in one file", `root@h1:~# qperf -t 10 -oo msg_size:1:64:*8 10.0.0.2 tcp_bw tcp_lat
tcp_bw:
    bw  =  1.13 MB/sec
tcp_bw:
    bw  =  9.05 MB/sec
tcp_bw:
    bw  =  68.2 MB/sec
tcp_lat:
    latency  =  34.2 us
root@h1:~# wrk -t2 -c10 -d10s http://10.0.0.2/
  2 threads and 10 connections
  100 requests in 2.00s, 1.00MB read
Requests/sec:  50.00
Transfer/sec:  512.00KB`,
			"qperf tcp_stream side=client direction=forward size=1 throughput=9.04e+06\nqperf tcp_stream side=client direction=forward size=8 throughput=7.24e+07\n" +
				"qperf tcp_stream side=client direction=forward size=64 throughput=5.456e+08\nqperf tcp_rr side=client latency_one_way=3.42e-05!\n" +
				"wrk http side=client throughput=4.1943e+06! rate=50"},
		{"two documents and one that breaks off", "$ iperf3 -J -c h2\n" + shortDocument + "\n" + shortDocument + "\n" + shortDocument[:strings.Index(shortDocument, `"end": {`)],
			strings.Repeat("iperf3 tcp_stream side=client direction=forward flows=1 size=131072 throughput=9e+08 retransmits=4\n", 2) +
				"iperf3 tcp_stream side=client direction=forward flows=1 size=131072 throughput=9.5e+08! retransmits=4"},
		{"autocannon without its frame", `Running 10s test @ http://10.0.0.2:3000
10 connections

Stat         Avg     Stdev  Max
Latency (ms) 4.51    1.2    39
Req/Sec      20583.6 1024   21519
Bytes/Sec    3.05 MB 150 kB 3.2 MB

206k requests in 10s, 30.5 MB read`,
			`autocannon http side=client throughput=2.44e+07! rate=20583.6 latency_mean=0.00451!`},
		{"three runs under one head", `Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bitrate
[  4]   0.00-10.00  sec   469 MBytes   393 Mbits/sec                  receiver

[  4]   0.00-10.00  sec   426 MBytes   357 Mbits/sec                  receiver

[  4]   0.00-10.00  sec   427 MBytes   358 Mbits/sec                  receiver`,
			"iperf3 tcp_stream side=client direction=forward flows=1 throughput=3.93e+08\niperf3 tcp_stream side=client direction=forward flows=1 throughput=3.57e+08\niperf3 tcp_stream side=client direction=forward flows=1 throughput=3.58e+08"},
		{"sysbench 0.5", `    transactions:                        500243 (8336.94 per sec.)
    read/write requests:                 7003402 (116717.16 per sec.)
    total time:                          60.0032s
         avg:                                  1.92ms
         approx.  95 percentile:               2.68ms`,
			`sysbench mysql side=client rate=8336.94 latency_mean=0.00192 latency_p95=0.00268`},
		{"qperf under UDP lost nothing", `udp_bw:
    send_bw     =     1.8 GB/sec
    recv_bw     =     1.8 GB/sec
    send_msgs   =   54,942 
    recv_msgs   =   54,942 `,
			`qperf udp_stream side=client direction=forward throughput=1.44e+10 loss=0`},
		{"sockperf under UDP lost a tenth", `sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=1000; ReceivedMessages=900
sockperf: avg-latency=10.000 (std-dev=1.000)
sockperf: # dropped messages = 100; # duplicated messages = 0; # out-of-order messages = 0`,
			`sockperf  side=client rate=1800 latency_one_way=1e-05! loss=0.1`},
		{"sysbench without its summary", `[ 1s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 5.00 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 300.00 qps: 6000.00 (r/w/o: 4200.00/1200.00/600.00) lat (ms,95%): 4.00 err/s: 0.00 reconn/s: 0.00`,
			`sysbench mysql side=client rate=200!`},
	} {
		cells, err := Read(c.name, []byte(c.paste))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := brief(cells); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

const shortDocument = `{
	"start": {
		"connecting_to": {"host": "h2", "port": 5201},
		"test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "duration": 1, "reverse": 0}
	},
	"intervals": [{
		"streams": [{"socket": 5, "start": 0, "end": 1, "bits_per_second": 950000000, "retransmits": 4}],
		"sum": {"start": 0, "end": 1, "bits_per_second": 950000000, "retransmits": 4}
	}],
	"end": {
		"sum_sent": {"start": 0, "end": 1, "bits_per_second": 950000000, "retransmits": 4},
		"sum_received": {"start": 0, "end": 1, "bits_per_second": 900000000}
	}
}`

// TestWindowsShellsWriteUTF16 reads what a redirect in PowerShell leaves.
func TestWindowsShellsWriteUTF16(t *testing.T) {
	text := "\ufeff[  4]   0.00-1.00   sec   102 MBytes   856 Mbits/sec                  receiver\r\n"
	var data []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	cells, err := Read("utf16", data)
	if err != nil || brief(cells) != "iperf3 tcp_stream flows=1 throughput=8.56e+08" {
		t.Errorf("got %s, %v", brief(cells), err)
	}
}

// TestWhatIsNoToolsOutput names the first line of it.
func TestWhatIsNoToolsOutput(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n\nDear all,\nthe network is slow.\n", `"Dear all,"`},
		{"I ran iperf3 and it was slow.", `"I ran iperf3 and it was slow."`},
		{"", "it is empty"},
		{" \n\t\n", "it is empty"},
		{`{"name": "something else"}`, `"{\"name\": \"something else\"}"`},
		{"Server listening on 5201\n", "without a run"},
	} {
		cells, err := Read("mail.txt", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mail.txt") {
			t.Errorf("%q: %s, %v; want an error with %s", c.text, brief(cells), err, c.want)
		}
	}
}

// TestTextsFullOfBracesEnd reads in a bounded time what opens documents and
// never closes them.
func TestTextsFullOfBracesEnd(t *testing.T) {
	text := strings.Repeat("{\"a\": [\n", 20_000) + strings.Repeat("{\"a\": 1, \"b\":\n", 20_000) + "[  4]   0.00-1.00   sec   102 MBytes   856 Mbits/sec                  receiver\n"
	cells, err := Read("braces", []byte(text))
	if err != nil || brief(cells) != "iperf3 tcp_stream flows=1 throughput=8.56e+08" {
		t.Errorf("got %s, %v", brief(cells), err)
	}
}

// TestStreamsOfEventsAreReadOnce reads a stream that no tool's is: four times as many lines take four times as
// much memory in all. Read anew for each line they would take sixteen times as much, and minutes.
func TestStreamsOfEventsAreReadOnce(t *testing.T) {
	allocated := func(lines int) float64 {
		text := strings.Repeat("{\"event\":\"interval\",\"data\":[]}\n", lines) + "[  4]   0.00-1.00   sec   102 MBytes   856 Mbits/sec                  receiver\n"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cells, err := Read("events", []byte(text))
		runtime.ReadMemStats(&after)
		if err != nil || brief(cells) != "iperf3 tcp_stream flows=1 throughput=8.56e+08" {
			t.Errorf("got %s, %v", brief(cells), err)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	few, many := allocated(1000), allocated(4000)
	if many > 6*few {
		t.Errorf("1000 lines take %.0f bytes, and 4000 %.0f", few, many)
	}
}
