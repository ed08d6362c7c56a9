package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// directed runs tcp_stream and returns both tallies.
func directed(t *testing.T, change func(*Run)) (server, client Tally) {
	t.Helper()
	w, _ := Find("tcp_stream")
	run := runOf(w, w.Modes[0])
	change(&run)
	server, client, serverErr, clientErr := both(w, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	known(t, server)
	known(t, client)
	return server, client
}

// uperf and xfr counted the throughput of some workloads at the sender
// (uperf/uperf #52, lance0/xfr #81).
func TestThroughputIsCountedAtTheReceiver(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		receiver, sender := directed(t, func(r *Run) { r.Reverse = reverse })
		if reverse {
			receiver, sender = sender, receiver
		}
		if _, ok := sender.Metrics["throughput"]; ok || sender.Work != 0 || sender.Window != 0 {
			t.Errorf("reverse %t: the sender reports %+v", reverse, sender)
		}
		want := receiver.Counters["bytes"] * 8 / receiver.Window.Seconds()
		if got := receiver.Metrics["throughput"]; got <= 0 || got < want*0.999 || got > want*1.001 {
			t.Errorf("reverse %t: throughput %g, from what arrived %g", reverse, got, want)
		}
		if _, ok := sender.Metrics["retransmits"]; !ok {
			t.Errorf("reverse %t: the sender reports no retransmits: %v", reverse, sender.Metrics)
		}
	}
}

func TestBothWays(t *testing.T) {
	server, client := directed(t, func(r *Run) { r.Bidir = true })
	forward, reverse := server.Metrics["throughput"], client.Counters["throughput_reverse"]
	labtest.MoreThan(t, "throughput forward", forward, 0)
	labtest.MoreThan(t, "throughput in reverse", reverse, 0)
	labtest.AtLeast(t, "intervals forward", len(server.Series["throughput"]), 1)
	labtest.AtLeast(t, "intervals in reverse", len(client.Series["throughput_reverse"]), 1)
	for name := range server.Metrics {
		if _, both := client.Metrics[name]; both {
			t.Errorf("both ends report %s: one would hide the other", name)
		}
	}
	for name := range server.Counters {
		if _, both := client.Counters[name]; both {
			t.Errorf("both ends count %s: one would hide the other", name)
		}
	}
	if _, ok := client.Metrics["retransmits"]; !ok || server.Counters["write_bytes_reverse"] != 128<<10 {
		t.Errorf("server %+v, client %+v", server, client)
	}
	oneWay := server.Counters["bytes"] * 8 / gigabit
	if client.Work != 0 || server.Work <= oneWay {
		t.Errorf("the CPU worked for %g Gbit, %g of them forward", server.Work, oneWay)
	}
}

// TestOfferedRateIsMarkedNotScaled asks for more than any path carries.
func TestOfferedRateIsMarkedNotScaled(t *testing.T) {
	server, client := directed(t, func(r *Run) { r.Rate = 1e14 })
	marked := slices.ContainsFunc(client.Warnings, func(w string) bool { return strings.HasPrefix(w, "offered-rate: less than 100000000 Mbit/s") })
	if !marked || client.Counters["offered_throughput"] >= 1e14 || server.Metrics["throughput"] >= 1e14 {
		t.Errorf("warnings %v, offered %g, received %g", client.Warnings, client.Counters["offered_throughput"], server.Metrics["throughput"])
	}
}

func TestStreamTakesWhatARunAsksFor(t *testing.T) {
	run := Run{Token: token, Mode: "rx-trunc", Flows: 3, Size: 1448, Rate: 5e6, Bytes: 77, CC: "reno", Warmup: time.Second, Duration: time.Minute}
	s, err := stream(run)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "mode", string(s.Mode), run.Mode)
	labtest.Equal(t, "flows", s.Flows, 3)
	labtest.Equal(t, "write bytes", s.WriteBytes, 1448)
	labtest.Equal(t, "read bytes", s.ReadBytes, 0)
	labtest.Equal(t, "rate", float64(s.Rate), run.Rate)
	labtest.Equal(t, "bytes", s.Bytes, 77)
	labtest.Equal(t, "CC", s.Window.CC, "reno")
	labtest.Equal(t, "warmup", s.Window.Warmup, time.Second)
	labtest.Equal(t, "duration", s.Window.Duration, time.Minute)
	if _, client := directed(t, func(r *Run) { r.Bytes = 1 << 20; r.Duration = time.Minute; r.Interval = 0 }); client.CC == "" {
		t.Errorf("client %+v", client)
	}
}

