package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// playServer plays a server to one client of ours, up to a message, on a control connection
// that has shown its cookie.
func playServer(s *script, l *net.TCPListener, said []message, upto int) {
	s.t.Helper()
	r := newPart(s, "server", said)
	udp := r.listenUDP(addressOf(l.Addr()))
	for _, m := range said[1:upto] {
		switch {
		case m.from == "client" && m.kind == opensTCP:
			r.acceptTCP(l)
		case m.from == "client" && m.kind == opensUDP:
			r.answered(m, udp.next(r))
		case m.from == "server" && m.kind == opensUDP:
			r.works(r.flows[len(r.flows)-1].write(r.spoken(m)))
		case m.is("server", testStart):
			r.number()
			r.sends(m.bytes())
		case m.is("server", testRunning):
			r.sends(m.bytes())
			r.pass()
		case m.from == "server":
			r.sends(m.bytes())
		case m.kind == saysJSON && len(r.flows) > 0:
			r.counted(r.receives(m))
		case m.kind != prints:
			r.receives(m)
		}
	}
}

func (r *part) acceptTCP(l *net.TCPListener) {
	r.t.Helper()
	r.works(l.SetDeadline(time.Now().Add(time.Minute)))
	conn, err := l.AcceptTCP()
	r.works(err)
	r.t.Cleanup(func() { conn.Close() })
	var c cookie
	_, err = io.ReadFull(conn, c[:])
	if r.works(err); c != r.c {
		r.t.Fatalf("a flow has the cookie %q, the test %q", c, r.c)
	}
	flow := r.add(func(p []byte) error {
		_, err := conn.Write(p)
		return err
	})
	go r.read(flow, conn)
}

// playedUDP is the one socket of a server's UDP flows.
type playedUDP struct {
	conn   *net.UDPConn
	greets chan greeting // the first datagram of each flow
}

type greeting struct {
	from netip.AddrPort
	text []byte
}

func (r *part) listenUDP(at netip.AddrPort) playedUDP {
	r.t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	r.works(err)
	r.t.Cleanup(func() { conn.Close() })
	u := playedUDP{conn, make(chan greeting, mostPlayed)}
	go func() {
		var flows []netip.AddrPort
		for buffer := make([]byte, 1<<16); ; {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			if flow := slices.Index(flows, from); flow >= 0 {
				r.take(flow, buffer[:n])
				continue
			}
			flows = append(flows, from)
			u.greets <- greeting{from, slices.Clone(buffer[:n])}
		}
	}()
	return u
}

// next waits for the next flow and returns its first datagram.
func (u playedUDP) next(r *part) []byte {
	r.t.Helper()
	select {
	case first := <-u.greets:
		r.add(func(p []byte) error {
			_, err := u.conn.WriteToUDPAddrPort(p, first.from)
			return err
		})
		return first.text
	case <-time.After(time.Minute):
		r.t.Fatal("our client opens no UDP flow")
		return nil
	}
}

// TestClientAsksWhatIperf3Asks compares the parameters of our client with those of the
// real one.
func TestClientAsksWhatIperf3Asks(t *testing.T) {
	for _, d := range dialogues() {
		recorded, found := find(readDialogue(t, d.name), "client", 0)
		if !d.asks() || !found || strings.Contains(recorded, `"sctp"`) {
			continue
		}
		test, err := d.ask.checked()
		if err != nil {
			t.Fatal(err)
		}
		p := test.parameters()
		p.fill(0)
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var ours, theirs map[string]any
		if err := errors.Join(json.Unmarshal(text, &ours), json.Unmarshal([]byte(recorded), &theirs)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s: our client asks\n%s, the real one\n%s", d.name, text, recorded)
		}
	}
}

