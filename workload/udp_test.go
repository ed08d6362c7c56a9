package workload

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic/udp"
)

// warned reports whether a warning of that name is among them.
func warned(t Tally, name string) bool {
	return slices.ContainsFunc(t.Warnings, func(w string) bool { return strings.HasPrefix(w, name+":") })
}

func TestPPSWarnsWhereItsRateIsNotOfPackets(t *testing.T) {
	for _, test := range []struct {
		mode    udp.Mode
		packets int64
		want    string
	}{
		{udp.Mmsg, 1000, ""}, {udp.Msg, 951, ""}, {udp.Mmsg, 940, "joined"}, {udp.Msg, 0, "joined"},
		{udp.GSO, 16, "gso"}, {udp.GSO, 1000, "gso"},
	} {
		got := ppsReceived(Run{Mode: string(test.mode)}, udp.Received{
			Datagrams: 1000, Packets: test.packets, Elapsed: time.Second, Expected: 1010, Lost: 10, BufferDrops: 4,
		})
		for _, name := range []string{"gso", "joined"} {
			if warned(got, name) != (name == test.want) {
				t.Errorf("%s, %d packets for 1000 datagrams: %q", test.mode, test.packets, got.Warnings)
			}
		}
		if c := got.Counters; c["packets"] != float64(test.packets) || c["receiver_drops"] != 4 || c["path_drops"] != 6 {
			t.Errorf("counters %v", c)
		}
	}
}

// A rate that no machine reaches: both figures are reported and nothing is scaled.
func TestPPSWarnsWhereItsRateWasNotReached(t *testing.T) {
	w, _ := Find("udp_pps")
	run := runOf(w, "mmsg")
	run.Flows, run.Rate = 24, 50e6
	server, client, serverErr, clientErr := both(w, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	if !warned(client, "offered-rate") || !warned(client, "late-sender") || client.Counters["skipped"] == 0 {
		t.Errorf("warnings %q, counters %v", client.Warnings, client.Counters)
	}
	if offered := client.Metrics["offered_rate"]; offered <= 0 || offered > 1e9 || server.Metrics["rate"] <= 0 {
		t.Errorf("offered %v, received %v", offered, server.Metrics["rate"])
	}
	text := strings.Join(client.Warnings, " ")
	if !strings.Contains(text, "1.2e+09 were asked for") {
		t.Errorf("the rate that was asked for is not reported: %q", text)
	}
	run.Rate = 0
	if _, client, _, _ := both(w, run, run); warned(client, "offered-rate") {
		t.Error("no rate was asked for")
	}
}

func TestLoadWarnsOfWhatItCouldNotFind(t *testing.T) {
	flat := []udp.Trial{{Offered: 100, Received: 100}, {Offered: 200, Received: 150, Loss: 0.25}, {Offered: 300, Received: 60, Loss: 0.8}}
	got := loadSent(Run{}, udp.LoadSent{Trials: flat, NoDropLow: 145, NoDropHigh: 155, Elapsed: time.Second})
	for name, want := range map[string]float64{"collapse": 0.6, "knee": 150, "received_most": 150, "received_at_twice_knee": 60} {
		labtest.Equal(t, name, got.Counters[name], want)
	}
	if len(got.Warnings) > 0 {
		t.Errorf("warnings %q, want none", got.Warnings)
	}
	if got.Metrics["rate"] != 145 || !slices.Equal(got.Series["offered"], []float64{100, 200, 300}) {
		t.Errorf("%+v", got)
	}
	for name, sent := range map[string]udp.LoadSent{
		"twice-knee":     {Trials: flat[:2], NoDropLow: 145, NoDropHigh: 155},
		"no-lower-bound": {Trials: flat, NoDropHigh: 100},
	} {
		if got := loadSent(Run{}, sent); !warned(got, name) || warned(got, "tester-limited") {
			t.Errorf("%s: %q", name, got.Warnings)
		}
	}
	free := loadSent(Run{}, udp.LoadSent{Trials: flat[:1], NoDropLow: 100, NoDropHigh: math.Inf(1)})
	if _, known := free.Counters["knee"]; known || !warned(free, "tester-limited") || free.Metrics["rate"] != 100 {
		t.Errorf("without loss: %+v", free)
	}
}

// TestOneWayDelayNeedsOneClock: it is reported where both ends have one, and not
// where they may have two.
func TestOneWayDelayNeedsOneClock(t *testing.T) {
	w, _ := Find("udp_stream")
	for _, shared := range []bool{true, false} {
		run := runOf(w, w.Modes[0])
		run.SharedClock = shared
		server, _, serverErr, clientErr := both(w, run, run)
		if err := errors.Join(serverErr, clientErr); err != nil {
			t.Fatal(err)
		}
		delay, known := server.Metrics["latency_one_way"]
		labtest.Equal(t, "one-way delay known", known, shared)
		if known {
			labtest.MoreThan(t, "one-way delay", delay, 0)
			labtest.AtMost(t, "one-way delay", delay, 60) // two clocks that have nothing to do with each other differ by more
		}
	}
}