func TestSteadiness(t *testing.T) {
	for name, test := range map[string]struct {
		steps    []float64
		cv       float64
		warnings string
	}{
		"too few":        {[]float64{1, 9, 1, 9}, -1, ""},
		"nothing":        {[]float64{0, 0, 0, 0, 0}, -1, ""},
		"even":           {[]float64{100, 101, 99, 100, 100}, 0.00707, ""},
		"wavering":       {[]float64{100, 60, 140, 100, 100}, 0.283, "standard deviation"},
		"a change":       {[]float64{108, 108, 108, 108, 94, 94, 94, 94}, 0.0741, "level changed"},
		"a small change": {[]float64{104, 104, 104, 104, 96, 96, 96, 96}, 0.0428, ""},
		"one low step":   {[]float64{100, 100, 100, 100, 85, 100, 100, 100, 100, 100}, 0.0482, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tally := Tally{Metrics: map[string]float64{}}
			addSteadiness(&tally, test.steps)
			cv, known := tally.Metrics["throughput_cv"]
			labtest.Equal(t, "throughput_cv known", known, test.cv >= 0)
			if known {
				labtest.Between(t, "throughput_cv", cv, test.cv*0.99, test.cv*1.01)
			}
			if known && (tally.Metrics["throughput_min"] != slices.Min(test.steps) || tally.Metrics["throughput_max"] != slices.Max(test.steps)) {
				t.Errorf("metrics %v", tally.Metrics)
			}
			all := strings.Join(tally.Warnings, "; ")
			if (test.warnings == "") != (all == "") || !strings.Contains(all, test.warnings) {
				t.Errorf("warnings %q, want %q", all, test.warnings)
			}
		})
	}
}

// A line with noise in proportion to its times is found again.
func TestFitLine(t *testing.T) {
	sizes, err := result.ParseSizes(catalog.SweptSizes)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(1e-7, 1e-5).Draw(t, "per message")
		b := rapid.Float64Range(1e-11, 1e-8).Draw(t, "per byte")
		var points []point
		for _, size := range sizes {
			noise := rapid.Float64Range(0.95, 1.05).Draw(t, "noise")
			points = append(points, point{float64(size), (a + b*float64(size)) * noise})
		}
		perMessage, perByte, ok := fitLine(points)
		// Each part alone is known as well as it weighs in the times.
		for _, p := range points {
			if fitted, real := perMessage+perByte*p.size, a+b*p.size; !ok || math.Abs(fitted/real-1) > 0.1 {
				t.Fatalf("%g + %g x size is fitted as %g + %g x size, %t", a, b, perMessage, perByte, ok)
			}
		}
	})
	for name, points := range map[string][]point{
		"none": nil, "two": {{1, 1}, {2, 2}}, "one size": {{1, 1}, {1, 2}, {1, 3}}, "falling": {{1, 3}, {2, 2}, {3, 1}},
	} {
		if a, b, ok := fitLine(points); ok {
			t.Errorf("%s: %g + %g x size", name, a, b)
		}
	}
}

func TestSizesOfTheSeries(t *testing.T) {
	w, _ := Find("tcp_sizes")
	run := runOf(w, w.Modes[0])
	run.Sizes = []int{1, 1024, 8192, 65536}
	server, client, serverErr, clientErr := both(w, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "sizes", fmt.Sprint(server.Series["size"]), "[1 1024 8192 65536]")
	labtest.Equal(t, "number of throughputs", len(server.Series["throughput"]), 4)
	labtest.Equal(t, "number of rates", len(server.Series["rate"]), 4)
	labtest.Equal(t, "number of medians", len(client.Series["rtt_p50"]), 2)
	if last := server.Series["throughput"][3]; server.Metrics["throughput"] != last {
		t.Errorf("headline %g, the largest size has %g", server.Metrics["throughput"], last)
	}
}
