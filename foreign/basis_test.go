package foreign

import (
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// one is the only run of a log.
func one(t *testing.T, log string) result.Cell {
	t.Helper()
	cells, err := Read("log", []byte(log))
	if err != nil || len(cells) != 1 {
		t.Fatalf("%d cells, %v\n%s", len(cells), err, describe(cells))
	}
	return cells[0]
}

// said are the warnings of a run, and of one of its metrics.
func said(c result.Cell, metric string) string {
	all := slices.Clone(c.Samples[0].Warnings)
	for _, m := range c.Metrics {
		if m.Name == metric {
			all = append(all, m.Warnings...)
		}
	}
	return strings.Join(all, "\n")
}

// Where nothing was answered, a run failed and has no latency, whatever its tool prints.
func TestNothingAnsweredIsNoTime(t *testing.T) {
	for name, c := range map[string]struct{ log, reason, said string }{
		"wrk on a server that resets": {`Running 5s test @ http://10.0.0.2:80
  2 threads and 2 connections
    Latency     0.00us    0.00us   0.00us    -nan%
    Req/Sec     0.00      0.00     0.00      -nan%
     50%    0.00us
     99%    0.00us
  0 requests in 5.00s, 30.14KB read
  Socket errors: connect 0, read 471, write 0, timeout 0
Requests/sec:      0.00`, "no request succeeded", "read 471"},
		"wrk on errors only":                     {string(read(t, "testdata/wrk/non2xx.txt")), "no request succeeded", "124818 responses were neither"},
		"autocannon on a port without a server":  {string(read(t, "testdata/autocannon/refused.txt")), "no request succeeded", "18k errors"},
		"autocannon on a server that is silent":  {`{"url":"http://h:80","connections":4,"duration":2.03,"errors":0,"timeouts":0,"latency":{"average":0,"p50":0,"p99":0,"max":0,"totalCount":0},"requests":{"average":0,"total":0,"sent":4}}`, "no request succeeded", "4 requests were sent, 0 answered"},
		"autocannon on errors only":              {string(read(t, "testdata/autocannon/bad.txt")), "no request succeeded", "116193 responses were not 2xx"},
		"containerd-stress without a runtime":    {`level=info msg="create/start/delete 0 containers in 10.003 seconds (0.000 c/sec) or (+Inf sec/c)" failures=2204`, "all 2204 attempts failed", ""},
		"containerd-stress that counts attempts": {`{"total":70,"failures":70,"seconds":10,"containersPerSecond":7}`, "all 70 attempts failed", ""},
		"sysbench without a transaction": {`sysbench 1.0.20
SQL statistics:
    transactions:                        0      (0.00 per sec.)
    ignored errors:                      31     (3.10 per sec.)
    total time:                          10.0021s
    total number of events:              0
Latency (ms):
         avg:                                    0.00
         max:                                    0.00
         95th percentile:                        0.00`, "no transaction succeeded", "31 errors (3.10/s)"},
	} {
		t.Run(name, func(t *testing.T) {
			cell := one(t, c.log)
			labtest.Equal(t, "status", cell.Status, result.StatusFailed)
			labtest.Equal(t, "reason", cell.Reason, c.reason)
			if got := said(cell, "rate"); !strings.Contains(got, c.said) {
				t.Errorf("warnings %q lack %q", got, c.said)
			}
			for _, m := range cell.Metrics {
				if timeName.MatchString(m.Name) && m.Value == 0 || strings.HasPrefix(cell.Mode, "containerd") && m.Value > 0 {
					t.Errorf("%s is %v", m.Name, m.Value)
				}
			}
		})
	}
}

// What came later than wrk's timeout is counted, but in no latency.
func TestAnswersAfterTheTimeoutHaveNoLatency(t *testing.T) {
	cell := one(t, `Running 4s test @ http://10.0.0.2:80/
  1 threads and 4 connections
    Latency     0.00us    0.00us   0.00us    -nan%
  4 requests in 4.02s, 4.37KB read
  Socket errors: connect 0, read 0, write 0, timeout 4
Requests/sec:      1.00`)
	labtest.Equal(t, "the run", brief([]result.Cell{cell}), "wrk http side=client throughput=8905.23! rate=1")
	if text := said(cell, "rate"); !strings.Contains(text, "no latency has what was later") {
		t.Error(text)
	}
}

// A time of 0 is of nothing, also where nothing else is printed.
func TestTimesOfZero(t *testing.T) {
	cell := one(t, "tcp_lat:\n    latency  =  0 ns\n")
	labtest.Equal(t, "the run", brief([]result.Cell{cell}), "qperf tcp_rr side=client")
	labtest.Equal(t, "warnings", strings.Join(cell.Samples[0].Warnings, "; "), "its times are 0: nothing was observed")
	cell = one(t, "udp_bw:\n    send_bw  =  512 bytes/sec\n    recv_bw  =  0 bytes/sec\n")
	labtest.Equal(t, "bytes a second", cell.Samples[0].Counters["throughput_sent"], 4096)
}

// A time carries what it is not.
func TestTimesSayWhatTheyAreOf(t *testing.T) {
	oneTail := `Running 1s test @ http://10.0.0.2/
  1 threads and 4 connections
    Latency   336.22us  815.54us   LONGEST   89.54%
  80000 requests in 1.00s, 87.72MB read
Requests/sec:  80000.00`
	cannon := `{"url":"http://h:80","connections":4,"duration":10,"latency":{"average":AVERAGE,"p50":0,"p99":3,"totalCount":TIMES},"requests":{"average":4000,"total":40000,"sent":SENT}}`
	document := func(average, times, sent string) string {
		return strings.NewReplacer("AVERAGE", average, "TIMES", times, "SENT", sent).Replace(cannon)
	}
	for _, c := range []struct{ name, log, metric, said, silent string }{
		{"wrk with a tail, to which it adds", strings.Replace(oneTail, "LONGEST", "8.48ms", 1), "latency_mean", "corrected: wrk counts a slow answer several times", ""},
		{"wrk without one", strings.Replace(oneTail, "LONGEST", "99.00us", 1), "latency_mean", "", "corrected"},
		{"wrk2", string(read(t, "testdata/wrk2/latency.txt")), "latency_p99", "corrected: wrk2 counts from when a request was due", ""},
		{"autocannon's steps", document("0.02", "40000", "40004"), "latency_mean", "rounded down to steps of 1ms", "corrected"},
		{"autocannon far above its steps", document("25", "40000", "40004"), "latency_mean", "", "rounded"},
		{"autocannon with a rate, to whose times it adds", document("25", "90000", "40004"), "latency_mean", "corrected: autocannon counts an answer again", ""},
		{"autocannon's table of a run with a rate", string(read(t, "testdata/autocannon/rate.txt")), "latency_mean", "corrected: autocannon counts an answer again", "not a round trip"},
		{"autocannon where half was not answered", document("409", "40000", "80000"), "latency_mean", "not a round trip", ""},
		{"autocannon on a server that ends connections", document("9", "40000", "40500"), "latency_mean", "not a round trip", ""},
		{"autocannon until an amount was answered", document("1", "40000", "40000"), "rate", "at least: a run of an amount", ""},
		{"a percentile of few", string(read(t, "testdata/sockperf/ul-rtt.txt")), "rtt_p99", "too few observations", ""},
		{"a median of enough", string(read(t, "testdata/sockperf/ul-rtt.txt")), "rtt_p50", "", "too few"},
		{"answers to some messages", string(read(t, "testdata/sockperf/ul-rtt.txt")), "rate", "the server gives one to every 96th message", ""},
	} {
		got := said(one(t, c.log), c.metric)
		if !strings.Contains(got, c.said) || c.silent != "" && strings.Contains(got, c.silent) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// sysbench's histogram ends at 100 s (sysbench#242), and what it calls ignored errors are transactions
// that began again.
func TestEndOfAHistogram(t *testing.T) {
	cell := one(t, `sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)
Number of threads: 400
[ 5s ] thds: 400 tps: 0.00 qps: 6911.40 (r/w/o: 6188.20/18.80/704.40) lat (ms,95%): 0.00 err/s: 0.00 reconn/s: 0.00
[ 10s ] thds: 400 tps: 7.20 qps: 3120.60 (r/w/o: 3015.00/91.20/14.40) lat (ms,95%): 9624.59 err/s: 1.60 reconn/s: 0.00
SQL statistics:
    transactions:                        300    (2.50 per sec.)
    ignored errors:                      12000  (100.00 per sec.)
Throughput:
    events/s (eps):                      2.5000
    time elapsed:                        120.0000s
    total number of events:              300
Latency (ms):
         avg:                                98000.00
         max:                               119000.00
         95th percentile:                   100000.00`)
	labtest.Equal(t, "the run", brief([]result.Cell{cell}), "sysbench mysql side=client rate=2.5 latency_mean=98 latency_p95=100!")
	labtest.Equal(t, "duration", cell.Params.Number("duration"), 120)
	for _, want := range []string{"12000 errors (100.00/s): their transactions were begun again", "latency_p95 is at least this"} {
		if text := said(cell, "latency_p95"); !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if points, found := cell.Samples[0].Series["latency_p95"]; found {
		t.Errorf("an interval without an answer has a latency: %v", points)
	}
}

// The last interval of an old sysbench may count below zero (sysbench#14), autocannon's least may be
// of no sample, and one observation has no percentiles.
func TestFiguresThatAreNone(t *testing.T) {
	cell := one(t, `[  10s] threads: 16, tps: 1385.03, reads: 19488.38, writes: 5540.11, response time: 15.76ms (95%), errors: 0.00, reconnects:  0.00
[  11s] threads: 16, tps: 18446842801212211200.00, reads: 18446842801212035072.00, writes: 18446842801212170240.00, response time: 60.10ms (95%), errors: 0.00, reconnects:  0.00`)
	labtest.Equal(t, "rate", cell.Samples[0].Metrics["rate"], 1385.03)

	cell = one(t, strings.Replace(string(read(t, "testdata/autocannon/plain.txt")), "44,769", "9007199254740991", 1))
	if v, found := cell.Samples[0].Counters["rate_min"]; found {
		t.Errorf("the least rate is %v", v)
	}

	cell = one(t, `sockperf: == version #3.3-6.gite2b1f1f ==
[ 0] IP = 10.0.0.2       PORT =  8302 # TCP
sockperf: [Valid Duration] RunTime=0.000 sec; SentMessages=1; ReceivedMessages=1
sockperf: ====> avg-rtt=98.441 (std-dev=0.000)
sockperf: Total 1 observations; each percentile contains 0.01 observations
sockperf: ---> <MAX> observation =  98.441
sockperf: ---> percentile 99.000 =  98.441
sockperf: ---> percentile 50.000 =  98.441`)
	labtest.Equal(t, "one observation", brief([]result.Cell{cell}), "sockperf tcp_rr side=client rtt_mean=9.8441e-05")
	if text := said(cell, "rtt_mean"); !strings.Contains(text, "one observation is all there is") {
		t.Error(text)
	}
}

// sockperf's M is 2^20, and its G 1000 of them or, in 3.7, one: its rate and its size make the
// throughput.
func TestUnitsOfSockperf(t *testing.T) {
	for label, want := range map[string]struct{ size, said string }{
		"0.419 GBps (3.348 Gbps)":                  {"1472", "prints 3.348 Gbit/s"},
		"418.507690430 MBps (3348.061523438 Mbps)": {"1472", "prints 3.348 Gbit/s"},
		"418.507690430 GBps (3348.061523438 Gbps)": {"1472", "prints 3348 Gbit/s"},
		"0.4190 GBps (3.3481 Gbps)":                {"none", "prints 3.348 Gbit/s"},
		"418.507690431 GBps (3348.061523438 Gbps)": {"none", "prints 3348 Gbit/s"},
		"418.507 MBps":                             {"none", "prints 3.348 Gbit/s"},
	} {
		cell := one(t, `[ 0] IP = 10.0.0.2   PORT = 11111 # UDP
sockperf: Total of 8943600 messages sent in 30.000 sec
sockperf: NOTE: test was performed, using msg-size=`+want.size+`. For getting maximum throughput consider using --msg-size=1472
sockperf: Summary: Message Rate is 298120 [msg/sec]
sockperf: Summary: BandWidth is `+label)
		labtest.Between(t, label, cell.Samples[0].Metrics["throughput"], 3.509e9, 3.513e9)
		if text := said(cell, "throughput"); !strings.Contains(text, want.said) {
			t.Errorf("%s: %q", label, text)
		}
	}
}

// Markdown makes words bold; sockperf 3.8 has no angle brackets around its extremes.
func TestBoldWords(t *testing.T) {
	cell := one(t, `_sockperf ping-pong -i 10.0.0.2 --tcp -m 420 -t 150 --full-rtt
sockperf: == version #3.8-0.git31ee322aa82a ==
sockperf: [Valid Duration] RunTime=149.548 sec; SentMessages=85864; ReceivedMessages=85864
sockperf: ====> avg-rtt=1741.250 (std-dev=401.113, mean-ad=231.870, 99.0% ci=[1737.724, 1744.776])
**sockperf: Total 85864 observations**; each percentile contains 858.64 observations
sockperf: ---> MAX observation = **10988.412**
sockperf: ---> percentile 99.000 = **3010.441**`)
	labtest.Equal(t, "the run", brief([]result.Cell{cell}), "sockperf tcp_rr side=client size=420 rate=574.157 rtt_p99=0.00301044 rtt_mean=0.00174125")
	labtest.Equal(t, "the longest", cell.Samples[0].Counters["rtt_max"], 0.010988412)
}
