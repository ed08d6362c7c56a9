package dns

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// testDNS is a short run that asks for one address.
func testDNS(mode Mode, flows int) Options {
	return Options{Window: traffictest.ShortWindow, Mode: mode, Flows: flows, Name: "server.tare.test.", Address: netip.AddrFrom4([4]byte{192, 0, 2, 1})}
}

func TestDNSIsChecked(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no window":    func(c *Options) { c.Window = traffic.Window{} },
		"mode":         func(c *Options) { c.Mode = "tcp" },
		"flows":        func(c *Options) { c.Flows = traffic.MaxFlows + 1 },
		"no address":   func(c *Options) { c.Address = netip.Addr{} },
		"IPv6 address": func(c *Options) { c.Address = netip.IPv6Loopback() },
		"no name":      func(c *Options) { c.Name = "" },
		"relative":     func(c *Options) { c.Name = "server" },
		"long name":    func(c *Options) { c.Name = strings.Repeat("a.", 200) },
	} {
		c := testDNS(Reuse, 1)
		change(&c)
		if _, err := Call(t.Context(), traffictest.Loopback, c); err == nil {
			t.Errorf("%s: %+v was called", name, c)
		}
	}
}

// dnsResponse is the right one to a query, with a change.
func dnsResponse(t *testing.T, query []byte, change func(*dnsmessage.Message)) []byte {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		t.Fatal(err)
	}
	m.Response, m.Authoritative = true, true
	if len(m.Questions) == 1 {
		h := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: 60}
		m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}}}
	}
	if change != nil {
		change(&m)
	}
	packed, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// wrongResponses are changes of the right one, by what their errors say.
func wrongResponses() map[string]func(*dnsmessage.Message) {
	other := dnsmessage.MustNewName("other.tare.test.")
	return map[string]func(*dnsmessage.Message){
		"under ID":                          func(m *dnsmessage.Message) { m.ID++ },
		"a query, not a response":           func(m *dnsmessage.Message) { m.Response = false },
		"the code RCodeServerFailure":       func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeServerFailure },
		"the code RCodeNameError":           func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeNameError },
		"truncated":                         func(m *dnsmessage.Message) { m.Truncated, m.Answers = true, nil },
		"the question other.tare.test.":     func(m *dnsmessage.Message) { m.Questions[0].Name = other },
		"TypeAAAA":                          func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeAAAA },
		"read the question":                 func(m *dnsmessage.Message) { m.Questions = nil },
		"more than one question":            func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) },
		"no answer":                         func(m *dnsmessage.Message) { m.Answers = nil },
		"more than one answer":              func(m *dnsmessage.Message) { m.Answers = append(m.Answers, m.Answers[0]) },
		"answered other.tare.test.":         func(m *dnsmessage.Message) { m.Answers[0].Header.Name = other },
		"192.0.2.9 where 192.0.2.1 was due": func(m *dnsmessage.Message) { m.Answers[0].Body = &dnsmessage.AResource{A: [4]byte{192, 0, 2, 9}} },
	}
}

