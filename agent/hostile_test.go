package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/protocol"
	"tare/test/labtest"
	"tare/workload"
)

// shout connects, writes words and leaves the connection open until the test ends.
func shout(t *testing.T, at netip.AddrPort, words string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, words) // the server may have refused it already
	return c
}

// received is all that a peer sends until it closes.
func received(t *testing.T, c net.Conn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(labtest.Generous)); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(c) // a reset is an end too
	return string(text)
}

// What is no request leaves nothing in the server's memory.
func TestRefusedRequestsTakeNoMemory(t *testing.T) {
	at, _ := openPort(t, "sesame")
	half := `{"schema":"tare.serve/2","x":"` + strings.Repeat("a", maxRequest)
	held := func() uint64 {
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		return mem.Sys - mem.HeapReleased
	}
	before := held()
	for range 2000 {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, half)
		c.Close()
	}
	if grown := int64(held()) - int64(before); grown > 48<<20 { // kept, they were 260 MB
		t.Errorf("2000 half requests of 64 KiB took %d MiB", grown>>20)
	}
}

// A request that is not complete in a second is dropped, however slowly it comes.
func TestSlowRequestsAreDropped(t *testing.T) {
	t.Parallel()
	at, _ := openPort(t, "")
	c := shout(t, at, `{"schema":"tare.serve/2"`)
	begun, limit, slowly := time.Now(), time.After(labtest.Generous), time.NewTicker(50*time.Millisecond)
	defer slowly.Stop()
	for {
		if _, err := io.WriteString(c, "a"); err != nil {
			break
		}
		select {
		case <-slowly.C:
		case <-limit:
			t.Fatal("it may stay")
		}
	}
	labtest.InTime(t, "a connection with a byte each 50 ms", time.Since(begun), 3*time.Second)
}

// No peer takes what others need: where it has too many connections that ask for nothing,
// its own oldest go.
func TestVisitorsAreBounded(t *testing.T) {
	var v visitors
	one := netip.MustParseAddr("192.0.2.1")
	first := v.enter(one)
	for range mostVisitorsOf {
		v.enter(one)
	}
	labtest.Equal(t, "connections of one peer", len(v.waiting), mostVisitorsOf)
	labtest.Equal(t, "its oldest may stay", v.meet(first, nil), false)
	var peers []*visitor
	peer := one
	for range mostVisitors {
		peer = peer.Next()
		peers = append(peers, v.enter(peer))
	}
	labtest.Equal(t, "connections of all", len(v.waiting), mostVisitors)
	for n, own := range peers { // those of the first peer had to go before them
		labtest.Equal(t, fmt.Sprint("peer ", n, " may stay"), v.meet(own, nil), true)
		v.leave(own)
	}
	labtest.Equal(t, "connections at the end", len(v.waiting), 0)
}

// The token never crosses the network, and what does proves nothing a second time.
func TestTokenIsProvenNotSent(t *testing.T) {
	at, _ := openPort(t, "sesame")
	relay, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	var sent bytes.Buffer
	var mu sync.Mutex
	go func() { // one connection, seen by everybody
		c, err := relay.Accept()
		if err != nil {
			return
		}
		onward, err := net.Dial("tcp", at.String())
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(c, onward) }()
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			mu.Lock()
			sent.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
			_, _ = onward.Write(buf[:n])
		}
	}()
	c, err := net.Dial("tcp", relay.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := protocol.NewLines(c, c, protocol.MaxMessage)
	if err := apply(l, at, "sesame", Job{Workload: "tcp_rr", Run: shortRun("block")}); err != nil {
		t.Fatal(err)
	}
	if r, err := readReply(l, at); err != nil || r.End == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	mu.Lock()
	text := sent.String()
	mu.Unlock()
	if strings.Contains(text, "sesame") || !strings.Contains(text, `"proof"`) {
		t.Errorf("it sent %q", text)
	}
	if again := received(t, shout(t, at, text)); strings.Contains(again, `"end"`) {
		t.Errorf("what was seen served once more: %q", again)
	}
}