// TestClientSpeaksWithRecordedServers has our client run each test with the recorded
// server: it says what the real client said, and puts the figures of both ends together.
func TestClientSpeaksWithRecordedServers(t *testing.T) {
	for _, d := range dialogues() {
		if !d.asks() {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			said := readDialogue(t, d.name)
			if d.clientSays != "" {
				said = refusalOf(said)
			}
			at := serveScript(t, func(s *script, l *net.TCPListener) { playServer(s, l, said, len(said)) })
			out, err := Run(t.Context(), at, d.ask)
			if d.clientSays != "" {
				if err == nil || !strings.Contains(err.Error(), d.clientSays) {
					t.Errorf("got %v, want words %q", err, d.clientSays)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			holdsRecorded(t, out, said)
			printsAsRecorded(t, out, said)
		})
	}
}

// refusalOf is a test that the server ends, up to its last word. What it says of SCTP it may
// say of TCP.
func refusalOf(said []message) []message {
	for said[len(said)-1].from != "server" {
		said = said[:len(said)-1]
	}
	for i := range said {
		said[i].text = strings.Replace(said[i].text, `"sctp":true`, `"tcp":true`, 1)
	}
	return said
}

// holdsRecorded wants the server's figures in our client's outcome.
func holdsRecorded(t *testing.T, out Outcome, said []message) {
	t.Helper()
	text, _ := find(said, "server", 0)
	theirs, err := parseResults([]byte(text), flowIDs(len(out.Flows)))
	if err != nil {
		t.Fatal(err)
	}
	if cpu := (CPU{theirs.CPUTotal, theirs.CPUUser, theirs.CPUSystem}); out.ServerCPU != cpu || out.ServerCongestion != theirs.Congestion {
		t.Errorf("the server's CPU is %+v and its congestion control %q, want %+v and %q", out.ServerCPU, out.ServerCongestion, cpu, theirs.Congestion)
	}
	if sent := out.sum(true, func(f Flow) int64 { return f.SentBytes }); out.Test.Bytes > 0 && !out.Test.Reverse && sent != out.Test.Bytes {
		t.Errorf("%d bytes were sent, want %d", sent, out.Test.Bytes)
	}
	for i, f := range out.Flows {
		there := theirs.Streams[i]
		at, here := f.SentBytes, f.ReceivedBytes
		if f.Sends {
			at, here = f.ReceivedBytes, f.SentBytes
		}
		if at != int64(there.Bytes) {
			t.Errorf("flow %d: the server counts %d bytes, want %d", there.ID, at, there.Bytes)
		}
		if !f.Sends && (here > at || out.Test.Bytes > 0 && here != at) {
			t.Errorf("flow %d: %d bytes arrived of %d", there.ID, here, at)
		}
		// What the real server had not read when the test ended is lost to it.
		if lost := max(f.Datagrams-int64(there.Packets), 0); f.Lost != lost || out.Test.UDP && !f.Sends && f.Datagrams != int64(there.Packets) {
			t.Errorf("flow %d: lost %d of %d, want %d", there.ID, f.Lost, f.Datagrams, lost)
		}
		if !out.Test.UDP && f.Retransmits < 0 {
			t.Errorf("flow %d: the retransmits are not known", there.ID)
		}
	}
}

// printsAsRecorded wants our JSON to have every key that the real client's has, with the
// same type.
func printsAsRecorded(t *testing.T, out Outcome, said []message) {
	t.Helper()
	var text bytes.Buffer
	if err := out.WriteJSON(&text, "tare test"); err != nil {
		t.Fatal(err)
	}
	var theirs, ours any
	if err := errors.Join(json.Unmarshal([]byte(said[len(said)-1].text), &theirs), json.Unmarshal(text.Bytes(), &ours)); err != nil {
		t.Fatal(err)
	}
	sameShape(t, "", theirs, ours)
}

// TestClientOutlivesServersThatLeave cuts each dialogue before each word of the server: our
// client fails with one line.
func TestClientOutlivesServersThatLeave(t *testing.T) {
	for _, d := range dialogues() {
		if !d.asks() {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			said := refusalOf(readDialogue(t, d.name))
			for i, m := range said {
				if m.from != "server" || m.kind == opensUDP {
					continue
				}
				at := serveScript(t, func(s *script, l *net.TCPListener) { playServer(s, l, said, i) })
				if _, err := Run(t.Context(), at, d.ask); err == nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("a server left before %q: %v", m, err)
				}
			}
		})
	}
}
