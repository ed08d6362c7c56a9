package iperf3

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"
)

// part is one end of a recorded dialogue, played to an end of ours. It says word for
// word what the real one said, and passes as much data.
type part struct {
	*script
	me    string // "client" or "server"
	p     parameters
	ours  results // what the real end of this side counted; none where the test failed
	flows []*playedFlow
	conns []net.Conn
	got   watched[[mostPlayed]arrived] // of each flow
}

// mostPlayed is how many flows a recorded test has at most.
const mostPlayed = 4

// playedFlow is its end of a data flow.
type playedFlow struct {
	id    int
	sends bool
	write func([]byte) error
}

// arrived is what came on a flow.
type arrived struct{ bytes, highest int64 }

// add takes a flow that was opened, and returns its place.
func (r *part) add(write func([]byte) error) int {
	r.flows = append(r.flows, &playedFlow{write: write})
	return len(r.flows) - 1
}

// owns has a connection closed with the part.
func (r *part) owns(conn net.Conn) {
	r.conns = append(r.conns, conn)
	r.t.Cleanup(func() { conn.Close() })
}

// close leaves the other end alone.
func (r *part) close() {
	r.conn.Close()
	for _, conn := range r.conns {
		conn.Close()
	}
}

// take counts what arrived on a flow.
func (r *part) take(flow int, data []byte) {
	r.got.change(func(got *[mostPlayed]arrived) {
		got[flow].bytes += int64(len(data))
		if h, ok := parseHeader(data, r.p.WideCounters != 0); ok && bool(r.p.UDP) {
			got[flow].highest = max(got[flow].highest, h.number)
		}
	})
}

// read counts what arrives on a connection of one flow, until it is closed.
func (r *part) read(flow int, conn net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		r.take(flow, buffer[:n])
	}
}

// newPart plays one end of a dialogue.
func newPart(s *script, me string, said []message) *part {
	s.t.Helper()
	if err := s.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
	r := &part{script: s, me: me}
	if text, found := find(said, "client", 0); found {
		if err := json.Unmarshal([]byte(text), &r.p); err != nil {
			s.t.Fatal(err)
		}
	}
	of := map[string]int{"client": 1, "server": 0}
	if text, found := find(said, me, of[me]); found {
		if err := json.Unmarshal([]byte(text), &r.ours); err != nil {
			s.t.Fatal(err)
		}
	}
	return r
}

// number numbers the flows once all are open.
func (r *part) number() {
	ids := flowIDs(len(r.flows))
	for i, f := range r.flows {
		fromClient := !bool(r.p.Reverse) && (!bool(r.p.Bidirectional) || i < len(r.flows)/2)
		f.id, f.sends = ids[i], fromClient == (r.me == "client")
	}
}

// pass sends what the real end counted as sent. At a flow whose figures are not known it
// sends one block.
func (r *part) pass() {
	r.t.Helper()
	for i, f := range r.flows {
		if !f.sends {
			continue
		}
		size, packets := int64(r.p.Len), int64(1)
		if i < len(r.ours.Streams) {
			size, packets = int64(r.ours.Streams[i].Bytes), int64(r.ours.Streams[i].Packets)
		}
		if !r.p.UDP {
			r.works(f.write(make([]byte, size)))
			continue
		}
		for n := range packets {
			one := datagram(n+1, max(int(r.p.Len), wideHeader))
			header{sent: 1, number: n + 1}.put(one, r.p.WideCounters != 0)
			r.works(f.write(one[:r.p.Len]))
		}
	}
}