func TestDNSRefusesWrongResponses(t *testing.T) {
	c := testDNS(Reuse, 1)
	query, err := c.query()
	if err != nil {
		t.Fatal(err)
	}
	question, err := c.question()
	if err != nil {
		t.Fatal(err)
	}
	d := &dialogue{id: 7, asked: 3, question: question, due: c.Address.As4()}
	query[1] = 7
	if whole, err := d.answered(dnsResponse(t, query, nil)); !whole || err != nil {
		t.Errorf("the right response: %t, %v", whole, err)
	}
	for want, change := range wrongResponses() {
		if _, err := d.answered(dnsResponse(t, query, change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	right := dnsResponse(t, query, nil)
	for n := range right {
		if whole, err := d.answered(right[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for a response: %t", n, len(right), whole)
		}
	}
	// One to an earlier query of the socket is late; one to none is wrong.
	for id, late := range map[byte]bool{6: true, 5: true, 4: false, 8: false} {
		query[1] = id
		whole, err := d.answered(dnsResponse(t, query, nil))
		if whole || late != (err == nil) {
			t.Errorf("under ID %d: %t, %v; late: %t", id, whole, err, late)
		}
	}
}

// TestLabDNSMeasures asks a server that answers rightly, and sees from how many ports.
func TestLabDNSMeasures(t *testing.T) {
	for _, flows := range []int{1, 7} {
		for _, mode := range []Mode{Reuse, Fresh} {
			s := serveDNS(t, func(query []byte, _ int) [][]byte { return [][]byte{dnsResponse(t, query, nil)} })
			done, err := Call(t.Context(), s.at, testDNS(mode, flows))
			if err != nil {
				t.Fatalf("%s on %d flows: %v", mode, flows, err)
			}
			queries, ports, repeated := s.seen()
			ownPorts := mode == Reuse || flows == 1 // else a flow may have the port that another closed, and its ID by chance
			if done.Count == 0 || labtest.Timed(t) && done.Lost > int64(2*flows) || int64(queries) < done.Count || repeated > 0 && ownPorts {
				t.Errorf("%s on %d flows: %d counted, %d lost, %d asked, %d under the ID of the one before", mode, flows, done.Count, done.Lost, queries, repeated)
			}
			if mode == Reuse && ports != flows || mode == Fresh && ports < min(queries, 1000)*9/10 {
				t.Errorf("%s on %d flows: %d queries came from %d ports", mode, flows, queries, ports)
			}
			if p50, ok := done.RTT.Median(); !ok || p50 <= 0 {
				t.Errorf("%s: p50 %v", mode, p50)
			}
		}
	}
}

// TestDNSEndsAtAWrongResponse asks a server that answers rightly for a while: an
// error, and no number.
func TestDNSEndsAtAWrongResponse(t *testing.T) {
	for want, change := range wrongResponses() {
		for _, mode := range []Mode{Reuse, Fresh} {
			s := serveDNS(t, func(query []byte, n int) [][]byte {
				if n < 100 {
					return [][]byte{dnsResponse(t, query, nil)}
				}
				return [][]byte{dnsResponse(t, query, change)}
			})
			c := testDNS(mode, 2)
			c.Window.Duration = 5 * time.Second
			if done, err := Call(t.Context(), s.at, c); err == nil || !strings.Contains(err.Error(), want) || done.Count > 0 {
				t.Errorf("%s: %v, %d counted: want %q", mode, err, done.Count, want)
			}
		}
	}
	nobody := labtest.FreePort(t)
	if _, err := Call(t.Context(), nobody, testDNS(Fresh, 2)); err == nil || !strings.Contains(err.Error(), "connection refused: no server of DNS runs there") {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestLabDNSCountsLost asks a server that leaves out a query in fifty, answers another too
// late, and each of them twice.
func TestLabDNSCountsLost(t *testing.T) {
	for _, mode := range []Mode{Reuse, Fresh} {
		for _, flows := range []int{1, 5} {
			var late [][]byte
			s := serveDNS(t, func(query []byte, n int) [][]byte {
				right := dnsResponse(t, query, nil)
				switch {
				case n%50 == 20:
					return nil
				case n%50 == 40 && mode == Reuse && flows == 1: // its next query brings it
					late = append(late, right)
					return nil
				}
				out := append(late, right, right)
				late = nil
				return out
			})
			c := testDNS(mode, flows)
			c.Window.Duration = 3 * Timeout
			done, err := Call(t.Context(), s.at, c)
			if err != nil {
				t.Fatalf("%s on %d flows: %v", mode, flows, err)
			}
			if done.Lost < 1 || labtest.Timed(t) && done.Count < 10*done.Lost {
				t.Errorf("%s on %d flows: %d lost, %d counted", mode, flows, done.Lost, done.Count)
			}
			if longest, ok := done.RTT.Max(); !ok || longest < Timeout {
				t.Errorf("%s: the longest took %v, although %d were lost", mode, longest, done.Lost)
			}
		}
	}
}

func TestLabDNSNamesASilentServer(t *testing.T) {
	t.Parallel()
	silent := serveDNS(t, func([]byte, int) [][]byte { return nil })
	c := testDNS(Reuse, 2)
	c.Window.Duration = time.Hour
	if done, err := Call(t.Context(), silent.at, c); err == nil || !strings.Contains(err.Error(), "answered 0 requests and then no more") {
		t.Errorf("a server that never answers: %v, %d counted", err, done.Count)
	}
}

// dnsServer answers as a test asks it to, and remembers who asked.
type dnsServer struct {
	at netip.AddrPort

	mu       sync.Mutex
	queries  int
	last     map[uint16]uint16 // the ID of the last query from each port
	repeated int
}

func serveDNS(t *testing.T, answer func(query []byte, n int) [][]byte) *dnsServer {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(traffictest.Loopback))
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{at: conn.LocalAddr().(*net.UDPAddr).AddrPort(), last: map[uint16]uint16{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		p := make([]byte, messageRoom)
		for n := 0; ; n++ {
			size, from, err := conn.ReadFromUDPAddrPort(p)
			if err != nil {
				return
			}
			s.note(from.Port(), uint16(p[0])<<8|uint16(p[1]))
			for _, out := range answer(p[:size], n) {
				if _, err := conn.WriteToUDPAddrPort(out, from); err != nil {
					return
				}
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		serving.Wait()
	})
	return s
}

func (s *dnsServer) note(port, id uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, known := s.last[port]; known && before == id {
		s.repeated++
	}
	s.queries++
	s.last[port] = id
}

func (s *dnsServer) seen() (queries, ports, repeated int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries, len(s.last), s.repeated
}
