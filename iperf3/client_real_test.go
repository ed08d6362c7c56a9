package iperf3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// Our client and the real server print the same of each of these tests.
func TestRealCallsRealServer(t *testing.T) {
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

// runReal runs a test against a real server, which must exit 0.
func runReal(t testing.TB, test Test) (Outcome, report) {
	t.Helper()
	at, reports := realServer(t)
	out, err := Run(t.Context(), at, test)
	if err != nil {
		t.Fatal(err)
	}
	theirs := <-reports
	if theirs.Error != "" {
		t.Fatal(theirs.Error)
	}
	return out, theirs
}

func TestRealCallsRealServerExactBytes(t *testing.T) {
	const bytes = 20<<20 + 12345 // no multiple of a block
	for name, test := range map[string]Test{
		"forward": {Bytes: bytes}, "4 flows": {Bytes: bytes, Flows: 4},
		"reverse": {Bytes: bytes, Reverse: true},
	} {
		t.Run(name, func(t *testing.T) {
			out, theirs := runReal(t, test)
			var received int64
			for _, f := range out.Flows {
				received += f.ReceivedBytes
			}
			if test.Reverse {
				labtest.Between(t, "bytes received", received, bytes, theirs.End.SumSent.Bytes)
				return
			}
			// A server on a busy machine may not have read the last of it.
			labtest.Equal(t, "bytes received, by our report", received, theirs.End.SumReceived.Bytes)
			labtest.Between(t, "bytes received", received, bytes*9/10, bytes)
		})
	}
}

func TestRealCallsRealServerUDP(t *testing.T) {
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

func TestRealCallsRealServerBothWays(t *testing.T) {
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

// Our JSON has every key that the real client's has, with the same type.
func TestRealJSONIsThatOfIperf3(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		test Test
	}{
		"tcp":         {[]string{"-t", "1", "-P", "2"}, Test{Flows: 2}},
		"tcp reverse": {[]string{"-t", "1", "-R"}, Test{Reverse: true}},
		"tcp both":    {[]string{"-t", "1", "--bidir"}, Test{Bidir: true}},
		"udp":         {[]string{"-t", "1", "-u", "-b", "10M"}, Test{UDP: true, Rate: 10e6}},
		"udp reverse": {[]string{"-t", "1", "-u", "-R", "-b", "10M"}, Test{UDP: true, Reverse: true, Rate: 10e6}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, _ := ourServer(t, loopback)
			theirs := realClientText(t, ours, c.args...)
			c.test.Duration = time.Second
			out, _ := runReal(t, c.test)
			var text bytes.Buffer
			if err := out.WriteJSON(&text, "tare test"); err != nil {
				t.Fatal(err)
			}
			var a, b any
			if err := errors.Join(json.Unmarshal(theirs, &a), json.Unmarshal(text.Bytes(), &b)); err != nil {
				t.Fatal(err)
			}
			sameShape(t, "", a, b)
		})
	}
}

// sameShape wants all keys of a in b, with values of the same type.
func sameShape(t *testing.T, where string, a, b any) {
	t.Helper()
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			t.Errorf("%s: want an object", where)
			return
		}
		for key, value := range a {
			if _, has := b[key]; !has && key == "out_of_order" {
				continue // what only the receiver knows; iperf3 writes 0
			} else if !has {
				t.Errorf("%s.%s is missing", where, key)
				continue
			}
			sameShape(t, where+"."+key, value, b[key])
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(b) == 0 && len(a) > 0 {
			t.Errorf("%s: want an array with elements", where)
			return
		}
		if len(a) > 0 {
			sameShape(t, where+"[0]", a[0], b[0])
		}
	case float64:
		if _, ok := b.(float64); !ok {
			t.Errorf("%s is %v, want a number", where, b)
		}
	case string:
		if _, ok := b.(string); !ok {
			t.Errorf("%s is %v, want a string", where, b)
		}
	case bool:
		if b != a {
			t.Errorf("%s is %v, want %v", where, b, a)
		}
	}
}

func TestRealIntervalsAddUp(t *testing.T) {
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

func TestRealServerIsBusy(t *testing.T) {
	at, reports := realServer(t)
	done := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		first := true
		_, err := Run(context.Background(), at, Test{Duration: time.Second, Interval: 100 * time.Millisecond, Each: func(Interval) {
			if first {
				first = false
				close(started)
			}
		}})
		done <- err
	}()
	<-started
	_, err := Run(t.Context(), at, Test{Bytes: 1000})
	if err == nil || !strings.Contains(err.Error(), "busy with another test: try again") {
		t.Errorf("the second client: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("the first client: %v", err)
	}
	if r := <-reports; r.Error != "" {
		t.Error(r.Error)
	}
}

func TestRealServerRefuses(t *testing.T) {
	at, _ := realServer(t)
	_, err := Run(t.Context(), at, Test{Duration: time.Second, CC: "nosuch"})
	if err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got %v", err)
	}
}

func TestRealClientIsStopped(t *testing.T) {
	at, reports := realServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Run(ctx, at, Test{Duration: time.Minute})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 3*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	<-reports // the real server ends too: it was informed
}

func TestRealServerDiesInTheMiddle(t *testing.T) {
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
		began := time.Now()
		err := <-failed
		if err == nil || time.Since(began) > 5*time.Second || !strings.Contains(err.Error(), "server") && !strings.Contains(err.Error(), "peer") {
			t.Errorf("%s: after %v: %v", name, time.Since(began), err)
		}
	}
}

func TestRealIPv6(t *testing.T) {
	at, _ := ourServer(t, netip.MustParseAddrPort("[::1]:0"))
	realClient(t, at, "-n", "1M")
	realClient(t, at, "-u", "-n", "100K", "-b", "100M", "-l", "1000")
	if _, err := Run(t.Context(), at, Test{UDP: true, Bytes: 100_000, Rate: 100e6, Size: 1000}); err != nil {
		t.Error(err)
	}
}

// A server on the wildcard address answers from where it was called.
func TestRealWildcardAddress(t *testing.T) {
	for _, bind := range []string{"[::]:0", "0.0.0.0:0"} {
		at, _ := ourServer(t, netip.MustParseAddrPort(bind))
		for _, called := range []string{"127.0.0.1", "127.0.0.7"} {
			to := netip.AddrPortFrom(netip.MustParseAddr(called), at.Port())
			realClient(t, to, "-n", "1M")
			realClient(t, to, "-u", "-n", "100K", "-b", "100M", "-l", "1000", "-P", "2")
		}
	}
}
