package udp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Mode is how datagrams are sent.
type Mode string

// The modes. In all but GSO each datagram is its own packet; there the kernel
// carries up to 64 as one packet, as far as the path lets it, so that its
// results are datagrams per second and no packets per second. XDP has no socket
// at the sender; its datagrams are received as those of Mmsg.
const (
	Mmsg Mode = "mmsg" // sendmmsg and recvmmsg, up to 64 datagrams a call
	Msg  Mode = "msg"  // one datagram a call
	GSO  Mode = "gso"  // UDP_SEGMENT (Linux 4.18) and UDP_GRO (Linux 5.0)
	XDP  Mode = "xdp"  // frames that a BPF program makes, past the sender's stack (Linux 5.18, root)
)

// PPS is datagrams as fast as the sender can, or at a rate. The receiver
// owns the window.
type PPS struct {
	Token  traffic.Token
	Window traffic.Window
	Mode   Mode    // default Mmsg
	Size   int     // payload bytes of a datagram, HeaderBytes to MaxDatagram; default 64
	Flows  int     // source ports, 1 to MaxFlows; default 1
	Rate   float64 // datagrams per second of each flow; 0: as fast as they go

	// Spin waits for the last 80 us before a slot with a busy loop. Set it only
	// where the sender has a CPU to itself.
	Spin bool
}

// MaxFlows is the most flows of a udp_pps.
const MaxFlows = 256

const (
	defaultSmall = 64
	// mostSegments is what every kernel with UDP_SEGMENT takes at once.
	mostSegments = 64
	// round is how long the datagrams of one call may take at a rate, so that
	// the stream stays smooth.
	round = 50 * time.Microsecond
	// catchUp is how far behind its schedule a sender may be and still send all.
	catchUp = time.Millisecond
)

func (s PPS) checked() (PPS, error) {
	s.Size = cmp.Or(s.Size, defaultSmall)
	s.Flows = cmp.Or(s.Flows, 1)
	s.Mode = cmp.Or(s.Mode, Mmsg)
	switch {
	case s.Size < traffic.HeaderBytes || s.Size > traffic.MaxDatagram:
		return s, fmt.Errorf("datagrams of %d bytes: want %d to %d", s.Size, traffic.HeaderBytes, traffic.MaxDatagram)
	case s.Mode != Mmsg && s.Mode != Msg && s.Mode != GSO && s.Mode != XDP:
		return s, fmt.Errorf("mode %q: want %q, %q, %q or %q", s.Mode, Mmsg, Msg, GSO, XDP)
	case s.Mode == XDP && s.Flows > 1:
		return s, fmt.Errorf("%d flows: mode %s has one: leave flows out", s.Flows, XDP)
	case s.Flows < 1 || s.Flows > MaxFlows:
		return s, fmt.Errorf("%d flows: want 1 to %d", s.Flows, MaxFlows)
	case !(s.Rate >= 0) || s.Rate > 1e9 || s.Rate > 0 && s.Rate < 1:
		return s, fmt.Errorf("a rate of %v datagrams per second: want 1 to 1e9, or 0 for as fast as they go", s.Rate)
	}
	return s, s.Window.Check(Threads(s.Flows))
}

// Threads is how many threads an end of a udp_pps of so many flows has:
// one for each CPU that the process may use, while there are flows for it.
func Threads(flows int) int {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil { // more than 1024 CPUs
		return flows
	}
	return max(min(flows, cpus.Count()), 1)
}

// ServePPS receives one udp_pps, with a thread for each socket of l.
func ServePPS(ctx context.Context, l *Listener, s PPS) (received Received, err error) {
	defer traffic.During("serve udp_pps", &err)
	if s, err = s.checked(); err != nil {
		return received, err
	}
	sockets := l.sockets()
	if len(sockets) > s.Flows {
		return received, fmt.Errorf("%d sockets for %d flows: want no more than one for each", len(sockets), s.Flows)
	}
	devices, err := openDeviceCounter()
	if err != nil {
		return received, err
	}
	defer devices.close()
	window := s.Window
	if window.Slots == nil {
		window.Edge = func(e traffic.Edge) {
			devices.edge(e)
			if s.Window.Edge != nil {
				s.Window.Edge(e)
			}
		}
	}
	if s.Mode == GSO {
		if err := joinAll(sockets, true); err != nil {
			return received, err
		}
		defer func() { err = errors.Join(err, joinAll(sockets, false)) }()
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	all := newReceiving(r, s.Token, window, s.Size, s.Flows, len(sockets))
	threads := make([]*receiveThread, len(sockets))
	for i, fd := range sockets {
		threads[i] = all.thread(i, fd, newIntake(s.Mode, s.Size, false), nil)
	}
	if threads[0].intake.sieve, err = newSieve(l.fd, s.Mode, &s.Token, s.Size); err != nil {
		return received, err
	}
	defer func() { err = errors.Join(err, threads[0].intake.sieve.close()) }()
	devices.edge(traffic.Opening)
	if received, err = all.serve(threads); err != nil {
		return received, err
	}
	if window.Slots != nil { // what came between them was received too
		devices.edge(traffic.Closing)
	}
	received.Packets, err = devices.packets()
	return received, err
}

func joinAll(sockets []int, on bool) error {
	for _, fd := range sockets {
		if err := joinArrivals(fd, on); err != nil {
			return err
		}
	}
	return nil
}

// SendPPS sends one udp_pps to a ServePPS.
func SendPPS(ctx context.Context, to netip.AddrPort, s PPS) (_ Sent, err error) {
	defer traffic.During("send udp_pps", &err)
	if s, err = s.checked(); err != nil {
		return Sent{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	threads := Threads(s.Flows)
	all := newSending(r, to, s.Token, s.Window, s.Size, threads)
	senders, err := all.dial(s.Flows, threads)
	if err != nil {
		return Sent{}, err
	}
	defer hangUp(senders)
	if s.Mode == XDP {
		return all.sendFrames(senders, s.Rate)
	}
	pacings := make([]pacing, threads)
	paced := make([]rounds, threads)
	for i, u := range senders {
		v, err := newVolley(s.Mode, s.Size, u.flow)
		if err != nil {
			return Sent{}, err
		}
		if pacings[i] = (flood{v}); s.Rate > 0 {
			paced[i] = newRounds(v, s.Rate, s.Spin)
			pacings[i] = &paced[i]
		}
	}
	sent, err := all.send(senders, pacings)
	if err != nil {
		return Sent{}, err
	}
	for i := range paced { // without a rate no slot was late
		each := int64(paced[i].count * len(senders[i].flow))
		sent.Late += paced[i].late * each
		sent.Skipped += paced[i].skipped * each
	}
	return sent, nil
}
