package foreign

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// bothWays writes what each direction of a run carried, in Mbit/s.
func bothWays(c result.Cell) string {
	text := fmt.Sprint(c.Params["side"], " ", c.Params["direction"])
	if v, found := c.Samples[0].Metrics["throughput"]; found {
		text += fmt.Sprintf(" %.0f", v/1e6)
	}
	if v, found := c.Samples[0].Counters["throughput_reverse"]; found {
		text += fmt.Sprintf(" back %.0f", v/1e6)
	}
	return text
}

// The link of these runs carried 800 Mbit/s from client to server and 200 back: which is which is seen.
// iperf 2.0.14 (old), 2.1.8 and 2.2.1 (new) mark what the server sends by a star at both ends, print the
// sum of both as [FD1] or [SUM], and for -d a second connection, at the server's port of the client.
func TestDirectionsOfIperf2(t *testing.T) {
	for file, want := range map[string][]string{
		"tcp-d.client.txt":        {"client bidir 787 back 190"},
		"tcp-d.server.txt":        {"server bidir 763 back 201"},
		"tcp-d-i.client.txt":      {"client bidir 778 back 189"},
		"tcp-d-i.server.txt":      {"server bidir 749 back 200"},
		"new-d-p.client.txt":      {"client bidir 462 back 193"},
		"new-d-p.server.txt":      {"server bidir 434 back 210"},
		"old-d-e.client.txt":      {"client bidir 781 back 191"},
		"old-d-e.server.txt":      {"server bidir 756 back 203"},
		"old-d.client.txt":        {"client bidir"}, // one figure for both
		"dual-e.client.txt":       {"client bidir 519 back 182"},
		"dual-e.server.txt":       {"server bidir 525 back 179"},
		"new-tradeoff.client.txt": {"client forward 749", "client reverse 191"},
		"new-tradeoff.server.txt": {"server forward 768", "server reverse 189"},
		"csv-dual.client.txt":     {"<nil> bidir 623 back 191"},
		"csv-dual.server.txt":     {"<nil> bidir 630 back 189"},
		"csv-timeless.server.txt": {"<nil> bidir 746 back 190"},
	} {
		cells, err := Read(file, read(t, filepath.Join("testdata", "iperf2", file)))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		var got []string
		for _, c := range cells {
			got = append(got, bothWays(c))
		}
		labtest.Equal(t, file, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCSVOfIperf2(t *testing.T) {
	const times = `20230418120001,10.1.0.2,41282,10.1.0.3,5001,3,0.0-5.0,625000000,1000000000
20230418120001,10.1.0.2,41284,10.1.0.3,5001,4,0.0-5.0,312500000,500000000
`
	for _, c := range []struct{ name, log, want string }{
		{"two streams and their sum", times + "20230418120001,10.1.0.2,0,10.1.0.3,5001,-1,0.0-5.0,937500000,1500000000",
			"iperf tcp_stream direction=forward flows=2 throughput=1.5e+09!"},
		{"two streams, without their sum, as 2.1.8", times, "iperf tcp_stream direction=forward flows=2 throughput=1.5e+09!"},
		{"a run ten seconds later", times + "20230418120011,10.1.0.2,41290,10.1.0.3,5001,3,0.0-5.0,62500000,100000000",
			"iperf tcp_stream direction=forward flows=2 throughput=1.5e+09!\niperf tcp_stream direction=forward flows=1 throughput=1e+08!"},
		{"back alone (-R)", "20261129135057,10.8.0.2,5001,10.8.0.1,53064,1,0.0-1.1,25427968,190769077", "iperf tcp_stream direction=reverse flows=1 throughput=1.90769e+08!"},
		{"a sender of datagrams, of 2.2.1, knows no loss, though its sum says 0", `20261129135047,10.8.0.1,37478,10.8.0.2,5001,2,0.0-1.0,2501940,19995904,-nan,0,-1,-0.000,0
20261129135047,10.8.0.1,0,10.8.0.2,5001,-1,0.0-1.0,2501940,19995904,-nan,0,3407,0.000,0`, "iperf udp_stream direction=forward flows=1 throughput=1.99959e+07!"},
		{"their receiver", "20261129135047,10.8.0.1,37478,10.8.0.2,5001,2,0.0-1.0,2199120,17559228,0.001,207,1703,12.155,0",
			"iperf udp_stream direction=forward flows=1 throughput=1.75592e+07 loss=0.12155 jitter=1e-06"},
		{"with a heading, as 2.2.1 -e", `time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,jitter,errors,datagrams,errpercent,outoforder,readcnt,readtimeo,readerrlen,pps
+0000:20261129135106.252299,10.8.0.1,33951,10.8.0.2,5001,1,0.0,1.0,2479890,19783054,0.001,17,1700,1.000,0,1688,0,0,-0.000001`,
			"iperf udp_stream direction=forward flows=1 throughput=1.97831e+07 loss=0.01 jitter=1e-06"},
		{"a server of TCP, whose columns were cut", `time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,readcnt,bin0,bin1,bin2,bi
+0000:20261129135103.795746,10.8.0.1,38004,10.8.0.2,5001,1,0.0,1.0,99352640,764035824,1427,5,10,18,1`,
			"iperf tcp_stream direction=forward flows=1 throughput=7.64036e+08!"},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		labtest.Equal(t, c.name, brief(cells), c.want)
	}
}

// Without -i iperf 2.2.1 says that nothing was sent again, whatever was; window and round trip are read.
func TestColumnsOfIperf2WithoutIntervals(t *testing.T) {
	const head = "Client connecting to 10.8.0.2, TCP port 5001 with pid 24350 (1/0 flows/load)\n" +
		"[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     InF(pkts)/Cwnd(pkts)/RTT(var)        NetPwr\n"
	for row, want := range map[string]string{
		"[  1] 0.0000-1.0314 sec  1.70 GBytes  14.2 Gbits/sec  13939/0         0        0K(0)/319K(10)/33(16) us  53674248": "map[] 326656 3.3e-05",
		"[  1] 0.0000-1.0314 sec  1.70 GBytes  14.2 Gbits/sec  13939/0         7        0K(0)/319K(10)/33(16) us  53674248": "map[retransmits:7] 326656 3.3e-05",
		"[  1] 0.0000-1.0314 sec  1.70 GBytes  14.2 Gbits/sec  13939/0         0        0K(0)/0K(0)/0(0) us  NAN":           "map[] 0 0",
		"[  1] 0.0000-1.0314 sec  1.70 GBytes  14.2 Gbits/sec  13939/0         2        526K/4336(523) us  25201":           "map[retransmits:2] 538624 0.00434",
		"[  1] 0.0000-1.0314 sec  1.70 GBytes  14.2 Gbits/sec  13939/0         0        526K/4336(523) us  25201":           "map[retransmits:0] 538624 0.00434", // 2.1.8 counts
	} {
		cells, err := Read("iperf.txt", []byte(head+row))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v", row, err)
		}
		s := cells[0].Samples[0]
		delete(s.Metrics, "throughput")
		labtest.Equal(t, row, fmt.Sprintf("%v %v %.3g", s.Metrics, s.Counters["cwnd_last"], s.Counters["tcp_rtt_last"]), want)
	}
}
