package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"tare/catalog"
	"tare/iperf3"
	"tare/result"
	"tare/traffic"
	"tare/workload"
)

// heapMost is what a test may leave before it is collected: tests allocate
// little, and a collection would disturb one.
const heapMost = 256 << 20

// serveIperf3 serves iperf3 clients at bind until the context ends. Each test
// and each peer that is refused is a line on standard output.
func serveIperf3(ctx context.Context, bind netip.AddrPort, s streams) error {
	settle()
	server, err := iperf3.Listen(bind, func(line string) { fmt.Fprintln(s.out, line) })
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "serving iperf3 clients on %v\n", server.Addr())
	return server.Serve(ctx)
}

// iperf3Test is what `tare send --iperf3` was asked for.
type iperf3Test struct {
	workload result.WorkloadPlan
	duration time.Duration // ignored where the workload names bytes
	omit     time.Duration
	interval time.Duration // zero: a line a second
	json     bool
}

// sendIperf3 runs one test against the iperf3 server at to. It prints a line
// for each interval and the outcome, or all of it as iperf3's own JSON.
func sendIperf3(ctx context.Context, to netip.AddrPort, asked iperf3Test, s streams) error {
	test, err := asked.test()
	if err != nil {
		return wrong("%w", err)
	}
	settle()
	if !asked.json {
		test.Each = func(i iperf3.Interval) { fmt.Fprintln(s.out, intervalLine(i, test)) }
	}
	out, err := iperf3.Run(ctx, to, test)
	if err != nil {
		return err
	}
	if asked.json {
		return out.WriteJSON(s.out, "tare "+version)
	}
	for _, line := range outcomeLines(out) {
		fmt.Fprintln(s.out, line)
	}
	for _, warning := range out.Warnings {
		fmt.Fprintf(s.err, "tare: %s\n", warning)
	}
	return nil
}

// test is what was asked for in iperf3's terms, or an error for what iperf3 lacks.
func (a iperf3Test) test() (iperf3.Test, error) {
	w := a.workload
	t := iperf3.Test{
		Flows: w.Flows, Reverse: w.Reverse, Bidir: w.Bidir, Duration: a.duration, Bytes: w.Bytes, Omit: a.omit,
		Size: w.Size, CC: w.CC, Interval: a.interval, Rate: traffic.BitsPerSecond(w.Rate.Value),
	}
	if t.Bytes > 0 {
		t.Duration = 0
	}
	switch w.Name {
	case "tcp_stream":
	case "udp_stream", "udp_pps":
		t.UDP = true
		known, ok := workload.Find(w.Name)
		if ok && t.Rate == 0 {
			t.Rate = traffic.BitsPerSecond(known.Rate)
		}
	default:
		return t, fmt.Errorf("iperf3 has no %s: choose tcp_stream, udp_stream or udp_pps", w.Name)
	}
	if w.Rate.Unit == catalog.PerSecond {
		if w.Size == 0 {
			return t, errors.New("a rate of packets needs their size here: give --size, or a rate as 100mbit")
		}
		t.Rate = traffic.BitsPerSecond(w.Rate.Value * float64(w.Size) * 8)
	}
	return t, nil
}

// settle keeps the collector out of the tests.
func settle() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapMost)
}

// intervalLine is one step of a test for people.
func intervalLine(i iperf3.Interval, test iperf3.Test) string {
	var retransmits, lost, datagrams int64
	var rtt time.Duration
	for _, s := range i.Steps {
		retransmits += s.Retransmits
		rtt = max(rtt, s.TCP.RTT)
		if !s.Sends {
			lost, datagrams = lost+s.Lost, datagrams+s.Datagrams
		}
	}
	parts := []string{fmt.Sprintf("%6.2f-%-6.2f s", i.From.Seconds(), i.To.Seconds())}
	if !test.Reverse {
		parts = append(parts, "sent "+readableRate(i.BitsPerSecond(true)))
	}
	if test.Reverse || test.Bidir {
		parts = append(parts, "received "+readableRate(i.BitsPerSecond(false)))
	}
	switch {
	case test.UDP && datagrams > 0:
		parts = append(parts, fmt.Sprintf("lost %d of %d", lost, datagrams))
	case !test.UDP && !test.Reverse:
		parts = append(parts, fmt.Sprintf("%d retransmits", retransmits), fmt.Sprintf("rtt %v", rtt))
	}
	if i.Omitted {
		parts = append(parts, "omitted")
	}
	return strings.Join(parts, "  ")
}

// outcomeLines are a test's figures for people.
func outcomeLines(out iperf3.Outcome) []string {
	metrics := out.Metrics()
	lines := []string{"throughput   " + readableRate(metrics["throughput"]) + " at the receiver"}
	if retransmits, known := metrics["retransmits"]; known {
		lines = append(lines, fmt.Sprintf("retransmits  %.0f", retransmits))
	}
	if out.Test.UDP {
		lines = append(lines,
			fmt.Sprintf("loss         %.3g %%", 100*metrics["loss"]),
			fmt.Sprintf("jitter       %.1f us", 1e6*metrics["jitter"]))
	}
	return append(lines, fmt.Sprintf("CPU          %.0f %% here, %.0f %% at the server, of the processes alone", out.CPU.Total, out.ServerCPU.Total))
}

// readableRate is a rate of payload bits.
func readableRate(bits float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"Gbit/s", 1e9}, {"Mbit/s", 1e6}} {
		if bits >= unit.size {
			return fmt.Sprintf("%.2f %s", bits/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.1f kbit/s", bits/1e3)
}
