package iperf3

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// within reports whether two counts agree up to a slack that the protocol
// leaves: the ends stop counting at different moments.
func within(a, b, slack int64) bool { return max(a-b, b-a) <= slack }

// socketBuffers is the most that one flow can have on its way over loopback.
func socketBuffers(t *testing.T) (sum int64) {
	t.Helper()
	for _, name := range []string{"tcp_rmem", "tcp_wmem"} {
		text, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var least, first, most int64
		if _, err := fmt.Sscan(string(text), &least, &first, &most); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sum += most
	}
	return sum
}

// The real client prints the same of each of these tests as our server.
func TestDeepServesRealClient(t *testing.T) {
	at, log := ourServer(t, loopback)
	for name, c := range map[string]struct {
		args  []string
		flows int
		line  string // of our server
	}{
		"tcp":              {[]string{"-t", "1"}, 1, "TCP, flows 1 from the client"},
		"tcp reverse":      {[]string{"-t", "1", "-R"}, 1, "TCP, flows 1 to the client"},
		"tcp 4 flows":      {[]string{"-t", "1", "-P", "4"}, 4, "TCP, flows 4 from the client"},
		"tcp 4 reverse":    {[]string{"-t", "1", "-P", "4", "-R"}, 4, "TCP, flows 4 to the client"},
		"tcp paced":        {[]string{"-t", "1", "-b", "80M", "-l", "8K"}, 1, "TCP, flows 1 from the client"},
		"tcp paced back":   {[]string{"-t", "1", "-b", "80M", "-l", "8K", "-R"}, 1, "TCP, flows 1 to the client"},
		"tcp omit":         {[]string{"-t", "1", "-O", "1"}, 1, "TCP, flows 1 from the client"},
		"tcp omit reverse": {[]string{"-t", "1", "-O", "1", "-R"}, 1, "TCP, flows 1 to the client"},
		"tcp affinity":     {[]string{"-t", "1", "-b", "1M", "-A", "0,0"}, 1, "not bound to CPU 0 as the client asked"},
		"tcp options":      {[]string{"-t", "1", "-N", "-w", "256K", "-S", "8", "-Z", "-i", "0.5", "-M", "1400"}, 1, "TCP, flows 1 from the client"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { t.Log(log.all()) }()
			r := realClient(t, at, c.args...)
			sent, received := r.End.SumSent, r.End.SumReceived
			if received.Bytes == 0 || received.Bytes > sent.Bytes && !strings.Contains(name, "omit") {
				t.Errorf("%d bytes sent, %d received", sent.Bytes, received.Bytes)
			}
			// Our server goes on sending until it learns of the end.
			if !slices.Contains(c.args, "-R") && !within(sent.Bytes, received.Bytes, int64(c.flows)*socketBuffers(t)) {
				t.Errorf("%d bytes sent, %d received: more than the sockets hold", sent.Bytes, received.Bytes)
			}
			if sent.Retransmits == nil {
				t.Error("the client knows no retransmits")
			}
			if r.End.SenderCongestion == "" || r.End.ReceiverCongestion == "" {
				t.Errorf("congestion control %q, %q", r.End.SenderCongestion, r.End.ReceiverCongestion)
			}
			if cpu := r.End.CPU["remote_total"]; cpu <= 0 || cpu > 800 {
				t.Errorf("our CPU is %g %%", cpu)
			}
			if len(r.End.Streams) != c.flows {
				t.Errorf("%d flows in the summary, want %d", len(r.End.Streams), c.flows)
			}
			if strings.Contains(name, "paced") && sent.BitRate > 82e6 {
				t.Errorf("sent at %.1f Mbit/s, want 80 at most", sent.BitRate/1e6)
			}
			log.await(t, c.line)
		})
	}
}

