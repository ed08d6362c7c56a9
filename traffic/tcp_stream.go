package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// TCPStream is bulk data over TCP. The receiver owns the window; with both
// directions at once each receiver has its own, and the serving end's is the
// run's.
type TCPStream struct {
	Token     Token
	Window    Window
	Mode      StreamMode // default StreamWrite
	Direction Direction
	Flows     int // in each direction, on a thread for each CPU; default 1

	WriteBytes int // of one send; default 128 KiB; StreamAuto begins with it
	ReadBytes  int // of one receive, which need not equal WriteBytes; default 1 MiB

	// SharedCPU: both ends run on the same CPUs: the receiver then reads
	// into less memory, so that it leaves the sender's in the cache they share.
	SharedCPU bool

	// Rate of all flows of a direction together, kept to an absolute schedule.
	// Zero: as fast as the path carries it. A write is then at most 10 ms of a
	// flow's share. After a stall at most 5 ms' worth and one write go out at
	// once; what it held up longer is given up.
	Rate BitsPerSecond

	// Bytes ends each receiver's window with the read that brings it to so many
	// bytes, of all flows together, if its Duration has not. Zero: by time alone.
	Bytes int64
}

// StreamMode is how a tcp_stream moves its bytes.
type StreamMode string

// The modes. The payload is random in all of them.
const (
	StreamWrite    StreamMode = "write128K" // send of WriteBytes, the same memory each time
	StreamAuto     StreamMode = "auto"      // the same, of the size from 64 KiB to 1 MiB that the warm-up showed to be fastest
	StreamSendfile StreamMode = "sendfile"  // sendfile of WriteBytes from a file in memory
	StreamTrunc    StreamMode = "rx-trunc"  // StreamWrite to a receiver that discards (MSG_TRUNC): the path without the last copy
)

// Direction is which end of a tcp_stream sends.
type Direction int

// The directions.
const (
	Forward       Direction = iota // the driving end
	Reverse                        // the serving end
	Bidirectional                  // both, on separate connections
)

// TCPStreamEnd is the outcome of one end.
type TCPStreamEnd struct {
	Received        *TCPStreamReceived // nil where this end only sent
	Sent            *TCPStreamSent     // nil where this end only received
	Congestion      string             // the congestion control read back
	Unauthenticated int64              // connections without the token, at the serving end
}

const (
	defaultBlock = 128 << 10
	defaultRead  = 1 << 20
	maxBlock     = 64 << 20
)

