// Package tcpstream is the loops of tcp_stream, bulk data over TCP, and of loaded_rr, round trips
// beside it.
package tcpstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"tare/traffic"
)

// Options are those of bulk data over TCP. The receiver owns the window; with both
// directions at once each receiver has its own, and the serving end's is the
// run's.
type Options struct {
	Token     traffic.Token
	Window    traffic.Window
	Mode      Mode // default Write
	Direction Direction
	Flows     int // in each direction, on a thread for each CPU; default 1

	WriteBytes int // of one send; default 128 KiB; mode Auto begins with it
	ReadBytes  int // of one receive, which need not equal WriteBytes; default 1 MiB

	// SharedCPU: both ends run on the same CPUs: the receiver then reads
	// into less memory, so that it leaves the sender's in the cache they share.
	SharedCPU bool

	// Rate of all flows of a direction together, kept to an absolute schedule.
	// Zero: as fast as the path carries it. A write is then at most 10 ms of a
	// flow's share. After a stall at most 5 ms' worth and one write go out at
	// once; what it held up longer is given up.
	Rate traffic.BitsPerSecond

	// Bytes ends each receiver's window with the read that brings it to so many
	// bytes, of all flows together, if its Duration has not. Zero: by time alone.
	Bytes int64
}

// Mode is how a tcp_stream moves its bytes.
type Mode string

// The modes. The payload is random in all of them.
const (
	Write    Mode = "write128K" // send of WriteBytes, the same memory each time
	Auto     Mode = "auto"      // the same, of the size from 64 KiB to 1 MiB that the warm-up showed to be fastest
	Sendfile Mode = "sendfile"  // sendfile of WriteBytes from a file in memory
	Trunc    Mode = "rx-trunc"  // Write to a receiver that discards (MSG_TRUNC): the path without the last copy
)

// Direction is which end of a tcp_stream sends.
type Direction int

// The directions.
const (
	Forward       Direction = iota // the driving end
	Reverse                        // the serving end
	Bidirectional                  // both, on separate connections
)

// End is the outcome of one end.
type End struct {
	Received        *Received // nil where this end only sent
	Sent            *Sent     // nil where this end only received
	Congestion      string    // the congestion control read back
	Unauthenticated int64     // connections without the token, at the serving end
}

const (
	defaultRead = 1 << 20
)

func (s Options) checked() (Options, error) {
	s.Mode = cmp.Or(s.Mode, Write)
	s.Flows = cmp.Or(s.Flows, 1)
	s.WriteBytes = cmp.Or(s.WriteBytes, traffic.DefaultBlock)
	s.ReadBytes = cmp.Or(s.ReadBytes, defaultRead)
	threads := s.Flows
	if s.Direction == Bidirectional {
		threads *= 2
	}
	switch {
	case !slices.Contains([]Mode{Write, Auto, Sendfile, Trunc}, s.Mode):
		return s, fmt.Errorf("mode %q: want %q, %q, %q or %q", s.Mode, Write, Auto, Sendfile, Trunc)
	case s.Direction < Forward || s.Direction > Bidirectional:
		return s, fmt.Errorf("direction %d: want %d, %d or %d", s.Direction, Forward, Reverse, Bidirectional)
	case s.Flows < 1 || s.Flows > traffic.MaxFlows:
		return s, fmt.Errorf("%d flows: want 1 to %d", s.Flows, traffic.MaxFlows)
	case s.WriteBytes < 1 || s.WriteBytes > traffic.MaxBlock || s.ReadBytes < 1 || s.ReadBytes > traffic.MaxBlock:
		return s, fmt.Errorf("blocks of %d and %d bytes: want 1 to %d", s.WriteBytes, s.ReadBytes, traffic.MaxBlock)
	case s.Bytes < 0:
		return s, fmt.Errorf("%d bytes: want 0 or more", s.Bytes)
	case s.Rate != 0 && !(s.Rate >= leastRate*traffic.BitsPerSecond(s.Flows)):
		return s, fmt.Errorf("a rate of %g bit/s: want %d or more on each of %d flows", float64(s.Rate), leastRate, s.Flows)
	case s.Rate != 0 && s.Mode == Auto:
		return s, fmt.Errorf("mode %q with a rate: no write size is the fastest then: use %q", s.Mode, Write)
	}
	if s.Mode == Auto {
		s.Window.Warmup = max(s.Window.Warmup, leastTuning)
	}
	return s, s.Window.Check(threads)
}

// The first byte that the driving end sends on each welcomed flow is what
// the flow is for, since flows may be accepted in another order than dialled.
// The receiver of a direction talks to its sender on the leading flow.
const (
	roleForwardLead = 'F'
	roleForward     = 'f'
	roleReverseLead = 'R'
	roleReverse     = 'r'
)

