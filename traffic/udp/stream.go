package udp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"tare/traffic"
)

// Stream is datagrams at a constant bit rate. The receiver owns the window.
type Stream struct {
	Token  traffic.Token
	Window traffic.Window
	Rate   traffic.BitsPerSecond // of payload, the header of HeaderBytes included
	Size   int                   // payload bytes of a datagram, HeaderBytes to MaxDatagram; default 1400

	// Burst is how many late slots may be sent back to back. More are given
	// up, so that a stall never turns into a flood. Default 1.
	Burst int

	// Spin waits for the last 80 us before a slot with a busy loop. Set it only
	// where the sender has a CPU to itself.
	Spin bool

	// SharedClock: both ends run on one machine, so that the one-way
	// delay can be given.
	SharedClock bool
}

const (
	defaultDatagram = 1400
	maxSlot         = time.Second
)

func (s Stream) checked() (Stream, error) {
	s.Size = cmp.Or(s.Size, defaultDatagram)
	s.Burst = cmp.Or(s.Burst, 1)
	switch {
	case s.Size < traffic.HeaderBytes || s.Size > traffic.MaxDatagram:
		return s, fmt.Errorf("datagrams of %d bytes: want %d to %d", s.Size, traffic.HeaderBytes, traffic.MaxDatagram)
	case s.Burst < 1:
		return s, fmt.Errorf("burst of %d: want 1 or more", s.Burst)
	case !(s.Rate > 0):
		return s, errors.New("the rate must be positive")
	case s.slot() > float64(maxSlot) || s.slot() < 1:
		return s, fmt.Errorf("a rate of %.0f bit/s is one datagram per %v: want 1 ns to %v", float64(s.Rate), time.Duration(s.slot()), maxSlot)
	}
	return s, s.Window.Check(1)
}

// slot is the time between two datagrams in nanoseconds. It is no
// time.Duration, since a fraction of one adds up over the slots.
func (s Stream) slot() float64 {
	return float64(s.Size) * 8 / float64(s.Rate) * float64(time.Second)
}

// ServeStream receives one udp_stream.
func ServeStream(ctx context.Context, l *Listener, s Stream) (_ Received, err error) {
	defer traffic.During("serve udp_stream", &err)
	if s, err = s.checked(); err != nil {
		return Received{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	if err := stampArrivals(l.fd, true); err != nil {
		return Received{}, err
	}
	expected := int64(float64(s.Window.Duration) / s.slot())
	all := newReceiving(r, s.Token, s.Window, s.Size, 1, 1)
	received, err := all.serve([]*receiveThread{all.thread(0, l.fd, newIntake("", s.Size, true), newDelayMeter(expected, s.SharedClock))})
	if err = errors.Join(err, stampArrivals(l.fd, false)); err != nil {
		return Received{}, err
	}
	return received, nil
}

// SendStream sends one udp_stream to a ServeStream.
func SendStream(ctx context.Context, to netip.AddrPort, s Stream) (_ Sent, err error) {
	defer traffic.During("send udp_stream", &err)
	if s, err = s.checked(); err != nil {
		return Sent{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	all := newSending(r, to, s.Token, s.Window, s.Size, 1)
	senders, err := all.dial(1, 1)
	if err != nil {
		return Sent{}, err
	}
	defer hangUp(senders)
	p := &schedule{pacer: newPacer(s.slot(), int64(s.Burst), s.Spin), packet: traffic.RandomPayload(s.Size)}
	sent, err := all.send(senders, []pacing{p})
	if err != nil {
		return Sent{}, err
	}
	sent.Late, sent.Skipped = p.late, p.skipped
	return sent, nil
}

// schedule sends one datagram in each slot.
type schedule struct {
	pacer
	packet []byte
}

// pass waits for the next slot, and sends its datagram. A slot far away takes
// several passes.
func (p *schedule) pass(u *sendThread) (int64, time.Duration, error) {
	now, due := p.next(u.run, u.meter.Opened())
	if !due {
		return 0, now, nil
	}
	f := &u.flow[0]
	// Both clocks of one reading: the stamp is the last thing before the call.
	traffic.Header{Kind: traffic.KindData, Sequence: f.next, Sent: time.Now().UnixNano()}.Put(p.packet, &u.token)
	if _, errno := traffic.Send(f.fd, p.packet, 0); errno != 0 {
		return 0, u.run.Now(), u.refused(errno, 1)
	}
	f.next++
	return 1, u.run.Now(), nil
}
