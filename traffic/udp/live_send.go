package udp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"tare/traffic"
)

// openGenerator is for datagrams that seem to come from the socket of a sender's only flow.
// It fails unless one of them arrives.
func openGenerator(u *sendThread) (_ *generator, err error) {
	defer traffic.During(fmt.Sprintf("mode %s", XDP), &err)
	way, err := routeOf(traffic.LocalAddress(u.flow[0].fd), u.to)
	if err != nil {
		return nil, err
	}
	f := newFrame(way, &u.token, u.size)
	if len(f.bytes) > way.mtu+ethernetBytes {
		return nil, fmt.Errorf("datagrams of %d bytes: the MTU of %s is %d, and this mode makes no fragments: give a smaller size", u.size, way.name, way.mtu)
	}
	g := &generator{run: u.run}
	if err = g.load(way.device, f); err == nil {
		err = g.prove(u, way)
	}
	if err != nil {
		return nil, errors.Join(permitted(err), g.close())
	}
	return g, nil
}

// prove sends probes until the receiver answers one.
func (g *generator) prove(u *sendThread, way route) error {
	const (
		patience = time.Second
		rate     = 50
	)
	if err := g.begin(traffic.Header{Kind: traffic.KindProbe, Lane: u.flow[0].lane}, rate); err != nil {
		return err
	}
	for limit := u.run.Now() + patience; u.run.Now() < limit; {
		if u.run.Stopped() {
			return context.Canceled
		}
		got, errno := recvKind(u.flow[0].fd, u.control, &u.token, 0)
		if errno == 0 && got == traffic.KindProof {
			return g.pause()
		}
		if err := errors.Join(u.refused(errno, 0), g.failed()); err != nil {
			return err
		}
	}
	if way.kind == "veth" {
		return way.unfit(errors.New("of the frames that it was given none arrived: a veth sends them only if its other end has GRO (Linux 5.13): ethtool -K NAME gro on, there; or"))
	}
	return way.unfit(errors.New("of the frames that it was given none arrived"))
}

// permitted adds to an error what to do about it.
func permitted(err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return &UnfitError{fmt.Errorf("%w: only the machine's root may run BPF programs (CAP_BPF and CAP_NET_ADMIN outside user namespaces): run tare as root, or choose mode %s", err, Mmsg)}
	case errors.Is(err, unix.EINVAL), errors.Is(err, ebpf.ErrNotSupported):
		return &UnfitError{fmt.Errorf("%w: it needs Linux 5.18: choose mode %s", err, Mmsg)}
	}
	return err
}

// sendFrames is send for a udp_pps of mode XDP.
func (s *sending) sendFrames(senders []*sendThread, rate float64) (sent Sent, err error) {
	g, err := openGenerator(senders[0])
	if err != nil {
		return sent, s.run.Cause(err)
	}
	defer func() { err = errors.Join(err, g.close()) }()
	p := &frames{generator: g, next: traffic.Header{Kind: traffic.KindData}.Word()}
	if err := g.begin(traffic.Header{Kind: traffic.KindData}, rate); err != nil {
		return sent, err
	}
	if sent, err = s.send(senders, []pacing{p}); err != nil {
		return sent, err
	}
	sent.Late, sent.Skipped = int64(p.late), int64(p.skipped)
	return sent, g.pause()
}

// frames is a generator as the pacing of a udp_pps, which only looks how far it is. It
// counts what was late inside the window.
type frames struct {
	*generator
	next          uint64 // word when it looked last
	late, skipped uint64
	lateThen      uint64
	skippedThen   uint64
}

func (p *frames) pass(u *sendThread) (sent int64, now time.Duration, err error) {
	traffic.Sleep(traffic.Tick / 10)
	now = u.run.Now()
	word, late, skipped := p.made(), p.generator.late, p.generator.skipped
	sent, p.next = int64(word-p.next), word
	if u.meter.Phase() == traffic.Open {
		p.late += late - p.lateThen
		p.skipped += skipped - p.skippedThen
	}
	p.lateThen, p.skippedThen = late, skipped
	return sent, now, p.failed()
}

// offer makes a generator an offerer.
func (g *generator) offer(u *sendThread, rate float64, length time.Duration) (tried int64, elapsed time.Duration, err error) {
	f := &u.flow[0]
	h := traffic.Header{Kind: traffic.KindData, Lane: f.lane, Sequence: f.next}
	if err := g.begin(h, rate); err != nil {
		return 0, 0, err
	}
	begun := u.run.Now()
	for elapsed < length || g.made() == h.Word() && elapsed < length+traffic.Grace { // on a busy machine the first may be late
		if u.run.Stopped() {
			return 0, 0, context.Canceled
		}
		if err := g.failed(); err != nil {
			return 0, 0, err
		}
		traffic.Sleep(max(length-elapsed, traffic.Tick/100))
		elapsed = u.run.Now() - begun
	}
	if err := g.pause(); err != nil {
		return 0, 0, err
	}
	tried = int64(g.made() - h.Word())
	f.next += tried
	if rate > 0 { // the last step may not be over yet
		return tried, max(elapsed, g.scheduled()), nil
	}
	return tried, u.run.Now() - begun, nil
}