func (s TCPStream) checked() (TCPStream, error) {
	s.Mode = cmp.Or(s.Mode, StreamWrite)
	s.Flows = cmp.Or(s.Flows, 1)
	s.WriteBytes = cmp.Or(s.WriteBytes, defaultBlock)
	s.ReadBytes = cmp.Or(s.ReadBytes, defaultRead)
	threads := s.Flows
	if s.Direction == Bidirectional {
		threads *= 2
	}
	switch {
	case !slices.Contains([]StreamMode{StreamWrite, StreamAuto, StreamSendfile, StreamTrunc}, s.Mode):
		return s, fmt.Errorf("mode %q: want %q, %q, %q or %q", s.Mode, StreamWrite, StreamAuto, StreamSendfile, StreamTrunc)
	case s.Direction < Forward || s.Direction > Bidirectional:
		return s, fmt.Errorf("direction %d: want %d, %d or %d", s.Direction, Forward, Reverse, Bidirectional)
	case s.Flows < 1 || s.Flows > maxFlows:
		return s, fmt.Errorf("%d flows: want 1 to %d", s.Flows, maxFlows)
	case s.WriteBytes < 1 || s.WriteBytes > maxBlock || s.ReadBytes < 1 || s.ReadBytes > maxBlock:
		return s, fmt.Errorf("blocks of %d and %d bytes: want 1 to %d", s.WriteBytes, s.ReadBytes, maxBlock)
	case s.Bytes < 0:
		return s, fmt.Errorf("%d bytes: want 0 or more", s.Bytes)
	case s.Rate != 0 && !(s.Rate >= leastRate*BitsPerSecond(s.Flows)):
		return s, fmt.Errorf("a rate of %g bit/s: want %d or more on each of %d flows", float64(s.Rate), leastRate, s.Flows)
	case s.Rate != 0 && s.Mode == StreamAuto:
		return s, fmt.Errorf("mode %q with a rate: no write size is the fastest then: use %q", s.Mode, StreamWrite)
	}
	if s.Mode == StreamAuto {
		s.Window.Warmup = max(s.Window.Warmup, leastTuning)
	}
	return s, s.Window.check(threads)
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
func (s TCPStream) roles() []byte {
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

// ServeTCPStream serves one tcp_stream.
func ServeTCPStream(ctx context.Context, l *Listener, s TCPStream) (_ TCPStreamEnd, err error) {
	defer during("serve tcp_stream", &err)
	if s, err = s.checked(); err != nil {
		return TCPStreamEnd{}, err
	}
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, s.Token, greetingLen)
	roles := s.roles()
	fds, err := a.acceptUnder(s.Window.CC, len(roles))
	if err != nil {
		a.close()
		return TCPStreamEnd{}, err
	}
	defer closeSockets(fds)
	var end TCPStreamEnd
	announced, err := receiveRoles(r, fds, roles)
	if err == nil {
		forward, reverse := divide(fds, announced)
		end, err = s.move(r, forward, reverse)
	}
	a.close()
	end.Unauthenticated = a.unauthenticated
	if err != nil {
		return TCPStreamEnd{}, r.cause(err)
	}
	return end, nil
}

// SendTCPStream drives one tcp_stream against a ServeTCPStream. What it sends
// and receives is a matter of the Direction.
func SendTCPStream(ctx context.Context, to netip.AddrPort, s TCPStream) (_ TCPStreamEnd, err error) {
	defer during("send tcp_stream", &err)
	if s, err = s.checked(); err != nil {
		return TCPStreamEnd{}, err
	}
	if s.Direction == Bidirectional {
		s.Window.Edge = nil // the serving end's window is the run's
	}
	r := startRun(ctx)
	defer r.end()
	roles := s.roles()
	fds, err := dialFlows(r, to, s.Token, len(roles), s.Window.CC)
	if err != nil {
		return TCPStreamEnd{}, err
	}
	defer closeSockets(fds)
	if err := announceRoles(r, fds, roles); err != nil {
		return TCPStreamEnd{}, err
	}
	forward, reverse := divide(fds, roles)
	end, err := s.move(r, reverse, forward)
	if err != nil {
		return TCPStreamEnd{}, r.cause(err)
	}
	return end, nil
}

// announceRoles sends what each flow is for.
func announceRoles(r *run, fds []int, roles []byte) error {
	for i := range fds {
		if err := sendAll(r, fds[i], roles[i:i+1]); err != nil {
			return fmt.Errorf("announce flow %d: %w; see what the server reported", i+1, r.cause(err))
		}
	}
	return nil
}

// receiveRoles reads what each accepted flow is for.
func receiveRoles(r *run, fds []int, want []byte) ([]byte, error) {
	limit := r.now() + grace
	announced := make([]byte, len(fds))
	for i, fd := range fds {
		role, err := awaitByte(r, fd, limit)
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
func (s TCPStream) move(r *run, in, out []int) (end TCPStreamEnd, err error) {
	if end.Congestion, err = congestion(append(slices.Clone(in), out...)[0]); err != nil {
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
func both(r *run, a, b func() error) error {
	guarded := func(f func() error) error {
		err := f()
		if err != nil {
			r.stop()
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- guarded(a) }()
	second := guarded(b)
	first := <-ended
	if first == nil || errors.Is(first, errAnother) && second != nil {
		return second
	}
	return first
}
