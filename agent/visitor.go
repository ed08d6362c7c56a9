package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"tare/protocol"
)

// What peers that have not asked for a run yet may take.
const (
	mostVisitors    = 64          // connections, of all peers
	mostVisitorsOf  = 16          // of one peer
	visitorPatience = time.Second // until its request is complete
	maxGreeting     = 256         // bytes
	replyPatience   = time.Second // that a peer may take to receive a line
)

// visitors are the connections that have not asked for a run yet, the oldest first. Where
// there are too many of a peer, or of all, the oldest goes: who has a request sends it at
// once, and no peer can take what others need.
type visitors struct {
	mu      sync.Mutex
	waiting []*visitor
}

// visitor is one of them.
type visitor struct {
	peer netip.Addr
	conn *os.File // nil: not yet
	gone bool     // to make room
}

// enter adds a connection of a peer.
func (v *visitors) enter(peer netip.Addr) *visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	own := &visitor{peer: peer}
	v.waiting = append(v.waiting, own)
	of := map[netip.Addr]int{}
	most := peer
	for _, one := range v.waiting {
		if of[one.peer]++; of[one.peer] > of[most] {
			most = one.peer
		}
	}
	switch {
	case of[peer] > mostVisitorsOf:
		v.drop(peer)
	case len(v.waiting) > mostVisitors:
		v.drop(most)
	}
	return own
}

// drop ends the oldest connection of a peer.
func (v *visitors) drop(peer netip.Addr) {
	n := slices.IndexFunc(v.waiting, func(one *visitor) bool { return one.peer == peer })
	oldest := v.waiting[n]
	oldest.gone = true
	v.waiting = slices.Delete(v.waiting, n, n+1)
	if oldest.conn != nil {
		_ = oldest.conn.Close() // its reader sees it
	}
}

// meet gives a visitor its connection; false: it had to go.
func (v *visitors) meet(own *visitor, conn *os.File) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	own.conn = conn
	return !own.gone
}

// leave removes a visitor that has asked, or has ended.
func (v *visitors) leave(own *visitor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting = slices.DeleteFunc(v.waiting, func(one *visitor) bool { return one == own })
}

// visit is one connection to a serving port.
type visit struct {
	own      netip.AddrPort // this end
	peer     netip.AddrPort
	conn     *os.File
	in       io.Reader
	received int  // bytes
	sent     int  // bytes
	proven   bool // it knows the token, or the port has none
}

// Read counts what came.
func (v *visit) Read(p []byte) (n int, err error) {
	n, err = v.in.Read(p)
	v.received += n
	return n, err
}

// Write gives the peer a line in time. One that has not shown the token receives no more
// than it sent: a port that answers more could be used against others.
func (v *visit) Write(line []byte) (int, error) {
	if !v.proven && v.sent+len(line) > v.received {
		return 0, fmt.Errorf("a reply of %d bytes is more than is left of the %d that it sent", len(line), v.received)
	}
	if err := v.conn.SetWriteDeadline(time.Now().Add(replyPatience)); err != nil {
		return 0, err
	}
	n, err := v.conn.Write(line)
	v.sent += n
	return n, err
}

// ask receives a peer's greeting and then its request.
func (v *visit) ask(token string) (r portRequest, err error) {
	if err := v.conn.SetReadDeadline(time.Now().Add(visitorPatience)); err != nil {
		return r, err
	}
	var h portGreeting
	greetings := protocol.NewLines(v, v, maxGreeting)
	if err := greetings.Read(&h); err != nil {
		return r, fmt.Errorf("read its first line: %w", err)
	}
	if h.Schema != PortSchema {
		return r, fmt.Errorf("it speaks %.32q and this server %s: use the same version of tare at both ends", h.Schema, PortSchema)
	}
	drawn, err := newNonce()
	if err != nil {
		return r, err
	}
	if err := greetings.Write(portReply{Nonce: drawn}); err != nil {
		return r, fmt.Errorf("reply to its first line: %w", err)
	}
	if err := protocol.NewLines(v, v, maxRequest).Read(&r); err != nil {
		return r, fmt.Errorf("read request: %w", err)
	}
	if !r.proves(token, h.Nonce, drawn) {
		return r, errors.New("the token is not this server's: give the same --token or --token-file at both ends")
	}
	v.proven = true
	return r, v.conn.SetReadDeadline(time.Time{})
}

// job is what a request asks for.
func (r portRequest) job() (j Job, err error) {
	if err := json.Unmarshal(r.Job, &j); err != nil {
		return j, fmt.Errorf("read request: %w", err)
	}
	return j, nil
}
