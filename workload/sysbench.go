package workload

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/foreign"
	"tare/traffic"
)

// leastSysbench is its shortest window: it has no warm-up, so that its first
// events, which are slower, count, and its threads end one by one, some
// milliseconds apart where there are many.
func leastSysbench(connections int) time.Duration {
	return max(100*time.Millisecond, time.Duration(connections)*3*time.Millisecond)
}

// sysbench is Debian's, with the test oltp_point_select.
func sysbench() Tool {
	program := Program{Name: "sysbench", Get: "apt-get install sysbench", Version: []string{"--version"}}
	return Tool{
		Name: "sysbench", Program: program, Modes: []string{catalog.Prepared}, Preferred: true, Least: leastSysbench,
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			path, err := program.Find()
			if err != nil {
				return Tally{}, fmt.Errorf("find %s: %w: %s", program.Name, err, program.Get)
			}
			events, err := eventsOf(ctx, run, to)
			if err != nil {
				return Tally{}, err
			}
			t, err := runSysbench(ctx, path, run, to, events)
			if err == nil && t.Window < run.Duration/2 { // the warm-up was held up: now its own rate is known
				t, err = runSysbench(ctx, path, run, to, int(t.Work*run.Duration.Seconds()/t.Window.Seconds()))
			}
			return t, err
		},
	}
}

// runSysbench has it do so many events. The window is from the start of its
// threads to their end.
func runSysbench(ctx context.Context, path string, run Run, to netip.AddrPort, events int) (Tally, error) {
	var printed []string
	eachLine := func(line string) {
		printed = append(printed, line)
		switch {
		case strings.HasPrefix(line, "Threads started!"):
			run.Edge(false)
		case strings.HasPrefix(line, "Latency histogram"): // the first of its report
			run.Edge(true)
		}
	}
	if err := runChild(ctx, "/", eachLine, path, sysbenchArguments(run, to, events)...); err != nil {
		return Tally{}, err
	}
	return sysbenchTally(printed)
}

// eventsOf is how many selects fill the window, which sysbench itself can end
// by whole seconds only: as many as at the rate of the cell's last window or,
// in its first, as our own client does in the warm-up.
func eventsOf(ctx context.Context, run Run, to netip.AddrPort) (int, error) {
	if run.Expect > 0 {
		return max(run.Flows, int(run.Expect*run.Duration.Seconds())), nil
	}
	warmup := run
	warmup.Warmup, warmup.Duration, warmup.Edge = 0, max(run.Warmup, leastWarmup), nil
	done, err := selectPoints(ctx, warmup, to)
	if err != nil {
		return 0, fmt.Errorf("warm up: %w", err)
	}
	rate := float64(done.count) / warmup.Duration.Seconds()
	return max(run.Flows, int(rate*run.Duration.Seconds())), nil
}

// leastWarmup is enough to find the rate of a run without a warm-up: in 30 ms one pause of a
// busy machine makes it a third.
const leastWarmup = 100 * time.Millisecond

func sysbenchArguments(run Run, to netip.AddrPort, events int) []string {
	return []string{
		"oltp_point_select", "--db-driver=mysql", "--mysql-host=" + to.Addr().String(), "--mysql-port=" + strconv.Itoa(int(to.Port())),
		"--mysql-user=" + accountUser, "--mysql-password=" + accountPassword, "--mysql-db=" + accountDatabase,
		"--table-size=" + strconv.Itoa(pointRows), "--rand-type=uniform",
		"--threads=" + strconv.Itoa(run.Flows), "--events=" + strconv.Itoa(events),
		fmt.Sprintf("--time=%.0f", math.Ceil(2*run.Duration.Seconds())), // for a path that stalls
		"--histogram", "run",
	}
}

// sysbenchTally is what sysbench measured. The rate is of its total time: what it
// calls per second counts the end of its threads as well.
func sysbenchTally(printed []string) (Tally, error) {
	cell, err := foreign.ReadRun("sysbench", []byte(strings.Join(printed, "\n")))
	if err != nil {
		return Tally{}, err
	}
	sample := cell.Samples[0]
	events := sample.Counters["events"]
	took := cell.Params.Number("duration")
	if took <= 0 || events <= 0 {
		return Tally{}, fmt.Errorf("sysbench did %.0f events and printed no time: see whether the server answers", events)
	}
	t := Tally{
		Metrics: map[string]float64{"rate": events / took}, Counters: map[string]float64{},
		Window: time.Duration(took * float64(time.Second)), Work: events,
	}
	if mean, known := sample.Metrics["latency_mean"]; known {
		t.Metrics["latency_mean"] = mean
	}
	for name, q := range map[string]float64{"latency_p50": 0.5, "latency_p95": 0.95, "latency_p99": 0.99} {
		if v, known := sample.Metrics[name]; known && traffic.Supports(int64(events), q) {
			t.Metrics[name] = v
		}
	}
	for _, name := range []string{"errors", "reconnects"} {
		t.Counters[name] = sample.Counters[name]
		if n := sample.Counters[name]; n > 0 {
			t.Warnings = append(t.Warnings, fmt.Sprintf("%s: sysbench counted %.0f", name, n))
		}
	}
	return t, nil
}
