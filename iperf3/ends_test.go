package iperf3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// report is iperf3's own JSON, as far as the tests read it.
type report struct {
	Start struct {
		Connected []struct{ Socket int }
	}
	Intervals []struct {
		Streams []realStream
	}
	End struct {
		Streams []struct {
			Sender, Receiver, UDP *realStream
		}
		SumSent            realStream `json:"sum_sent"`
		SumReceived        realStream `json:"sum_received"`
		SumSentReverse     realStream `json:"sum_sent_bidir_reverse"`
		SumReceivedReverse realStream `json:"sum_received_bidir_reverse"`
		Sum                realStream
		CPU                map[string]float64 `json:"cpu_utilization_percent"`
		SenderCongestion   string             `json:"sender_tcp_congestion"`
		ReceiverCongestion string             `json:"receiver_tcp_congestion"`
	}
	ServerOutput string `json:"server_output_text"`
	Error        string
}

type realStream struct {
	Seconds     float64
	Bytes       int64
	BitRate     float64 `json:"bits_per_second"`
	Retransmits *int64
	JitterMS    float64 `json:"jitter_ms"`
	Lost        int64   `json:"lost_packets"`
	Packets     int64
	LostPercent float64 `json:"lost_percent"`
	Omitted     bool
}

// realIperf3 finds iperf3, without which these tests test nothing.
func realIperf3(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Fatal("iperf3 is missing: apt-get install iperf3")
	}
	return path
}

// lines are what our server logged.
type lines struct{ watched[[]string] }

func (l *lines) add(line string) {
	l.change(func(all *[]string) { *all = append(*all, line) })
}

func (l *lines) all() string { return strings.Join(l.get(), "\n") }

// await waits until a line holds the words.
func (l *lines) await(t testing.TB, words string) {
	t.Helper()
	l.watched.await(t, words, func(all []string) bool { return strings.Contains(strings.Join(all, "\n"), words) })
}

// ourServer serves until the test ends.
func ourServer(t testing.TB, bind netip.AddrPort) (netip.AddrPort, *lines) {
	t.Helper()
	at, log, _ := endingServer(t, bind)
	return at, log
}

// listenAside listens for a test that plays a server. No client has the UDP port of the same
// number (see labtest.FreePort).
func listenAside(t testing.TB) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(labtest.FreePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// endingServer serves until the test, or end, ends it.
func endingServer(t testing.TB, bind netip.AddrPort) (at netip.AddrPort, log *lines, end func()) {
	t.Helper()
	log = &lines{}
	s, err := Listen(netip.AddrPortFrom(bind.Addr(), labtest.FreePort(t).Port()), log.add)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the server did not end")
		}
	})
	return s.Addr(), log, cancel
}

// realClient runs the real client with -J; it must exit 0.
func realClient(t testing.TB, to netip.AddrPort, args ...string) report {
	t.Helper()
	r, err := tryRealClient(t, to, args...)
	if err != nil || r.Error != "" {
		t.Fatalf("iperf3 %v: %v %s", args, err, r.Error)
	}
	return r
}

func tryRealClient(t testing.TB, to netip.AddrPort, args ...string) (report, error) {
	t.Helper()
	out, err := runRealClient(t, to, args...)
	var r report
	if failed := json.Unmarshal(out, &r); failed != nil {
		t.Errorf("iperf3 %v: %v in %q", args, failed, out)
	}
	return r, err
}

func runRealClient(t testing.TB, to netip.AddrPort, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	args = append([]string{"-c", to.Addr().String(), "-p", strconv.Itoa(int(to.Port())), "-J"}, args...)
	return exec.CommandContext(ctx, realIperf3(t), args...).Output()
}

// realServer runs the real server for one test; the report comes on the
// channel once it has exited.
func realServer(t testing.TB, args ...string) (netip.AddrPort, <-chan report) {
	t.Helper()
	var out bytes.Buffer
	at, command := startRealServer(t, &out, append(args, "-J")...)
	reports := make(chan report, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := command.Wait()
		var r report
		if err = errors.Join(err, json.Unmarshal(out.Bytes(), &r)); err != nil {
			r.Error = fmt.Sprintf("the real server: %v in %q", err, out.Bytes())
		}
		reports <- r
	}()
	t.Cleanup(func() { <-ended }) // it is killed before
	return at, reports
}

// startRealServer starts the real server for one test, and returns when it listens.
func startRealServer(t testing.TB, out io.Writer, args ...string) (netip.AddrPort, *exec.Cmd) {
	t.Helper()
	at := labtest.FreePort(t)
	command := exec.CommandContext(t.Context(), realIperf3(t), append([]string{"-s", "-1", "-B", at.Addr().String(), "-p", strconv.Itoa(int(at.Port()))}, args...)...)
	command.Stdout = out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	awaitListener(t, at)
	return at, command
}

// awaitListener waits until something listens on a port, without touching it.
func awaitListener(t testing.TB, at netip.AddrPort) {
	t.Helper()
	listening := fmt.Sprintf(":%04X 00000000:0000 0A ", at.Port()) // proc(5), net/tcp
	labtest.Await(t, "a listener on "+at.String(), func() bool {
		table, err := os.ReadFile("/proc/self/net/tcp")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(table), listening)
	})
}
