package agent

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/traffic"
	"tare/workload"
)

// iperf3's CPU figure is that of the iperf3 process (esnet/iperf #1552): CPU time that
// others use for its packets, such as softirq and kernel threads, is not in it. Here
// another process uses CPU time, and the run itself hardly any.
func TestDeepIperf3CPUIsOfOneProcess(t *testing.T) {
	burner := exec.Command("/bin/sh", "-c", "while kill -0 $PPID; do :; done") // it ends with this process
	if err := burner.Start(); err != nil {
		t.Fatal(err)
	}
	server, client := start(t, "h1"), start(t, "h2")
	kind, _ := workload.Find("udp_stream")
	run := quick()
	run.Mode, run.Size, run.Rate, run.Duration = kind.Modes[0], kind.Size.Default, 1e6, 500*time.Millisecond
	at := address(5313)
	before := ownCPU(t)
	out, err := Measure(context.Background(), server, client, kind.Name, run, at, at)
	if killed := burner.Process.Kill(); killed != nil {
		t.Fatal(killed)
	}
	_ = burner.Wait() // killed: its status is that
	if err != nil {
		t.Fatal(err)
	}
	own := ownCPU(t) - before
	spent := burner.ProcessState.UserTime() + burner.ProcessState.SystemTime()
	if cpu := out.Server.CPU; cpu == nil || cpu.Busy < own.Seconds()/2+spent.Seconds()/2 {
		t.Errorf("%+v in the window, while this process spent %v and another one %v", cpu, own, spent)
	}
}

// The CPU time of a run that takes turns is that of its slots or, where they are short, of
// its window before them, whoever used it. A plan has six blocks for it: in a block where
// the run is late for the end, there is none.
func TestDeepCPUOfSlots(t *testing.T) {
	const ms = time.Millisecond
	burner := exec.Command("/bin/sh", "-c", "while kill -0 $PPID; do :; done") // it ends with this process
	if err := burner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := burner.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = burner.Wait() // killed: its status is that
	})
	server, client := start(t, "h1"), start(t, "h2")
	for _, slots := range []traffic.Slots{
		{Length: 10 * ms, Settle: ms, Guard: ms, Runs: 2, Warmup: 1, Cycles: 40, Seed: 1},
		{Window: 400 * ms, Length: 3 * ms, Settle: ms, Guard: ms / 2, Runs: 2, Warmup: 1, Cycles: 40, Seed: 1},
	} {
		// Time is counted in steps of 10 ms at the edges of each slot: of three blocks together.
		var busy, each, seconds float64
		metered := 0
		for block := 0; block < 6 && metered < 3; block++ {
			cpu, window := meteredSlots(t, server, client, slots)
			if cpu == nil {
				continue
			}
			metered++
			busy += cpu.Busy + cpu.Steal
			seconds += window.Seconds()
			for name, spent := range cpu.Each {
				if !strings.HasSuffix(name, ".softirq") { // it is busy too
					each += spent
				}
			}
		}
		if metered == 0 {
			t.Fatal("none of six blocks has a CPU time")
		}
		cpus := float64(runtime.NumCPU())
		labtest.Between(t, "busy CPUs, of which one was so all the time", busy/seconds, 0.5, 1.2*cpus)
		labtest.Between(t, "share of the time that each CPU was busy, idle or stolen", each/(cpus*seconds), 0.5, 1.5)
	}
}

// meteredSlots does a run in slots, and gives its CPU time, if it has one, and in what
// window.
func meteredSlots(t *testing.T, server, client *Handle, slots traffic.Slots) (*workload.CPU, time.Duration) {
	t.Helper()
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		t.Fatal(err)
	}
	const lead = 100 * time.Millisecond
	slots.Begin = time.Duration(clock.Nano()) + lead
	run := quick()
	run.Slots, run.Warmup, run.Duration = &slots, lead, slots.Span()
	at := address(5314)
	out, err := Measure(context.Background(), server, client, "tcp_rr", run, at, at)
	if err != nil {
		t.Fatal(err)
	}
	window, most := out.Client.Window, slots.Window
	if most == 0 {
		most = time.Duration(slots.Cycles) * slots.Length
	}
	if window < most/10 || window > most {
		t.Errorf("%v were counted, where %v is most", window, most)
	}
	return out.Client.CPU, window
}

// An end that does not see the window's edges counts the CPU time of as long before its
// run ends. Time passes by itself here.
func TestCPUInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for lasted, want := range map[time.Duration]float64{5 * time.Second: 2, time.Second: 0} {
			tally, err := inSteps(func(workload.Run) (workload.Tally, error) {
				time.Sleep(lasted) //nolint:forbidigo // in a bubble
				return workload.Tally{}, nil
			})(workload.Run{Duration: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			over := 0.0
			if tally.CPU != nil {
				over = tally.CPU.Over
			}
			labtest.Equal(t, "seconds whose CPU time was read", over, want)
		}
	})
}

// ownCPU is what this process has spent.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano())
}
