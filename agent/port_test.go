package agent

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/protocol"
	"tare/test/labtest"
	"tare/workload"
)

// openPort serves at a port of the kernel's choice until the test ends, and
// returns its address and what it logs.
func openPort(t *testing.T, secret string) (netip.AddrPort, func() string) {
	t.Helper()
	p, logged := openOwnPort(t, secret)
	return p.address, logged
}

// openOwnPort is openPort, and returns the port.
func openOwnPort(t *testing.T, secret string) (*Port, func() string) {
	t.Helper()
	var mu sync.Mutex
	var logged []string
	opened := make(chan netip.AddrPort, 1)
	p := &Port{
		Secret: secret,
		Log:    func(text string) { mu.Lock(); defer mu.Unlock(); logged = append(logged, text) },
		Ready:  func(at netip.AddrPort) { opened <- at },
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, netip.MustParseAddrPort("127.0.0.1:0")) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-opened
	return p, func() string { mu.Lock(); defer mu.Unlock(); return strings.Join(logged, "\n") }
}

func shortRun(mode string) workload.Run {
	return workload.Run{
		Token: "000102030405060708090a0b0c0d0e0f", Mode: mode, Flows: 1, Size: 64,
		Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond,
	}
}

// TestUnknownPeersDisturbNoRun: garbage, silence and half a request
// before and during a run are dropped, counted, and the run goes on.
func TestUnknownPeersDisturbNoRun(t *testing.T) {
	at, _ := openPort(t, "")
	for _, words := range []string{"", "GET / HTTP/1.1\r\n\r\n", `{"schema":"tare.ser`, strings.Repeat("x", 1<<16)} {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, words); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var probing sync.WaitGroup
	probing.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if c, err := net.Dial("tcp", at.String()); err == nil {
				_, _ = io.WriteString(c, "let me in, I am no tare at all")
				c.Close()
			}
		}
	})
	warned := false // that there were some, of one run at least: a busy machine may have none in its time
	for _, name := range []string{"tcp_rr", "tcp_stream", "tcp_crr"} {
		kind, _ := workload.Find(name)
		out, err := Caller{}.Call(t.Context(), at, name, shortRun(kind.Modes[0]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		warned = warned || strings.Contains(strings.Join(out.Sample().Warnings, "\n"), "strangers: ")
	}
	labtest.Equal(t, "unknown peers are named", warned, true)
	close(stop)
	probing.Wait()
}

func TestPortExplainsRefusals(t *testing.T) {
	at, logged := openPort(t, "sesame")
	good := shortRun("block")
	long := good
	long.Duration = 1000 * time.Hour
	for want, try := range map[string]struct {
		secret, name string
		run          workload.Run
	}{
		"--token":           {"", "tcp_rr", good},
		"the token is not":  {"open", "tcp_rr", good},
		"a window of 1000h": {"sesame", "tcp_rr", long},
	} {
		if _, err := (Caller{Secret: try.secret}).Call(t.Context(), at, try.name, try.run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that holds %q", err, want)
		}
		if !strings.Contains(logged(), want) {
			t.Errorf("the server logged %q, not %q", logged(), want)
		}
	}
	if _, err := (Caller{Secret: "sesame"}).Call(t.Context(), at, "tcp_rr", good); err != nil {
		t.Error(err)
	}
}

func TestPortChecksRequests(t *testing.T) {
	for want, job := range map[string]Job{
		"unknown to this": {Workload: "smoke_signals"},
		"1048576 flows":   {Workload: "tcp_rr", Run: workload.Run{Flows: 1048576}},
		"0 flows":         {Workload: "tcp_rr"},
		"a window of -1":  {Workload: "tcp_rr", Run: workload.Run{Flows: 1, Duration: -1}},
	} {
		if err := check(job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one that holds %q", job, err, want)
		}
	}
}

// begin asks a port for a run and receives the line that it may begin.
func begin(t *testing.T, at netip.AddrPort, secret string, job Job) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	l := protocol.NewLines(c, c, protocol.MaxMessage)
	if err := apply(l, at, secret, job); err != nil {
		t.Fatal(err)
	}
	if r, err := readReply(l, at); err != nil || r.End == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	return c
}

// TestDisconnectedSenderFreesThePort: its run ends, and the next has the port.
func TestDisconnectedSenderFreesThePort(t *testing.T) {
	at, _ := openPort(t, "")
	run := shortRun("block")
	run.Duration = time.Hour
	for range 3 {
		begin(t, at, "", Job{Workload: "tcp_rr", Run: run}).Close()
	}
	begun := time.Now()
	if _, err := (Caller{}).Call(t.Context(), at, "tcp_rr", shortRun("block")); err != nil {
		t.Error(err)
	}
	labtest.InTime(t, "the next run", time.Since(begun), soon)
}

// speaking is the address of a server that reads a line, where it waits for one, and then
// writes some words.
func speaking(t *testing.T, words string, waits, closes bool) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if waits {
				_, _ = bufio.NewReader(c).ReadString('\n')
			}
			_, _ = io.WriteString(c, words)
			if closes {
				c.Close()
			}
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// TestCallNamesWhatListensThere: another server, and one that is silent.
func TestCallNamesWhatListensThere(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"220 mail ready\r\n": "is no tare serve",
		"":                   "see whether it is tare serve",
	} {
		begun := time.Now()
		_, err := Caller{}.Call(t.Context(), speaking(t, words, false, false), "tcp_rr", shortRun("block"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that holds %q", err, want)
		}
		labtest.InTime(t, "the error", time.Since(begun), soon)
	}
}
