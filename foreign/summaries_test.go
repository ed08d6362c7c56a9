package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tare/test/labtest"
)

// A text of iperf3 3.16 that was cut at the width of a page lost the last words of its summaries, or half of them: the second
// of a stream is its receiver's, and no run. Summaries of one interval may as well be two runs.
func TestSummariesWithoutTheirEnds(t *testing.T) {
	whole := string(read(t, "testdata/iperf3/tcp.client.txt"))
	want, err := Read("log.txt", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for name, cut := range map[string]string{
		"all":  strings.NewReplacer("sender", "", "receiver", "").Replace(whole),
		"half": strings.NewReplacer("sender", "sen", "receiver", "re").Replace(whole),
	} {
		cells, err := Read("log.txt", []byte(cut))
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, name, brief(cells), brief(want))
	}
	var streams strings.Builder
	for _, end := range []string{"1.00", "2.00"} {
		for _, id := range []string{"[  5]", "[  7]", "[SUM]"} {
			start := map[string]string{"1.00": "0.00", "2.00": "1.00"}[end]
			fmt.Fprintf(&streams, "%s   %s-%s   sec   119 MBytes   998 Mbits/sec\n", id, start, end)
		}
	}
	for _, id := range []string{"[  5]", "[  7]", "[SUM]"} {
		fmt.Fprintf(&streams, "%s   0.00-2.00   sec   238 MBytes   998 Mbits/sec\n%[1]s   0.00-2.05   sec   236 MBytes   966 Mbits/sec\n", id)
	}
	cells, err := Read("log.txt", []byte(streams.String()))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "received", cells[0].Samples[0].Metrics["throughput"], 966e6)
}

// Ansible prints what a program wrote as a whole and line by line, or by debug as a list of lines: it is one run.
func TestWhatAnsibleRegistered(t *testing.T) {
	text := string(read(t, "testdata/iperf3/tcp.client.txt"))
	want, err := Read("log.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for name, task := range map[string]any{
		"both":  map[string]any{"rc": 0, "stdout": text, "stdout_lines": lines},
		"lines": map[string]any{"out.stdout_lines": lines},
		"debug": map[string]any{"msg": lines},
	} {
		wide, _ := json.MarshalIndent(task, "", "    ")
		narrow, _ := json.Marshal(task)
		for form, document := range map[string][]byte{"wide": wide, "narrow": narrow} {
			cells, err := Read("log.txt", []byte("ok: [node-1] => "+string(document)+"\n"))
			if err != nil {
				t.Fatal(name, form, err)
			}
			labtest.Equal(t, name+" "+form, brief(cells), brief(want))
		}
	}
}

// Of many pings grep leaves the summaries, each with the name of its host or file before it, and of some one line only.
func TestSummariesByGrep(t *testing.T) {
	for _, name := range []string{"node-a: ", "10.0.0.7: ", "logs/a.log:"} {
		other := strings.NewReplacer("a", "b", "7", "8").Replace(name)
		cells, err := Read("log.txt", []byte(name+"8 packets transmitted, 8 received, 0% packet loss, time 7004ms\n"+
			name+"rtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms\n"+other+"8 packets transmitted, 6 received, 25% packet loss, time 7100ms\n"))
		if err != nil || len(cells) != 2 {
			t.Errorf("%s: %v, %s", name, err, brief(cells))
			continue
		}
		labtest.Equal(t, name, [2]float64{cells[0].Samples[0].Metrics["rtt_mean"], cells[1].Samples[0].Metrics["loss"]}, [2]float64{0.0002, 0.25})
	}
}

// iperf 2 and iperf3 print a slow link by -f G with one digit, which is said.
func TestFewDigits(t *testing.T) {
	cells, err := Read("log.txt", []byte("[  5]   0.00-2.00   sec     2 GBytes     1 GBytes/sec                  receiver\n"))
	if err != nil || !strings.Contains(describe(cells), "so few digits that it may be up to 26 % more or less") {
		t.Errorf("%v: %s", err, describe(cells))
	}
}

