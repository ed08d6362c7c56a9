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

// SendUDPLoad sends one sweep to a ServeUDPLoad.
func SendUDPLoad(ctx context.Context, to netip.AddrPort, s UDPLoad) (out UDPLoadSent, err error) {
	defer during("send udp_load", &err)
	if s, err = s.checked(); err != nil {
		return out, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := sharpenSleep()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	r := startRun(ctx)
	defer r.end()
	all := newSending(r, to, s.Token, s.Window, s.Size, 1)
	senders, err := all.dial(1, 1)
	if err != nil {
		return out, err
	}
	defer hangUp(senders)
	l := &loadSender{udpSender: senders[0], mark: make([]byte, HeaderBytes), answer: make([]byte, HeaderBytes)}
	if l.offerer, err = newOfferer(senders[0], s); err != nil {
		return out, r.cause(err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if out, err = l.sweep(s); err != nil {
		return out, r.cause(err)
	}
	return out, endConfirmed(r, l.flow[0].fd, &s.Token)
}

// loadSender sends the trials of a sweep, and receives the result of each.
type loadSender struct {
	*udpSender
	offerer
	mark   []byte
	answer []byte
	step   uint16
}

func (l *loadSender) sweep(s UDPLoad) (UDPLoadSent, error) {
	count := s.trials()
	out := UDPLoadSent{Trials: make([]Trial, 0, count), Length: s.Window.Duration / time.Duration(count)}
	for rest := max(s.Window.Warmup, out.Length); rest > 0; rest -= longestTrial {
		if _, err := l.trial(0, min(rest, longestTrial), false); err != nil {
			return out, err
		}
	}
	if s.Window.Edge != nil {
		s.Window.Edge(Opening)
	}
	opened := l.run.now()
	plan := newSweep()
	for range count {
		if l.run.now()-opened > s.Window.Duration+overtime {
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
	out.Elapsed = l.run.now() - opened
	if s.Window.Edge != nil {
		s.Window.Edge(Closing)
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
	if t.tried, t.Elapsed, err = l.offer(l.udpSender, rate, length); err != nil {
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
	header{kind: kindMark, lane: l.step, sequence: t.sent, sent: int64(asInt(counts))}.put(l.mark, &l.token)
	for limit := l.run.now() + grace; ; {
		if _, errno := send(l.flow[0].fd, l.mark, 0); errno != 0 {
			if err := l.refused(errno, 0); err != nil {
				return 0, err
			}
		}
		for again := l.run.now() + time.Millisecond; ; {
			h, err := l.receiveReport()
			if err != nil {
				return 0, err
			}
			if h.kind == kindReport && h.lane == l.step {
				t.got = h.sequence
				return time.Duration(h.sent), nil
			}
			if l.run.now() >= again {
				break
			}
		}
		switch {
		case l.run.stopped.Load():
			return 0, context.Canceled
		case l.run.now() > limit:
			return 0, fmt.Errorf("the receiver did not answer for %v after trial %d: it died, or the path passes nothing any more; see what it reported", grace, l.step)
		}
	}
}

// receiveReport reads what the receiver sent, after a short sleep if it sent
// nothing.
func (l *loadSender) receiveReport() (header, error) {
	n, errno := recv(l.flow[0].fd, l.answer, unix.MSG_DONTWAIT)
	switch {
	case again(errno):
		sleep(tick / 100)
		return header{}, nil
	case errno != 0:
		return header{}, l.refused(errno, 0)
	}
	h, _ := parseHeader(l.answer[:n], &l.token)
	return h, nil
}