func (r *part) works(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// receives wants the other end to say what the real one said, with other figures.
func (r *part) receives(want message) message {
	r.t.Helper()
	got, err := readOne(want.from, r.conn)
	if err != nil {
		r.t.Fatalf("%v where %q is due", err, want)
	}
	if got.kind != want.kind || got.kind == saysState && got != want {
		r.t.Fatalf("our %s says %q where the real one says %q", want.from, got, want)
	}
	if got.kind == saysJSON {
		var theirs, ours any
		r.works(errors.Join(json.Unmarshal([]byte(want.text), &theirs), json.Unmarshal([]byte(got.text), &ours)))
		sameShape(r.t, "", theirs, ours)
	}
	return got
}

// counted wants the results of our end to be what arrived here, or what was sent from here.
func (r *part) counted(m message) {
	r.t.Helper()
	var theirs results
	r.works(json.Unmarshal([]byte(m.text), &theirs))
	for i, f := range r.flows {
		one := theirs.Streams[i]
		switch {
		case int(one.ID) != f.id:
			r.t.Errorf("our end counts flow %d as %d", f.id, one.ID)
		case r.p.Omit > 0: // it was over before the figures began
		case f.sends:
			r.countedAtReceiver(i, one)
		default:
			r.countedAtSender(i, one)
		}
	}
}

// countedAtReceiver wants no more than was sent. Of a test of so many bytes it waits for all, and
// so does our server of datagrams. Our client ends one of some time by its own clock, and reports
// before it knows what was sent: on a busy machine this end may have sent none yet.
func (r *part) countedAtReceiver(flow int, theirs flowResults) {
	r.t.Helper()
	sent, limited := r.ours.Streams[flow], r.p.Num+r.p.BlockCount > 0
	if theirs.Bytes > sent.Bytes || theirs.Bytes < sent.Bytes && !bool(r.p.UDP) && limited {
		r.t.Errorf("flow %d: our end counts %d of %d bytes", theirs.ID, theirs.Bytes, sent.Bytes)
	}
	all := limited || r.me == "client"
	if bool(r.p.UDP) && (theirs.Errors != 0 || theirs.Packets > sent.Packets || all && theirs.Packets < sent.Packets) {
		r.t.Errorf("flow %d: our end misses %d of %d datagrams, of which %d were sent", theirs.ID, theirs.Errors, theirs.Packets, sent.Packets)
	}
}

// countedAtSender wants as much as arrives here, but for datagrams that did not fit into
// the socket here.
func (r *part) countedAtSender(flow int, theirs flowResults) {
	r.t.Helper()
	if r.p.UDP {
		if r.me == "server" { // so few that its socket holds all
			r.got.await(r.t, fmt.Sprintf("%d datagrams of flow %d", theirs.Packets, theirs.ID), func(got [mostPlayed]arrived) bool {
				return got[flow].highest >= int64(theirs.Packets)
			})
		}
		if got := r.got.get()[flow]; got.highest > int64(theirs.Packets) || got.bytes > int64(theirs.Bytes) {
			r.t.Errorf("flow %d: %+v arrived, and our end counts %d datagrams of %d bytes", theirs.ID, got, theirs.Packets, theirs.Bytes)
		}
		return
	}
	r.got.await(r.t, fmt.Sprintf("the %d bytes of flow %d", theirs.Bytes, theirs.ID), func(got [mostPlayed]arrived) bool {
		return got[flow].bytes >= int64(theirs.Bytes)
	})
	if got := r.got.get()[flow]; got.bytes != int64(theirs.Bytes) {
		r.t.Errorf("flow %d: %d bytes arrived, and our end counts %d", theirs.ID, got.bytes, theirs.Bytes)
	}
}

// answered wants the text of the other end's first datagram on a flow to be the recorded one.
func (r *part) answered(want message, got []byte) {
	r.t.Helper()
	if text := strconv.Quote(string(got)); text != want.text {
		r.t.Fatalf("our %s opens a flow with %s, the real one with %s", want.from, text, want.text)
	}
}

// spoken is what a flow's first datagram, or its answer, holds.
func (r *part) spoken(m message) []byte {
	text, err := strconv.Unquote(m.text)
	r.works(err)
	return []byte(text)
}

// sameShape wants all keys of a in b, with values of the same type.
func sameShape(t testing.TB, where string, a, b any) {
	t.Helper()
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			t.Errorf("%s: want an object", where)
			return
		}
		for key, value := range a {
			if _, has := b[key]; !has && key == "out_of_order" {
				continue // what only the receiver knows; iperf3 writes 0
			} else if !has {
				t.Errorf("%s.%s is missing", where, key)
				continue
			}
			sameShape(t, where+"."+key, value, b[key])
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(b) == 0 && len(a) > 0 {
			t.Errorf("%s: want an array with elements", where)
			return
		}
		if len(a) > 0 {
			sameShape(t, where+"[0]", a[0], b[0])
		}
	case float64:
		if _, ok := b.(float64); !ok {
			t.Errorf("%s is %v, want a number", where, b)
		}
	case string:
		if _, ok := b.(string); !ok {
			t.Errorf("%s is %v, want a string", where, b)
		}
	case bool:
		if b != a {
			t.Errorf("%s is %v, want %v", where, b, a)
		}
	}
}
