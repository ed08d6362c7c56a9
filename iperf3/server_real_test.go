package iperf3

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
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
func TestRealServesRealClient(t *testing.T) {
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
			if !within(sent.Bytes, received.Bytes, int64(c.flows)*socketBuffers(t)) {
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

func TestRealServesRealClientExactBytes(t *testing.T) {
	at, _ := ourServer(t, loopback)
	for name, args := range map[string][]string{
		"bytes":           {"-n", "20M"},
		"bytes reverse":   {"-n", "20M", "-R"},
		"blocks":          {"-k", "160"},
		"blocks of 1000":  {"-k", "3000", "-l", "1000"},
		"bytes, 4 flows":  {"-n", "40M", "-P", "4"},
		"4 flows reverse": {"-n", "40M", "-P", "4", "-R"},
	} {
		t.Run(name, func(t *testing.T) {
			r := realClient(t, at, args...)
			sent, received := r.End.SumSent.Bytes, r.End.SumReceived.Bytes
			if sent != received || sent == 0 {
				t.Errorf("%d bytes sent, %d received", sent, received)
			}
		})
	}
}

func TestRealServesRealClientUDP(t *testing.T) {
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

func TestRealServesRealClientBothWays(t *testing.T) {
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

func TestRealServesRealClientsOneAfterAnother(t *testing.T) {
	at, log := ourServer(t, loopback)
	for range 8 {
		realClient(t, at, "-n", "1M")
	}
	for end := time.Now().Add(5 * time.Second); strings.Count(log.all(), "TCP, flows") < 8; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("8 tests, and these lines:\n%s", log.all())
		}
	}
}

func TestRealSecondClientIsRefusedWhileAnotherRuns(t *testing.T) {
	at, log := ourServer(t, loopback)
	first := dialScript(t, at)
	first.wants(paramExchange)
	second, _ := tryRealClient(t, at, "-n", "1K")
	if !strings.Contains(second.Error, "server is busy") {
		t.Errorf("the second client reports %q", second.Error)
	}
	log.await(t, "a test is under way")
	first.conn.Close()
	log.await(t, "the test failed")
	realClient(t, at, "-n", "1K")
}

func TestRealClientGetsServerOutput(t *testing.T) {
	at, _ := ourServer(t, loopback)
	r := realClient(t, at, "-n", "1M", "--get-server-output")
	if !strings.Contains(r.ServerOutput, "TCP, flows 1 from the client") {
		t.Errorf("server output %q", r.ServerOutput)
	}
}

func TestRealClientReportsWhyItIsRefused(t *testing.T) {
	at, log := ourServer(t, loopback)
	// The client itself can't set it either unless the kernel has it, so a
	// congestion control that exists nowhere is refused at the client.
	r, _ := tryRealClient(t, at, "-n", "1K", "--sctp")
	if r.Error == "" {
		t.Error("SCTP was accepted")
	}
	log.await(t, "SCTP is not supported here")
	realClient(t, at, "-n", "1K")
}

func TestRealClientDiesInTheMiddle(t *testing.T) {
	for _, args := range [][]string{{"-t", "20"}, {"-t", "20", "-R"}, {"-u", "-t", "20"}, {"-u", "-t", "20", "-R"}} {
		at, log := ourServer(t, loopback)
		args = append([]string{"-c", at.Addr().String(), "-p", strconv.Itoa(int(at.Port())), "-b", "10M"}, args...)
		client := exec.Command(realIperf3(t), args...)
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(400 * time.Millisecond)
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

// The server ends while a client is in the middle of a test.
func TestRealClientReportsThatTheServerEnded(t *testing.T) {
	received := make(chan string, 1)
	t.Run("server", func(t *testing.T) {
		at, _ := ourServer(t, loopback)
		go func() {
			r, _ := tryRealClient(t, at, "-t", "20", "-b", "10M")
			received <- r.Error
		}()
		time.Sleep(400 * time.Millisecond)
	})
	if got := <-received; !strings.Contains(got, "server has terminated") {
		t.Errorf("the client reports %q", got)
	}
}