// Who has not shown the token receives no more than it sent.
func TestUnauthenticatedPeersAreAnsweredNoMoreThanTheySent(t *testing.T) {
	t.Parallel()
	at, _ := openPort(t, "sesame")
	for _, words := range []string{
		"", "x", "{", `{"schema":"tare.serve/2"`, `{"schema":"tare.serve/2"}` + "\n", `{"schema":"tare.serve/1","secret":"open","job":{}}` + "\n",
		`{"schema":"tare.serve/9"}` + "\n", `{"schema":"tare.serve/2","nonce":"00"}` + "\n{}\n", "GET / HTTP/1.1\r\n\r\n",
	} {
		if got := received(t, shout(t, at, words)); len(got) > len(words) {
			t.Errorf("%q: it answers %d bytes: %q", words, len(got), got)
		}
	}
}

// Two versions say so to each other.
func TestVersionsThatDifferSaySo(t *testing.T) {
	at, logged := openPort(t, "")
	old := `{"schema":"tare.serve/1","job":{"workload":"tcp_rr","run":{"flows":1}}}` + "\n"
	if got := received(t, shout(t, at, old)); !strings.Contains(got, "use the same version of tare at both ends") {
		t.Errorf("an older sender is answered %q", got)
	}
	if !strings.Contains(logged(), "tare.serve/1") {
		t.Errorf("the server logged %q", logged())
	}
}

// A server that is anybody writes nothing on the sender's terminal.
func TestHostileServersAreCleaned(t *testing.T) {
	for words, want := range map[string]string{
		`{"error":"\u001b]0;owned\u0007\u009b31m"}` + "\n": "]0;owned",
		"\x1b]0;owned\x07\n": "is no tare serve",
	} {
		_, err := Caller{}.Call(t.Context(), speaking(t, words, true, true), "tcp_rr", shortRun("block"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one with %q", words, err, want)
		} else if strings.ContainsAny(err.Error(), "\x1b\x07\u009b") {
			t.Errorf("%.40q: the error acts upon a terminal: %q", words, err)
		}
	}
}

// No line is without an end.
func TestLongLinesAreRefused(t *testing.T) {
	l := protocol.NewLines(strings.NewReader(strings.Repeat("a", 100)), nil, 64)
	if _, err := readReply(l, netip.AddrPort{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("error %v, want one with %q", err, "too long")
	}
}

// Runs are side by side whatever their workload is: none takes another's requests for its
// own flows.
func TestRunsSideBySideOfAnyWorkload(t *testing.T) {
	p, _ := openOwnPort(t, "")
	at := p.address
	for _, name := range []string{"http", "tcp_crr", "tcp_stream"} {
		kind, _ := workload.Find(name)
		long := shortRun(kind.Modes[0])
		long.Duration = 500 * time.Millisecond
		if name != "tcp_crr" {
			long.Size = 0
		}
		ended := make(chan error, 1)
		go func() {
			_, err := Caller{}.Call(t.Context(), at, name, long)
			ended <- err
		}()
		for lent, limit := false, time.Now().Add(labtest.Generous); !lent && time.Now().Before(limit); <-time.After(tidyStep / 1000) {
			p.mu.Lock()
			lent = p.lent
			p.mu.Unlock()
		}
		if _, err := (Caller{}).Call(t.Context(), at, "tcp_rr", shortRun("block")); err != nil {
			t.Errorf("next to %s: %v", name, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A port ends at once, with a run under way whose sender receives nothing.
func TestPortEndsInTheMiddleOfARun(t *testing.T) {
	opened, ended := make(chan netip.AddrPort, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &Port{Log: func(string) {}, Ready: func(at netip.AddrPort) { opened <- at }}
	go func() { ended <- p.Serve(ctx, netip.MustParseAddrPort("127.0.0.1:0")) }()
	run := shortRun("block")
	run.Duration = time.Hour
	defer begin(t, <-opened, "", Job{Workload: "tcp_rr", Run: run}).Close()
	shout(t, p.address, "{")
	begun := time.Now()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(labtest.Generous):
		t.Fatal("it does not end")
	}
	labtest.InTime(t, "the end", time.Since(begun), 2*time.Second)
}

// A log that peers can fill has no more lines in a second than somebody can read.
func TestLogIsBounded(t *testing.T) {
	var q boundedLog
	lines, now := 0, time.Now()
	for range 1000 {
		lines += len(q.say(now, "refused"))
	}
	labtest.Equal(t, "lines in a second", lines, mostLines)
	later := q.say(now.Add(time.Second), "refused")
	labtest.Equal(t, "then", strings.Join(later, "; "), "980 lines were left out; refused")
}