func TestDeepServesRealClientUDP(t *testing.T) {
	for name, args := range map[string][]string{
		"forward":         {"-t", "1", "-b", "4M", "-l", "1000"},
		"reverse":         {"-t", "1", "-b", "4M", "-l", "1000", "-R"},
		"4 flows":         {"-t", "1", "-b", "2M", "-l", "500", "-P", "4"},
		"4 flows reverse": {"-t", "1", "-b", "2M", "-l", "500", "-P", "4", "-R"},
		"64 bit":          {"-t", "1", "-b", "2M", "-l", "500", "--udp-counters-64bit"},
		"small":           {"-t", "1", "-b", "1M", "-l", "16"},
		"default size":    {"-t", "1"},
		"bytes":           {"-n", "1M", "-b", "100M", "-l", "1000"},
		"omit":            {"-t", "1", "-O", "1", "-b", "4M", "-l", "1000"},
		"omit reverse":    {"-t", "1", "-O", "1", "-b", "4M", "-l", "1000", "-R"},
		"burst":           {"-t", "1", "-b", "4M/10", "-l", "1000", "-R"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, log := ourServer(t, loopback)
			r := realClient(t, at, append([]string{"-u"}, args...)...)
			log.await(t, "UDP, flows ")
			sent, received := r.End.SumSent, r.End.SumReceived
			if sent.Packets == 0 || received.Packets == 0 || received.Bytes == 0 {
				t.Fatalf("sent %+v, received %+v", sent, received)
			}
			if !within(sent.Packets, received.Packets, 1+sent.Packets/20) {
				t.Errorf("%d packets sent, %d received", sent.Packets, received.Packets)
			}
			if lost := r.End.Sum.Lost; lost < 0 || lost > sent.Packets/5 {
				t.Errorf("lost %d of %d on loopback", lost, sent.Packets)
			}
			if !slices.Contains(args, "-R") {
				log.await(t, fmt.Sprintf("lost %d of ", r.End.Sum.Lost))
			}
			if received.JitterMS < 0 || received.JitterMS > 50 {
				t.Errorf("jitter %g ms", received.JitterMS)
			}
			if slices.Contains(args, "4M") && slices.Contains(args, "-R") && sent.BitRate > 4.2e6 {
				t.Errorf("sent at %.2f Mbit/s, want 4 at most", sent.BitRate/1e6)
			}
		})
	}
}

func TestDeepServesRealClientBothWays(t *testing.T) {
	at, log := ourServer(t, loopback)
	r := realClient(t, at, "-t", "1", "--bidir", "-P", "2", "-b", "100M")
	for name, sums := range map[string][2]realStream{
		"forward": {r.End.SumSent, r.End.SumReceived},
		"back":    {r.End.SumSentReverse, r.End.SumReceivedReverse},
	} {
		for end, sum := range map[string]realStream{"sent": sums[0], "received": sums[1]} {
			if sum.BitRate < 50e6 || sum.BitRate > 215e6 {
				t.Errorf("%s: %s %.1f Mbit/s, want up to 200", name, end, sum.BitRate/1e6)
			}
		}
	}
	r = realClient(t, at, "-t", "1", "--bidir", "-u", "-b", "10M", "-l", "1000")
	if r.End.Sum.Lost < 0 || r.End.SumSent.Packets < 500 || r.End.SumReceivedReverse.Packets < 500 {
		t.Errorf("UDP both ways: %+v", r.End)
	}
	log.await(t, "UDP, flows 2 both ways")
}

func TestDeepServesRealClientsOneAfterAnother(t *testing.T) {
	at, log := ourServer(t, loopback)
	for range 8 {
		realClient(t, at, "-n", "1M")
	}
	log.watched.await(t, "a line for each test", func(all []string) bool { return len(all) == 8 })
	if n := strings.Count(log.all(), "TCP, flows"); n != 8 {
		t.Errorf("8 tests, and these lines:\n%s", log.all())
	}
}

func TestDeepClientDiesInTheMiddle(t *testing.T) {
	for _, args := range [][]string{{"-t", "20"}, {"-t", "20", "-R"}, {"-u", "-t", "20"}, {"-u", "-t", "20", "-R"}} {
		at, log := ourServer(t, loopback)
		between := newRecorder(t, at)
		client := startRealClient(t, between, nil, append(args, "-b", "10M")...)
		between.awaitRunning()
		if err := client.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = client.Wait()
		log.await(t, "the test failed: ")
		if text := log.all(); strings.Contains(text, "\n") || !strings.Contains(text, "went away") && !strings.Contains(text, "flow") {
			t.Errorf("%v: the server logs %q", args, text)
		}
		realClient(t, at, "-n", "1K")
	}
}
