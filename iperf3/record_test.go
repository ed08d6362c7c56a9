package iperf3

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "record the dialogues of iperf3 anew")

// recorder relays between a real client and a real server. It keeps each message before it
// hands it on, so that answers come after what they answer.
type recorder struct {
	t    testing.TB
	at   netip.AddrPort // where the client calls
	to   netip.AddrPort
	said watched[[]message]
	left watched[int] // the ends that have closed the control connection
}

// newRecorder relays to the server at to until the test ends.
func newRecorder(t testing.TB, to netip.AddrPort) *recorder {
	t.Helper()
	tcp := listenAside(t)
	r := &recorder{t: t, at: addressOf(tcp.Addr()), to: to}
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(r.at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = tcp.Close(), udp.Close() })
	go r.connections(tcp)
	go r.datagrams(udp)
	return r
}

func (r *recorder) keep(m message) {
	r.said.change(func(all *[]message) { *all = append(*all, m) })
}

// failed reports what went wrong but for what the end of a test closes.
func (r *recorder) failed(err error) bool {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNREFUSED) && ignoreClosed(err) != nil {
		r.t.Errorf("record iperf3: %v", err)
	}
	return err != nil
}

// connections relays the control connection, which comes first, and flows.
func (r *recorder) connections(l *net.TCPListener) {
	for first := true; ; first = false {
		client, err := l.AcceptTCP()
		if r.failed(err) {
			return
		}
		server, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(r.to))
		if r.failed(err) {
			return
		}
		var c cookie
		if _, err := io.ReadFull(client, c[:]); r.failed(err) {
			return
		}
		hand := r.data
		if first {
			hand = r.messages
			r.keep(message{"client", saysCookie, c.String()})
		} else {
			r.keep(message{"client", opensTCP, ""})
		}
		if _, err := server.Write(c[:]); r.failed(err) {
			return
		}
		go hand("client", client, server)
		go hand("server", server, client)
	}
}

// data relays what one end sends on a flow.
func (r *recorder) data(_ string, in, out *net.TCPConn) {
	_, err := io.Copy(out, in)
	r.failed(err)
	_ = out.CloseWrite() // it may be gone
}

// messages relays what one end says on the control connection.
func (r *recorder) messages(from string, in, out *net.TCPConn) {
	for {
		m, err := readOne(from, in)
		if r.failed(err) {
			break
		}
		r.keep(m)
		if _, err := out.Write(m.bytes()); r.failed(err) {
			break
		}
	}
	_ = out.CloseWrite()
	r.left.change(func(ends *int) { *ends++ })
}

// datagrams relays UDP flows, each by a separate socket.
func (r *recorder) datagrams(client *net.UDPConn) {
	servers := map[netip.AddrPort]*net.UDPConn{}
	p := make([]byte, 1<<16)
	for {
		n, from, err := client.ReadFromUDPAddrPort(p)
		if r.failed(err) {
			return
		}
		server, known := servers[from]
		if !known {
			if server, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.to)); r.failed(err) {
				return
			}
			r.t.Cleanup(func() { server.Close() })
			servers[from] = server
			r.keep(message{"client", opensUDP, strconv.Quote(string(p[:n]))})
			go r.answers(client, server, from)
		}
		if _, err := server.Write(p[:n]); r.failed(err) {
			return
		}
	}
}

func (r *recorder) answers(client, server *net.UDPConn, to netip.AddrPort) {
	p := make([]byte, 1<<16)
	for first := true; ; first = false {
		n, err := server.Read(p)
		if r.failed(err) {
			return
		}
		if first {
			r.keep(message{"server", opensUDP, strconv.Quote(string(p[:n]))})
		}
		if _, err := client.WriteToUDPAddrPort(p[:n], to); r.failed(err) {
			return
		}
	}
}

// awaitRunning waits until the server has said that the test runs.
func (r *recorder) awaitRunning() {
	r.t.Helper()
	r.said.await(r.t, "the test runs", func(all []message) bool {
		return slices.ContainsFunc(all, func(m message) bool { return m.is("server", testRunning) })
	})
}

// all waits until both ends have left, and returns what they said. The answer of a server's
// flow passes beside its control connection: it is put behind the greeting.
func (r *recorder) all() []message {
	r.t.Helper()
	r.left.await(r.t, "both ends leave", func(ends int) bool { return ends == 2 })
	var said, answers []message
	for _, m := range r.said.get() {
		if m.from == "server" && m.kind == opensUDP {
			answers = append(answers, m)
		} else {
			said = append(said, m)
		}
	}
	for i := 0; i < len(said); i++ {
		if said[i].kind == opensUDP && len(answers) > 0 {
			i++
			said, answers = slices.Insert(said, i, answers[0]), answers[1:]
		}
	}
	return said
}

// shape is what a dialogue has whatever it measured: who says what, with which keys.
func shape(said []message) (lines []string) {
	for _, m := range said {
		switch m.kind {
		case saysCookie, prints:
			m.text = ""
		case saysJSON:
			m.text = fmt.Sprint(keys(m.text))
		}
		lines = append(lines, m.String())
	}
	return lines
}
