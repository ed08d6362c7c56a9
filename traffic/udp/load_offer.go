package udp

import (
	"context"
	"time"
)

// offerer sends the load of a trial on its sender's flow.
type offerer interface {
	// offer sends at a rate in 1/s, or as fast as it can for 0. It gives how many
	// datagrams it tried to send, and in which time.
	offer(u *sendThread, rate float64, length time.Duration) (tried int64, elapsed time.Duration, err error)
	close() error
}

func newOfferer(u *sendThread, s Load) (offerer, error) {
	if s.Mode == XDP {
		return openGenerator(u)
	}
	v, err := newVolley(s.Mode, s.Size, nil)
	return &volleys{volley: v, spin: s.Spin}, err
}

// volleys offers loads through a socket.
type volleys struct {
	*volley
	paced rounds // of the trial under way, where it has a rate
	spin  bool
}

func (v *volleys) offer(u *sendThread, rate float64, length time.Duration) (tried int64, elapsed time.Duration, err error) {
	p := &v.paced
	if rate > 0 {
		*p = newRounds(v.volley, rate, v.spin)
	}
	begun := u.run.Now()
	for now := begun; now-begun < length; {
		if u.run.Stopped() {
			return tried, 0, context.Canceled
		}
		count := v.most()
		if rate > 0 {
			var due bool
			if now, due = p.next(u.run, begun); !due {
				continue
			}
			count = p.count
		}
		if _, err := v.send(u, &u.flow[0], count); err != nil {
			return tried, 0, err
		}
		tried += int64(count)
		now = u.run.Now()
	}
	if elapsed = u.run.Now() - begun; rate > 0 { // the last slot is not over yet
		elapsed = time.Duration(float64(p.index) * p.slot)
	}
	return tried, elapsed, nil
}

func (*volleys) close() error { return nil }