// roles are those of all flows, in the order that they are dialled.
func (s Options) roles() []byte {
	var roles []byte
	add := func(lead, other byte) {
		roles = append(append(roles, lead), slices.Repeat([]byte{other}, s.Flows-1)...)
	}
	if s.Direction != Reverse {
		add(roleForwardLead, roleForward)
	}
	if s.Direction != Forward {
		add(roleReverseLead, roleReverse)
	}
	return roles
}

// Serve serves one tcp_stream.
func Serve(ctx context.Context, l *traffic.Listener, s Options) (_ End, err error) {
	defer traffic.During("serve tcp_stream", &err)
	if s, err = s.checked(); err != nil {
		return End{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, s.Token, traffic.GreetingLen)
	roles := s.roles()
	fds, err := a.AcceptFlows(s.Window.CC, len(roles))
	if err != nil {
		a.Close()
		return End{}, err
	}
	defer traffic.CloseSockets(fds)
	var end End
	announced, err := receiveRoles(r, fds, roles)
	if err == nil {
		forward, reverse := divide(fds, announced)
		end, err = s.move(r, forward, reverse)
	}
	a.Close()
	end.Unauthenticated = a.Unauthenticated
	if err != nil {
		return End{}, r.Cause(err)
	}
	return end, nil
}

// Send drives one tcp_stream against a Serve. What it sends
// and receives is a matter of the Direction.
func Send(ctx context.Context, to netip.AddrPort, s Options) (_ End, err error) {
	defer traffic.During("send tcp_stream", &err)
	if s, err = s.checked(); err != nil {
		return End{}, err
	}
	if s.Direction == Bidirectional {
		s.Window.Edge = nil // the serving end's window is the run's
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	roles := s.roles()
	fds, err := traffic.DialFlows(r, to, s.Token, len(roles), s.Window.CC)
	if err != nil {
		return End{}, err
	}
	defer traffic.CloseSockets(fds)
	if err := announceRoles(r, fds, roles); err != nil {
		return End{}, err
	}
	forward, reverse := divide(fds, roles)
	end, err := s.move(r, reverse, forward)
	if err != nil {
		return End{}, r.Cause(err)
	}
	return end, nil
}

// announceRoles sends what each flow is for.
func announceRoles(r *traffic.Run, fds []int, roles []byte) error {
	for i := range fds {
		if err := traffic.SendAll(r, fds[i], roles[i:i+1]); err != nil {
			return fmt.Errorf("announce flow %d: %w; see what the server reported", i+1, r.Cause(err))
		}
	}
	return nil
}

// receiveRoles reads what each accepted flow is for.
func receiveRoles(r *traffic.Run, fds []int, want []byte) ([]byte, error) {
	limit := r.Now() + traffic.Grace
	announced := make([]byte, len(fds))
	for i, fd := range fds {
		role, err := traffic.AwaitByte(r, fd, limit)
		if err != nil {
			return nil, fmt.Errorf("receive the role of flow %d: %w; see what the driving end reported", i+1, err)
		}
		announced[i] = role
	}
	inOrder := func(roles []byte) []byte { return slices.Sorted(slices.Values(roles)) }
	if !slices.Equal(inOrder(announced), inOrder(want)) {
		return nil, fmt.Errorf("the driving end announced flows %q, not %q: give both ends the same direction and flows", announced, want)
	}
	return announced, nil
}

// divide gives the flows of each direction, the leading one first.
func divide(fds []int, roles []byte) (forward, reverse []int) {
	for i, fd := range fds {
		switch roles[i] {
		case roleForwardLead:
			forward = append([]int{fd}, forward...)
		case roleForward:
			forward = append(forward, fd)
		case roleReverseLead:
			reverse = append([]int{fd}, reverse...)
		case roleReverse:
			reverse = append(reverse, fd)
		}
	}
	return forward, reverse
}

// move receives on the flows in and sends on the flows out. While both are
// under way neither stops before both windows have closed, so that each is
// measured under the load of the other to its end.
func (s Options) move(r *traffic.Run, in, out []int) (end End, err error) {
	if end.Congestion, err = traffic.Congestion(append(slices.Clone(in), out...)[0]); err != nil {
		return end, err
	}
	receiver := newStreamReceiver(r, in, s)
	err = both(r,
		func() (err error) {
			if len(in) > 0 {
				end.Received, err = receiver.work()
			}
			return err
		},
		func() (err error) {
			if len(out) > 0 {
				end.Sent, err = sendStream(r, out, s, &receiver.unclosed)
			}
			return err
		})
	return end, err
}

// both runs two functions to their ends. One that fails stops the run, and so the other.
func both(r *traffic.Run, a, b func() error) error {
	guarded := func(f func() error) error {
		err := f()
		if err != nil {
			r.Stop()
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- guarded(a) }()
	second := guarded(b)
	first := <-ended
	if first == nil || errors.Is(first, traffic.ErrAnother) && second != nil {
		return second
	}
	return first
}
