package iperf3

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// playClient plays a client to our server at an address, up to a message. end ends the
// server where the real one was ended.
func playClient(t testing.TB, at netip.AddrPort, said []message, upto int, end func()) *part {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := newPart(&script{t: t, conn: conn}, "client", said)
	for i, m := range said[:upto] {
		switch {
		case m.is("server", serverTerminate):
			end()
			r.receives(m)
		case m.is("server", testStart):
			r.receives(m)
			r.number()
		case m.from == "server" && m.kind == saysJSON:
			r.counted(r.receives(m))
		case m.from == "server" && m.kind != opensUDP:
			r.receives(m)
		case m.is("client", testEnd):
			r.pass()
			r.awaitEnough()
			r.sends(m.bytes())
		case m.from == "client" && m.kind == opensTCP:
			r.dialTCP(at, said[0])
		case m.from == "client" && m.kind == opensUDP:
			r.dialUDP(at, said[i:])
		case m.from == "client" && m.kind != prints:
			r.sends(m.bytes())
		}
	}
	return r
}

func (r *part) dialTCP(at netip.AddrPort, c message) {
	r.t.Helper()
	conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
	r.works(err)
	r.owns(conn)
	write := func(p []byte) error {
		_, err := conn.Write(p)
		return err
	}
	r.works(write(c.bytes()))
	go r.read(r.add(write), conn)
}

// dialUDP opens a flow. opening begins with its first datagram and goes on with the answer.
func (r *part) dialUDP(at netip.AddrPort, opening []message) {
	r.t.Helper()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	r.works(err)
	r.owns(conn)
	write := func(p []byte) error {
		_, err := conn.Write(p)
		return err
	}
	r.works(write(r.spoken(opening[0])))
	if len(opening) == 1 {
		return
	}
	var got [64]byte
	n, err := conn.Read(got[:])
	r.works(err)
	r.answered(opening[1], got[:n])
	go r.read(r.add(write), conn)
}

// awaitEnough waits until the client may end the test: something has come on each flow, and
// as many bytes as it asked for.
func (r *part) awaitEnough() {
	r.t.Helper()
	r.got.await(r.t, "what the client asked for", func(got [mostPlayed]arrived) bool {
		sum, receives := int64(0), false
		for i, f := range r.flows {
			if f.sends {
				continue
			}
			if got[i].bytes == 0 {
				return false
			}
			receives, sum = true, sum+got[i].bytes
		}
		return !receives || sum >= int64(r.p.Num)
	})
}

// TestServerSpeaksWithRecordedClients has our server take each recorded client: it says what
// the real server said, and counts what was sent.
func TestServerSpeaksWithRecordedClients(t *testing.T) {
	for _, d := range dialogues() {
		if d.serverLogs == "" {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			at, log, end := endingServer(t, loopback)
			if d.busy {
				other := dialScript(t, at)
				other.wants(paramExchange)
			}
			said := readDialogue(t, d.name)
			playClient(t, at, said, len(said), end)
			log.await(t, d.serverLogs)
		})
	}
}

// TestServerOutlivesClientsThatLeave cuts each dialogue before each word of the client: our
// server says so in one line, and serves the next.
func TestServerOutlivesClientsThatLeave(t *testing.T) {
	for _, d := range dialogues() {
		if d.busy || d.ends == "server" || d.serverLogs == "" {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			said := readDialogue(t, d.name)
			for i, m := range said {
				if i == 0 || m.from != "client" || m.kind == prints {
					continue
				}
				at, log := ourServer(t, loopback)
				r := playClient(t, at, said, i, nil)
				client := r.conn.LocalAddr().String() + ": "
				r.close()
				log.await(t, client)
				all := log.all()
				line, _, _ := strings.Cut(all[strings.Index(all, client):], "\n")
				if !strings.Contains(line, "failed: ") && !strings.Contains(line, "did not send that it is done: ") {
					t.Errorf("a client left before %q: %s", m, line)
				}
				awaitFree(t, at)
			}
		})
	}
}