// k6 that sends no HTTP did not fail, a sockperf that received nothing has no rate, and redirects are answers where a
// text of autocannon counts them by themselves.
func TestRunsOfOtherAnswers(t *testing.T) {
	for name, c := range map[string]struct{ log, status, metrics string }{
		"k6": {`{"metrics":{"iterations":{"count":9,"rate":3},"vus":{"value":1},"ws_connecting":{"avg":1.2}}}`, "ok", ""},
		"sockperf": {"sockperf: == version #3.7-no.git ==\nsockperf: [Total Run] RunTime=5.000 sec; Warm up time=400 msec; SentMessages=1; ReceivedMessages=0\n" +
			"sockperf: No messages were received from the server. Is the server down?\n", "failed", ""},
		"autocannon": {`{"url":"http://h","connections":1,"duration":2,"latency":{"average":20},"requests":{"average":40,"total":80,"sent":80},"throughput":{},"errors":0,"timeouts":0,"non2xx":80,"2xx":0,"3xx":80}`, "ok", "rate latency_mean"},
	} {
		cells, err := Read(name, []byte(c.log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		var metrics []string
		for _, m := range cells[0].Metrics {
			metrics = append(metrics, m.Name)
		}
		labtest.Equal(t, name, string(cells[0].Status), c.status)
		labtest.Equal(t, name, strings.Join(metrics, " "), c.metrics)
	}
}

// What a script prints between two runs is no line that was not read.
func TestHeadingsBetweenRuns(t *testing.T) {
	text := string(read(t, "testdata/iperf3/tcp.client.txt"))
	for _, heading := range []string{"== node 2 ==", "root@node-2:~# ls", "[root@node-2 ~]# date", "Run 2 of 3:", "--- 2nd ---"} {
		cells, err := Read("log.txt", []byte(text+heading+"\n"+strings.Replace(text, "16", "17", 1)))
		if err != nil || len(cells) != 2 || strings.Contains(describe(cells), "not read") {
			t.Errorf("%s: %v, %s", heading, err, describe(cells))
		}
	}
}

// A spreadsheet of another language wrote wrk's figures with commas.
func TestDecimalsOfWrk(t *testing.T) {
	text := string(read(t, "testdata/wrk/latency.txt"))
	want, _ := Read("log.txt", []byte(text))
	cells, err := Read("log.txt", []byte(expressionOf(`(\d)\.(\d)`).ReplaceAllString(text, "$1,$2")))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "figures", fmt.Sprint(cells[0].Samples[0].Metrics), fmt.Sprint(want[0].Samples[0].Metrics))

	cells, err = Read("log.txt", []byte("  2 threads and 10 connections\n  1,234,567 requests in 10.00s, 32.14MB read\nRequests/sec: 123,456.70\nTransfer/sec:      3.21MB\n"))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "thousands", cells[0].Samples[0].Metrics["rate"], 123456.7)
	labtest.Equal(t, "count", cells[0].Samples[0].Counters["requests"], 1234567)
}

// A run of h2load in one line is parted.
func TestRunsInOneLine(t *testing.T) {
	text := string(read(t, "testdata/h2load/h1.txt"))
	want, _ := Read("log.txt", []byte(text))
	cells, err := Read("log.txt", []byte(strings.ReplaceAll(text, "\n", " ")))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "h2load", describe(cells), describe(want))
}

// What is left of a row of TCP that was cut behind the number of segments sent again is no UDP: no datagram is so large.
func TestSentAgainIsNoDatagram(t *testing.T) {
	cells, err := Read("log.txt", []byte("[  5]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec   17\n[  5]   0.00-10.04  sec  10.9 GBytes  9.36 Gbits/sec\n"))
	if err != nil || len(cells) != 1 {
		t.Fatal(err, len(cells))
	}
	labtest.Equal(t, "workload", cells[0].Workload, "tcp_stream")
}
