package iperf3

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net"
	"net/netip"
	"testing"
	"time"
)

// script is one end of a control connection that a test plays by hand.
type script struct {
	t    testing.TB
	conn *net.TCPConn
	c    cookie
}

// dialScript introduces a client to our server.
func dialScript(t testing.TB, at netip.AddrPort) *script {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &script{t, conn, newCookie()}
	s.sends(s.c[:])
	return s
}

func (s *script) sends(text []byte) {
	s.t.Helper()
	if _, err := s.conn.Write(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) sendsState(states ...state) {
	s.t.Helper()
	for _, one := range states {
		s.sends([]byte{byte(one)})
	}
}

func (s *script) saysJSON(text string) {
	s.t.Helper()
	s.sends(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
}

func (s *script) wants(states ...state) {
	s.t.Helper()
	for _, want := range states {
		var got [1]byte
		s.reads(got[:])
		if state(got[0]) != want {
			s.t.Fatalf("the peer sent %d, want %d", int8(got[0]), want)
		}
	}
}

func (s *script) reads(p []byte) {
	s.t.Helper()
	if err := s.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
	for len(p) > 0 {
		n, err := s.conn.Read(p)
		if err != nil {
			s.t.Fatalf("read from the peer: %v", err)
		}
		p = p[n:]
	}
}

func (s *script) readsJSON(into any) {
	s.t.Helper()
	text, err := readMessage(s.conn)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		s.t.Fatalf("%v in %q", err, text)
	}
}

// datagrams are those of these numbers, as a client sends them.
func datagram(number int64, size int) []byte {
	p := make([]byte, size)
	header{sent: time.Now().UnixMicro(), number: number}.put(p, true)
	return p
}

// udpTest plays a client that sends the datagrams of these numbers and reports
// that it sent so many, and returns the server's results.
func udpTest(t testing.TB, at netip.AddrPort, sent int64, numbers ...int64) (results, *script) {
	t.Helper()
	s := dialScript(t, at)
	s.wants(paramExchange)
	s.saysJSON(`{"udp":true,"omit":0,"time":1,"num":0,"parallel":1,"len":64,"bandwidth":1000000,"udp_counters_64bit":1}`)
	s.wants(createStreams)
	flow, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { flow.Close() })
	if err := flow.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := flow.Write(udpHello[:]); err != nil {
		t.Fatal(err)
	}
	var answer [4]byte
	if _, err := flow.Read(answer[:]); err != nil || answer != udpWelcome {
		t.Fatalf("the server answered %q: %v", answer, err)
	}
	s.wants(testStart, testRunning)
	for _, n := range numbers {
		if _, err := flow.Write(datagram(n, 64)); err != nil {
			t.Fatal(err)
		}
	}
	s.sendsState(testEnd)
	s.wants(exchangeResults)
	s.saysJSON(resultsText(1, sent*64, sent, 0))
	var r results
	s.readsJSON(&r)
	s.wants(displayResults)
	s.sendsState(iperfDone)
	return r, s
}

// resultsText is one flow's results as iperf3 3.12 writes them.
func resultsText(id int, size, packets, errors int64) string {
	var text bytes.Buffer
	one := map[string]any{
		"id": id, "bytes": size, "retransmits": uint64(1<<64 - 1), "jitter": 1e-5,
		"errors": errors, "packets": packets, "start_time": 0, "end_time": 1.0,
	}
	all := map[string]any{
		"cpu_util_total": 1.5, "cpu_util_user": 0.5, "cpu_util_system": 1.0,
		"sender_has_retransmits": uint64(1<<64 - 1), "streams": []any{one},
	}
	if err := json.NewEncoder(&text).Encode(all); err != nil {
		panic(err)
	}
	return text.String()
}

// serveScript plays a server to one client of ours; play gets the control
// connection once the client has sent its cookie, and the listener.
func serveScript(t testing.TB, play func(s *script, l *net.TCPListener)) netip.AddrPort {
	t.Helper()
	l := listenAside(t)
	at := addressOf(l.Addr())
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.AcceptTCP()
		if err != nil {
			return // the test is over
		}
		s := &script{t: noFatal{t}, conn: conn}
		defer func() {
			if r := recover(); r != nil && r != errScript {
				panic(r)
			}
		}()
		defer conn.Close()
		s.reads(s.c[:])
		play(s, l)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return at
}

// noFatal ends a script's goroutine instead of the test's.
type noFatal struct{ testing.TB }

type scriptEnd string

const errScript scriptEnd = "script"

func (n noFatal) Fatalf(format string, args ...any) {
	n.TB.Errorf(format, args...)
	panic(errScript)
}

func (n noFatal) Fatal(args ...any) {
	n.TB.Error(args...)
	panic(errScript)
}
