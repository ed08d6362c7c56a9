package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// UDPStream is datagrams at a constant bit rate. The receiver owns the window.
type UDPStream struct {
	Token  Token
	Window Window
	Rate   BitsPerSecond // of payload, the header of HeaderBytes included
	Size   int           // payload bytes of a datagram, HeaderBytes to MaxDatagram; default 1400

	// Burst is how many late slots may be sent back to back. More are given
	// up, so that a stall never turns into a flood. Default 1.
	Burst int

	// Spin waits for the last 80 us before a slot with a busy loop. Set it only
	// where the sender has a CPU to itself.
	Spin bool

	// SharedClock says that both ends run on one machine, so that the one-way
	// delay can be given.
	SharedClock bool
}

const (
	defaultDatagram = 1400
	maxSlot         = time.Second
)

func (s UDPStream) checked() (UDPStream, error) {
	s.Size = orDefault(s.Size, defaultDatagram)
	s.Burst = orDefault(s.Burst, 1)
	switch {
	case s.Size < HeaderBytes || s.Size > MaxDatagram:
		return s, fmt.Errorf("datagrams of %d bytes: want %d to %d", s.Size, HeaderBytes, MaxDatagram)
	case s.Burst < 1:
		return s, fmt.Errorf("burst of %d: want 1 or more", s.Burst)
	case !(s.Rate > 0):
		return s, errors.New("the rate must be positive")
	case s.slot() > float64(maxSlot) || s.slot() < 1:
		return s, fmt.Errorf("a rate of %.0f bit/s is one datagram per %v: want 1 ns to %v", float64(s.Rate), time.Duration(s.slot()), maxSlot)
	}
	return s, s.Window.check(1)
}

// slot is the time between two datagrams in nanoseconds. It is no
// time.Duration, since a fraction of one adds up over the slots.
func (s UDPStream) slot() float64 {
	return float64(s.Size) * 8 / float64(s.Rate) * float64(time.Second)
}

// ServeUDPStream receives one udp_stream.
func ServeUDPStream(ctx context.Context, l *PacketListener, s UDPStream) (UDPReceived, error) {
	s, err := s.checked()
	if err != nil {
		return UDPReceived{}, fmt.Errorf("serve udp_stream: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	if err := stampArrivals(l.fd, true); err != nil {
		return UDPReceived{}, fmt.Errorf("serve udp_stream: %w", err)
	}
	expected := int64(float64(s.Window.Duration) / s.slot())
	u := newUDPReceiver(r, l.fd, s.Token, s.Window, s.Size, newDelayMeter(expected, s.SharedClock))
	received, err := u.serve()
	if err = errors.Join(err, stampArrivals(l.fd, false)); err != nil {
		return UDPReceived{}, fmt.Errorf("serve udp_stream: %w", err)
	}
	return received, nil
}

// stampArrivals makes the kernel stamp each arriving datagram, in nanoseconds
// since 1970 (SO_TIMESTAMPNS_NEW, Linux 5.1).
func stampArrivals(fd int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, value); err != nil {
		return fmt.Errorf("ask for receive stamps: %w", err)
	}
	return nil
}

// SendUDPStream sends one udp_stream to a ServeUDPStream.
func SendUDPStream(ctx context.Context, to netip.AddrPort, s UDPStream) (UDPSent, error) {
	s, err := s.checked()
	if err != nil {
		return UDPSent{}, fmt.Errorf("send udp_stream: %w", err)
	}
	p := &schedule{
		slot: s.slot(), burst: s.Burst, spin: s.Spin,
		packet: randomBytes(s.Size), lateness: NewHistogram(), start: unset,
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := sharpenSleep()
	if err != nil {
		return UDPSent{}, fmt.Errorf("send udp_stream: %w", err)
	}
	sent, err := sendPackets(ctx, to, s.Token, s.Window, s.Size, p)
	if err = errors.Join(err, restore()); err != nil {
		return UDPSent{}, fmt.Errorf("send udp_stream: %w", err)
	}
	sent.Late, sent.Skipped, sent.Lateness = p.late, p.skipped, p.lateness
	return sent, nil
}

// sharpenSleep makes the thread's sleeps end within a nanosecond of their time
// instead of the default 50 us (PR_SET_TIMERSLACK), and gives what undoes it.
func sharpenSleep() (restore func() error, err error) {
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("read timer slack: %w", err)
	}
	set := func(slack int) error {
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
			return fmt.Errorf("set timer slack: %w", err)
		}
		return nil
	}
	return func() error { return set(before) }, set(1)
}

// schedule sends datagram k at start + k slots, whatever became of those
// before it.
type schedule struct {
	slot   float64 // nanoseconds
	burst  int
	spin   bool
	packet []byte

	start time.Duration
	index int64 // of the next slot

	late, skipped int64 // inside the window
	lateness      *Histogram
}

const (
	// spinAhead is how long before its time a spinning sender wakes.
	spinAhead = 80 * time.Microsecond
	// shortest is the wait below which a sleep costs more than it saves.
	shortest = 10 * time.Microsecond
)

// pass waits for the next slot, and sends its datagram. A slot far away takes
// several passes.
func (p *schedule) pass(u *udpSender) (int64, time.Duration, error) {
	now := u.run.now()
	if p.start == unset {
		p.start = now
	}
	due := p.start + time.Duration(float64(p.index)*p.slot)
	if now = p.await(u.run, now, due); now < due {
		return 0, now, nil
	}
	lateness := now - due
	p.count(lateness, u.meter.phase == open)
	// Both clocks of one reading: the stamp is the last thing before the call.
	header{kind: kindData, sequence: u.next, sent: time.Now().UnixNano()}.put(p.packet, &u.token)
	if _, errno := send(u.fd, p.packet, 0); errno != 0 {
		return 0, u.run.now(), u.refused(errno)
	}
	u.next++
	return 1, u.run.now(), nil
}

// count takes the slot as sent, and gives up those that are too late.
func (p *schedule) count(lateness time.Duration, inside bool) {
	behind := int64(float64(lateness) / p.slot)
	skipped := max(behind-int64(p.burst)+1, 0)
	p.index += 1 + skipped
	if !inside {
		return
	}
	p.skipped += skipped
	if behind > 0 {
		p.late++
	}
	p.lateness.Record(lateness)
}

// await waits until due, or a tick, and gives the time then.
func (p *schedule) await(r *run, now, due time.Duration) time.Duration {
	if due-now > tick {
		sleep(tick)
		return r.now()
	}
	rest := due - now
	if p.spin {
		rest -= spinAhead
	}
	if rest > shortest {
		sleep(rest)
		now = r.now()
	}
	for now < due {
		now = r.now()
	}
	return now
}
