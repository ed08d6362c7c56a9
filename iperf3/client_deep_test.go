package iperf3

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Our client and the real server print the same of each of these tests.
func TestDeepCallsRealServer(t *testing.T) {
	const time1 = 600 * time.Millisecond
	for name, test := range map[string]Test{
		"tcp":            {Duration: time1},
		"tcp reverse":    {Duration: time1, Reverse: true},
		"tcp 4 flows":    {Duration: time1, Flows: 4},
		"tcp 4 reverse":  {Duration: time1, Flows: 4, Reverse: true},
		"tcp paced":      {Duration: time1, Rate: 80e6, Size: 8192},
		"tcp paced back": {Duration: time1, Rate: 80e6, Size: 8192, Reverse: true},
		"tcp cubic":      {Duration: time1, CC: "cubic"},
		"tcp window":     {Duration: time1, Window: 256 << 10},
		"tcp omit":       {Duration: time1, Omit: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			out, theirs := runReal(t, test)
			var sent, received int64
			for _, f := range out.Flows {
				sent, received = sent+f.SentBytes, received+f.ReceivedBytes
				if f.Retransmits < 0 {
					t.Errorf("flow %d: the retransmits are not known", f.Socket)
				}
			}
			if received == 0 || !within(sent, received, int64(len(out.Flows))*socketBuffers(t)) {
				t.Errorf("%d bytes sent, %d received", sent, received)
			}
			side, ours := theirs.End.SumReceived.Bytes, received
			if test.Reverse {
				side, ours = theirs.End.SumSent.Bytes, sent
			}
			if side != ours {
				t.Errorf("the server counted %d bytes, and we have %d of it", side, ours)
			}
			holdsRate(t, out)
			if test.CC != "" && (out.Congestion != test.CC || out.ServerCongestion != test.CC) {
				t.Errorf("congestion control %q and %q, want %q", out.Congestion, out.ServerCongestion, test.CC)
			}
			if out.CPU.Total <= 0 || out.ServerCPU.Total <= 0 {
				t.Errorf("CPU %+v here, %+v there", out.CPU, out.ServerCPU)
			}
		})
	}
}

func TestDeepCallsRealServerUDP(t *testing.T) {
	const time1 = 600 * time.Millisecond
	for name, test := range map[string]Test{
		"forward":         {Duration: time1, Rate: 4e6, Size: 1000},
		"reverse":         {Duration: time1, Rate: 4e6, Size: 1000, Reverse: true},
		"4 flows":         {Duration: time1, Rate: 2e6, Size: 500, Flows: 4},
		"4 flows reverse": {Duration: time1, Rate: 2e6, Size: 500, Flows: 4, Reverse: true},
		"small":           {Duration: time1, Rate: 1e6, Size: 16},
		"default size":    {Duration: time1, Rate: 8e6},
		"bytes":           {Bytes: 1 << 20, Rate: 4e6, Size: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.UDP = true
			out, theirs := runReal(t, test)
			var sent, lost, received int64
			for _, f := range out.Flows {
				sent, lost, received = sent+f.Datagrams, lost+f.Lost, received+f.ReceivedBytes
			}
			// What the server had not read when it received the end, it never read.
			there, size := theirs.End.Sum, int64(out.Test.Size)
			arrived := there.Packets - there.Lost
			if !test.Reverse && (lost != sent-arrived || received != arrived*size) {
				t.Errorf("lost %d of %d, got %d bytes; the server has %+v", lost, sent, received, there)
			}
			if test.Reverse && (sent != there.Packets || received > sent*size) {
				t.Errorf("got %d bytes of %d datagrams; the server has %+v", received, sent, there)
			}
			if sent == 0 || out.Loss() > 0.2 {
				t.Errorf("lost %d of %d on loopback", lost, sent)
			}
			holdsRate(t, out)
		})
	}
}

// holdsRate wants no more than the rate that was asked for, and no less, but
// for what a sender of ours gave up.
func holdsRate(t *testing.T, out Outcome) {
	t.Helper()
	if out.Test.Rate == 0 {
		return
	}
	for _, f := range out.Flows {
		due := float64(out.Test.Rate) / 8 * f.SentTime.Seconds() / float64(out.Test.Size)
		sent := float64(f.SentBytes) / float64(out.Test.Size)
		if sent > due*1.02+2 {
			t.Errorf("%.0f blocks in %v, want %.0f at most", sent, f.SentTime, due)
		}
		if f.Sends && sent+float64(f.Skipped) < due*0.85-2 {
			t.Errorf("%.0f blocks sent and %d given up in %v, want %.0f", sent, f.Skipped, f.SentTime, due)
		}
	}
}

func TestDeepCallsRealServerBothWays(t *testing.T) {
	out, _ := runReal(t, Test{Duration: 600 * time.Millisecond, Bidir: true, Rate: 50e6, Size: 8192})
	if len(out.Flows) != 2 || out.Flows[0].Sends == out.Flows[1].Sends {
		t.Fatalf("flows %+v", out.Flows)
	}
	holdsRate(t, out)
	for _, f := range out.Flows {
		if f.ReceivedBytes == 0 || f.Retransmits < 0 {
			t.Errorf("flow %+v", f)
		}
	}
}

func TestDeepIntervalsAddUp(t *testing.T) {
	var seen []Interval
	out, _ := runReal(t, Test{
		Duration: 600 * time.Millisecond, Omit: time.Second, Interval: 200 * time.Millisecond, Flows: 2,
		Each: func(i Interval) { seen = append(seen, i) },
	})
	if len(seen) != len(out.Intervals) || len(seen) != 8 {
		t.Fatalf("%d intervals reported of %d, want 5 omitted and 3", len(seen), len(out.Intervals))
	}
	var sum, whole int64
	for n, i := range out.Intervals {
		if i.Omitted != (n < 5) {
			t.Errorf("interval %d from %v to %v: omitted %t", n, i.From, i.To, i.Omitted)
		}
		if i.Omitted {
			continue
		}
		for _, s := range i.Steps {
			sum += s.Bytes
		}
	}
	for _, f := range out.Flows {
		whole += f.SentBytes
	}
	if sum != whole {
		t.Errorf("the intervals hold %d bytes, the flows %d", sum, whole)
	}
	if got := len(out.Series()["throughput"]); got != 3 {
		t.Errorf("a series of %d, want 3", got)
	}
}

func TestDeepServerDiesInTheMiddle(t *testing.T) {
	for name, test := range map[string]Test{
		"tcp": {}, "tcp reverse": {Reverse: true}, "udp": {UDP: true, Rate: 1e6}, "udp reverse": {UDP: true, Reverse: true, Rate: 1e6},
	} {
		test.Duration = time.Minute
		failed := make(chan error, 1)
		t.Run(name, func(t *testing.T) { // its end kills the server
			at, _ := realServer(t)
			started := make(chan struct{}, 100)
			test.Interval, test.Each = 50*time.Millisecond, func(Interval) { started <- struct{}{} }
			go func() {
				_, err := Run(context.Background(), at, test)
				failed <- err
			}()
			<-started
		})
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "server") && !strings.Contains(err.Error(), "peer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
