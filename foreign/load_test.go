package foreign

import (
	"fmt"
	"strings"
	"testing"

	"tare/test/labtest"
)

// What was typed above a run is of it, whatever the run's first line is: a rate is wrk2's alone.
func TestCommandAboveARun(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"wrk2 whose program is called wrk", `$ ./wrk -t1 -c8 -d4s -R500 http://10.0.0.2/
Running 4s test @ http://10.0.0.2/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.00ms    1.00ms   9.00ms   90.00%
    Req/Sec   510.00     20.00   560.00     70.00%
  2000 requests in 4.00s, 1.00MB read
Requests/sec:    500.00
Transfer/sec:    256.00KB`, `wrk2 http side=client rate=500 duration=4`},
		{"h2load with streams", `$ h2load -n 100 -c 2 -m 10 http://10.0.0.2/
starting benchmark...
spawning thread #0: 2 total client(s). 100 total requests
Application protocol: h2c
finished in 100.00ms, 1000.00 req/s, 100.00KB/s
requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout`, `h2load http side=client pipelining=10 duration=0.1`},
	} {
		cells, err := Read(c.name, []byte(c.log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v, %d", c.name, err, len(cells))
		}
		for _, word := range strings.Fields(c.want)[2:] {
			name, value, _ := strings.Cut(word, "=")
			labtest.Equal(t, c.name+" "+name, fmt.Sprint(cells[0].Params[name]), value)
		}
		labtest.Equal(t, c.name, cells[0].Mode, strings.Fields(c.want)[0])
	}
}

// An old autocannon whose table was pasted as Markdown, with the names of its columns in capitals
// (autocannon 110): each table begins a run, and each summary ends one.
func TestTablesWithoutTheirHeads(t *testing.T) {
	const table = "|  STAT  |  AVG  |  STDEV  |  MAX\n|  ---  |  ---  |  ---  |  ---\n|  **Latency (ms)**  |  %  |  3.5  |  96\n|  **Req/Sec**  |  200  |  20  |  225\n\n6k requests in 30s, 4 MB read\n"
	cells, err := Read("two.md", []byte("one\n\n"+strings.Replace(table, "%", "40", 1)+"\ntwo\n\n"+strings.Replace(table, "%", "80", 1)+"9 errors (9 timeouts)\n"))
	if err != nil || len(cells) != 2 {
		t.Fatalf("%v: %s", err, brief(cells))
	}
	for n, want := range []float64{0.04, 0.08} {
		labtest.Equal(t, "mean", cells[n].Samples[0].Metrics["latency_mean"], want)
		labtest.Equal(t, "errors", cells[n].Samples[0].Counters["errors"], 9*float64(n))
	}
}

