package udp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// SendLoad sends one sweep to a ServeLoad.
func SendLoad(ctx context.Context, to netip.AddrPort, s Load) (out LoadSent, err error) {
	defer traffic.During("send udp_load", &err)
	if s, err = s.checked(); err != nil {
		return out, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	r := traffic.StartRun(ctx)
	defer r.End()
	all := newSending(r, to, s.Token, s.Window, s.Size, 1)
	senders, err := all.dial(1, 1)
	if err != nil {
		return out, err
	}
	defer hangUp(senders)
	l := &loadSender{sendThread: senders[0], mark: make([]byte, traffic.HeaderBytes), answer: make([]byte, traffic.HeaderBytes)}
	if l.offerer, err = newOfferer(senders[0], s); err != nil {
		return out, r.Cause(err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if out, err = l.sweep(s); err != nil {
		return out, r.Cause(err)
	}
	return out, endConfirmed(r, l.flow[0].fd, &s.Token)
}

// loadSender sends the trials of a sweep, and receives the result of each.
type loadSender struct {
	*sendThread
	offerer
	mark   []byte
	answer []byte
	step   uint16
}

func (l *loadSender) sweep(s Load) (LoadSent, error) {
	count := s.trials()
	out := LoadSent{Trials: make([]Trial, 0, count), Length: s.Window.Duration / time.Duration(count)}
	for rest := max(s.Window.Warmup, out.Length); rest > 0; rest -= longestTrial {
		if _, err := l.trial(0, min(rest, longestTrial), false); err != nil {
			return out, err
		}
	}
	if s.Window.Edge != nil {
		s.Window.Edge(traffic.Opening)
	}
	opened := l.run.Now()
	plan := newSweep()
	for range count {
		if l.run.Now()-opened > s.Window.Duration+overtime {
			break
		}
		t, err := l.trial(plan.next(), out.Length, true)
		if err != nil {
			return out, err
		}
		plan.take(t)
		out.Trials = append(out.Trials, t)
		out.Datagrams += t.got
	}
	out.Elapsed = l.run.Now() - opened
	if s.Window.Edge != nil {
		s.Window.Edge(traffic.Closing)
	}
	out.NoDropLow, out.NoDropHigh = plan.search.bounds()
	return out, nil
}

// trial offers a load for the time given, and asks for the result.
func (l *loadSender) trial(rate float64, length time.Duration, counts bool) (Trial, error) {
	l.step++
	l.flow[0].lane, l.flow[0].next = l.step, 0
	t := Trial{Asked: rate}
	var err error
	if t.tried, t.Elapsed, err = l.offer(l.sendThread, rate, length); err != nil {
		return t, err
	}
	t.sent = l.flow[0].next
	span, err := l.ask(&t, counts)
	if err != nil {
		return t, err
	}
	seconds := t.Elapsed.Seconds()
	t.Offered = float64(t.tried) / seconds
	t.Received = float64(t.got) / max(seconds, span.Seconds())
	t.Loss = 1 - float64(t.got)/float64(max(t.tried, 1))
	// A deep buffer on the path would hide an overload from a short trial: the
	// receiver is then still busy with it when the sender has stopped.
	behind := span > t.Elapsed+max(t.Elapsed/50, time.Millisecond)
	t.Carried = t.got == t.tried && t.tried > 0 && !behind
	return t, nil
}

// ask reports the end of the trial to the receiver until it answers. It gives
// the time over which the receiver received.
func (l *loadSender) ask(t *Trial, counts bool) (time.Duration, error) {
	traffic.Header{Kind: traffic.KindMark, Lane: l.step, Sequence: t.sent, Sent: int64(asInt(counts))}.Put(l.mark, &l.token)
	for limit := l.run.Now() + traffic.Grace; ; {
		if _, errno := traffic.Send(l.flow[0].fd, l.mark, 0); errno != 0 {
			if err := l.refused(errno, 0); err != nil {
				return 0, err
			}
		}
		for again := l.run.Now() + time.Millisecond; ; {
			h, err := l.receiveReport()
			if err != nil {
				return 0, err
			}
			if h.Kind == traffic.KindReport && h.Lane == l.step {
				t.got = h.Sequence
				return time.Duration(h.Sent), nil
			}
			if l.run.Now() >= again {
				break
			}
		}
		switch {
		case l.run.Stopped():
			return 0, context.Canceled
		case l.run.Now() > limit:
			return 0, fmt.Errorf("the receiver did not answer for %v after trial %d: it died, or the path passes nothing any more; see what it reported", traffic.Grace, l.step)
		}
	}
}

// receiveReport reads what the receiver sent, after a short sleep if it sent
// nothing.
func (l *loadSender) receiveReport() (traffic.Header, error) {
	n, errno := traffic.Receive(l.flow[0].fd, l.answer, unix.MSG_DONTWAIT)
	switch {
	case traffic.Waited(errno):
		traffic.Sleep(traffic.Tick / 100)
		return traffic.Header{}, nil
	case errno != 0:
		return traffic.Header{}, l.refused(errno, 0)
	}
	h, _ := traffic.ParseHeader(l.answer[:n], &l.token)
	return h, nil
}