// Where all answers were failures, what was measured is of failures: it is left out (autocannon 127).
func TestFiguresOfFailures(t *testing.T) {
	for name, log := range map[string]string{
		"wrk 4": `Running 1s test @ http://10.0.0.2/
  1 threads and 4 connections
    Latency     2.00ms    1.00ms   9.00ms   90.00%
    Req/Sec     1.00k     20.00     1.10k    70.00%
  1000 requests in 1.00s, 1.00MB read
  Non-2xx or 3xx responses: 1000
Requests/sec:   1000.00
Transfer/sec:      1.00MB`,
		"autocannon 2 of NaN": `Running 10s test @ http://10.0.0.2
10 connections

Stat         Avg     Stdev     Max
Latency (ms) NaN     NaN       0
Req/Sec      100     8         120
Bytes/Sec    2.28 MB 101.58 kB 2.49 MB

0 2xx responses, 1000 non 2xx responses
1k requests in 10s, 22.81 MB read`,
	} {
		cells, err := Read(name, []byte(log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		labtest.Equal(t, name, string(cells[0].Status), "failed")
		labtest.Equal(t, name, len(cells[0].Metrics), 0)
		if _, counted := cells[0].Samples[0].Counters["lines_not_read"]; counted {
			t.Errorf("%s: %q", name, cells[0].Samples[0].Warnings)
		}
	}
}

// h2load's rate counts what was answered, in the time behind the warm-up: neither what failed without an
// answer (h2o 726, with h2load 1.6) nor the warm-up (h2load 1.52) contradicts it.
func TestRateOfH2load(t *testing.T) {
	for name, log := range map[string]string{
		"errored": `finished in 10.00s, 100.00 req/s, 30.54KB/s
requests: 20000 total, 1100 started, 20000 done, 1000 succeeded, 19000 failed, 19000 errored, 0 timeout
status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx`,
		"warm-up": `starting benchmark...
spawning thread #0: 2 total client(s). Timing-based test with 5s of warm-up time and 10s of main duration for measurements.
finished in 15.00s, 100.00 req/s, 30.54KB/s
requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout`,
	} {
		cells, err := Read(name, []byte(log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		labtest.Equal(t, name, cells[0].Params.Number("duration"), 10)
		labtest.Equal(t, name, cells[0].Samples[0].Counters["requests"], 1000)
		labtest.Equal(t, name, strings.Join(cells[0].Metrics[len(cells[0].Metrics)-1].Warnings, ";"), "")
	}
}

// wrk2 with more threads than it can serve loses its count of time (wrk2 138).
func TestRateOfATimeThatCannotBe(t *testing.T) {
	cells, err := Read("log.txt", []byte(`Running 5s test @ http://10.0.0.2/
  250 threads and 1000 connections
    Latency     1.97s     1.28s    4.93s    60.75%
  833071 requests in 1.25ms, 223.25MB read
Requests/sec: 663801593.63
Transfer/sec:    173.72GB`))
	if err != nil || len(cells) != 1 || !strings.Contains(describe(cells), "this is no rate") {
		t.Fatalf("%v: %s", err, describe(cells))
	}
}

// sysbench's tests of files, memory, threads and locks are no workload of a network: they are named, and
// beside a test that is read they are a warning.
func TestOtherTestsOfSysbench(t *testing.T) {
	const memory = `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Running memory speed test with the following options:
  block size: 1KiB

Threads started!

Total operations: 1000 (  500.00 per second)

General statistics:
    total time:                          2.0001s
    total number of events:              1000
`
	_, err := Read("log.txt", []byte(memory))
	if err == nil || !strings.Contains(err.Error(), "of sysbench it reads its tests of SQL and of the CPU") {
		t.Errorf("%v", err)
	}
	cells, err := Read("log.txt", append(read(t, "testdata/sysbench/cpu.txt"), memory...))
	if err != nil || len(cells) != 1 || !strings.Contains(describe(cells), "beside it is sysbench's output") {
		t.Errorf("%v: %s", err, describe(cells))
	}
}

// Tools that people paste beside those that are read are named, also by their CSV and JSON.
func TestOutputThatIsNamed(t *testing.T) {
	for line, tool := range map[string]string{
		`{"spec":{"numberOfConnections":1},"result":{"timeTakenSeconds":2,"latency":{"mean":3}}}`:                                                                  "bombardier",
		"weighttp - a lightweight and simple webserver benchmarking tool\n\nstarting benchmark...\nprogress: 100% done\nstatus codes: 10 2xx, 0 3xx, 0 4xx, 0 5xx": "weighttp",
		"summary =     80 in 00:00:05 =   15.5/s Avg:    18 Min:     0 Max:   149 Err:     0 (0.00%)":                                                              "jmeter",
		"> mean requests/sec                                   40.5 (OK=24.266 KO=16.234)":                                                                         "gatling",
		"100 records sent, 50.0 records/sec (1.53 MB/sec), 1.9 ms avg latency, 310.0 ms max latency.":                                                              "kafka-perf-test",
		"Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%":                                                                                             "locust",
	} {
		if _, err := Read("log.txt", []byte(line)); err == nil || !strings.Contains(err.Error(), "this is "+tool+"'s output") {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// Runs whose heads are lost are several all the same: each part of sysbench's report is printed once (sysbench 286,
// of 1.0.9, and 1.1), and so is each of wrk2's.
func TestRunsWithoutTheirHeads(t *testing.T) {
	general := func(events, avg string) string {
		return "General statistics:\n    total time:                          10.0s\n    total number of events:              " + events +
			"\n\nLatency (ms):\n         avg:                                  " + avg + "\n\n"
	}
	newer := func(events, avg string) string {
		return "CPU speed:\n    events per second:  " + events + "\n\nThroughput:\n    events/s (eps):  " + events +
			"\n    time elapsed:  1.0s\n    total number of events:  " + events + "\n\nLatency (ms):\n         avg:  " + avg + "\n\n"
	}
	wrk2 := func(rate, mean string) string {
		return "  Thread calibration: mean lat.: 9.1ms, rate sampling interval: 21ms\n    Latency     " + mean + "ms    0.50ms  92.00ms   89.03%\n  " +
			rate + " requests in 1.00s, 1.00MB read\nRequests/sec:   " + rate + ".00\nTransfer/sec:     1.00MB\n"
	}
	for name, log := range map[string]string{
		"sysbench 1.0": "1. ten threads\n" + general("1000", "4.00") + "2. more threads\n" + general("2000", "5.00"),
		"sysbench 1.1": newer("100", "4.00") + newer("200", "5.00"),
		"wrk2":         wrk2("100", "4.00") + wrk2("200", "5.00"),
	} {
		cells, err := Read(name, []byte(log))
		if err != nil || len(cells) != 2 {
			t.Errorf("%s: %v, %s", name, err, brief(cells))
			continue
		}
		if name == "sysbench 1.0" && !strings.Contains(describe(cells), "does not say what was tested") {
			t.Error(describe(cells))
		}
		first, second := cells[0].Samples[0].Metrics, cells[1].Samples[0].Metrics
		labtest.Equal(t, name, [3]float64{first["latency_mean"], second["latency_mean"], second["rate"] / first["rate"]}, [3]float64{0.004, 0.005, 2})
	}
}

// Each document of a line is read: jq and scripts write lists of them so.
func TestDocumentsInOneLine(t *testing.T) {
	report := strings.ReplaceAll(string(read(t, "testdata/vegeta/http.json")), "\n", "")
	other := strings.Replace(report, `"mean":`, `"mean":1`, 1)
	for name, line := range map[string]string{"a list": "[" + report + "," + other + "]", "side by side": report + " " + other} {
		cells, err := Read("log.json", []byte(line))
		if err != nil || len(cells) != 2 {
			t.Errorf("%s: %v, %d", name, err, len(cells))
		}
	}
}

// A time that is no run's gives no rate (wrk 327, of a machine whose clock was set back).
func TestTimeThatNoRunTakes(t *testing.T) {
	cells, err := Read("log.txt", []byte(`Running 1m test @ http://10.0.0.2/
  8 threads and 128 connections
    Latency   210.00ms  289.00ms   3.79s    84.62%
  35951 requests in 307445734491.24m, 5.51MB read
Requests/sec:      0.00
Transfer/sec:       0.00B`))
	if err != nil || len(cells) != 1 {
		t.Fatal(err)
	}
	_, rated := cells[0].Samples[0].Metrics["rate"]
	labtest.Equal(t, "a rate", rated, false)
	labtest.Equal(t, "duration", cells[0].Params.Number("duration"), 60)
}

// vegeta's rate is over its attack and the wait for the last answers: it does not contradict their count
// (vegeta 12.12 against a server of which one answer in ten took 1.5 s).
func TestWaitOfVegeta(t *testing.T) {
	cells, err := Read("v.json", []byte(`{"latencies":{"total":3400000000,"mean":170000000,"50th":21000000,"max":1500000000,"min":20000000},
"bytes_in":{"total":80,"mean":4},"duration":1000000000,"wait":1500000000,"requests":20,"rate":20,"throughput":8,"success":1,"status_codes":{"200":20},"errors":[]}`))
	if err != nil || len(cells) != 1 {
		t.Fatal(err)
	}
	labtest.Equal(t, "duration", cells[0].Params.Number("duration"), 2.5)
	labtest.Equal(t, "requests in it", cells[0].Samples[0].Metrics["rate"]*2.5, 20)
}

// Runs in one line are as many as there are.
func TestLinesOfLoadWithoutTheirEnds(t *testing.T) {
	for _, path := range []string{"testdata/wrk/latency.txt", "testdata/autocannon/plain.txt", "testdata/sockperf/pp-rtt.txt", "testdata/sysbench/cpu.txt"} {
		text := string(read(t, path))
		whole, err := Read(path, []byte(text))
		glued, errGlued := Read(path, []byte(strings.ReplaceAll(text, "\n", " ")))
		if err != nil || errGlued != nil {
			t.Fatal(err, errGlued)
		}
		labtest.Equal(t, path, describe(glued), describe(whole))
		two, err := Read(path, []byte(strings.ReplaceAll(text+text, "\n", " ")))
		if err != nil || len(two) != 2 {
			t.Errorf("%s: %v, %d", path, err, len(two))
		}
	}
}

// vegeta report -every prints what was so far again and again (vegeta 12.12): it is one run.
func TestReportsOfOneRun(t *testing.T) {
	report := `{"latencies":{"mean":2000000,"max":5000000},"bytes_in":{"total":80,"mean":4},"earliest":"2026-01-02T03:04:05Z","duration":D000000000,"requests":N,"rate":10,"throughput":10,"success":1,"status_codes":{"200":N},"errors":[]}` + "\n"
	at := func(seconds, requests string) string {
		return strings.NewReplacer("D", seconds, "N", requests).Replace(report)
	}
	cells, err := Read("v.json", []byte(at("1", "10")+at("2", "20")+at("3", "30")))
	if err != nil || len(cells) != 1 || cells[0].Samples[0].Counters["requests"] != 30 || !strings.Contains(describe(cells), furtherOn) {
		t.Errorf("%v: %s", err, describe(cells))
	}
}

// What is printed once in a run is of the next when it comes again: the figures of two pieces of runs are not put together.
func TestPiecesOfTwoRuns(t *testing.T) {
	for name, log := range map[string]string{
		"wrk": "    Latency     1.00ms    0.50ms   9.00ms   89.03%\n    Latency     2.00ms    0.50ms   9.00ms   89.03%\n  100 requests in 1.00s, 1.00MB read\nRequests/sec:   100.00\nTransfer/sec:     1.00MB\n",
		"h2load": "finished in 100.00ms, 1000.00 req/s, 1.31MB/s\nrequests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout\n" +
			"requests: 200 total, 200 started, 200 done, 200 succeeded, 0 failed, 0 errored, 0 timeout\nmin         max         mean         sd        +/- sd\n" +
			"time for request:     1.00ms     30.00ms      2.00ms      3.00ms    70.00%\n",
	} {
		cells, err := Read(name, []byte(log))
		if err != nil || len(cells) != 2 || len(cells[0].Metrics) == 0 || len(cells[1].Metrics) == 0 {
			t.Errorf("%s: %v, %s", name, err, brief(cells))
		}
	}
}
