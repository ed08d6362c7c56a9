package tcpsizes

import (
	"bytes"
	"fmt"

	"tare/traffic"
)

// server is the serving end of tcp_sizes: it receives the bulk and returns
// the pings.
type server struct {
	run     *traffic.Run
	fd      int
	sweep   Options
	meters  map[int]*traffic.Meter // by size
	buffer  []byte
	answer  []byte
	current announcement
	*deadline
}

func newServer(r *traffic.Run, fd int, s Options) *server {
	w := &server{
		run: r, fd: fd, sweep: s, meters: map[int]*traffic.Meter{},
		buffer: traffic.Buffer(max(traffic.DefaultBlock, LargestPing)), answer: traffic.RandomPayload(LargestPing), deadline: newDeadline(r, s.Window),
	}
	w.answer[0] = traffic.RequestByte
	for _, size := range s.Sizes {
		w.meters[size] = traffic.NewMeter(traffic.NewTimetable(s.bulk(size), 1))
	}
	return w
}

func (w *server) work() error {
	for {
		if err := w.fill(w.current[:]); err != nil {
			return fmt.Errorf("receive the next announcement: %w; see what the driving end reported", err)
		}
		m, known := w.meters[w.current.size()]
		var err error
		switch {
		case w.current.phase() == phaseEnd:
			return nil
		case !known:
			err = fmt.Errorf("the driving end announced %d bytes, which this end does not expect: give both ends the same sizes", w.current.size())
		case w.current.phase() == phaseBulk && m.Phase() == traffic.Idle:
			err = w.bulk(m)
		case w.current.phase() == phasePing && w.current.size() <= LargestPing:
			err = w.pong(w.current.size())
		default:
			err = fmt.Errorf("the driving end announced phase %q, which this end does not expect", w.current.phase())
		}
		if err != nil {
			return fmt.Errorf("messages of %d bytes: %w", w.current.size(), err)
		}
	}
}

// reply reports to the driving end how far this end is.
func (w *server) reply(what byte) error {
	if err := traffic.SendAll(w.run, w.fd, []byte{what}); err != nil {
		return fmt.Errorf("send the driving end %q: %w; see what it reported", what, err)
	}
	return nil
}

// receive reads once into p, and gives 0 for a wait that ended without data.
func (w *server) receive(p []byte) (int, error) { return receiveOnce(w.deadline, w.fd, p) }

// fill reads the whole of p.
func (w *server) fill(p []byte) error {
	for len(p) > 0 {
		n, err := w.receive(p)
		if err != nil {
			return err
		}
		if p = p[n:]; n > 0 {
			w.passed(w.run.Now())
		}
	}
	return nil
}

// bulk receives one bulk phase.
func (w *server) bulk(m *traffic.Meter) error {
	if err := w.reply(phaseReady); err != nil {
		return err
	}
	token := w.sweep.Token[:]
	kept := 0 // bytes at the buffer's start that may be the token's beginning
	for replied := false; ; {
		n, err := w.receive(w.buffer[kept:])
		if err != nil {
			return fmt.Errorf("receive after %d bytes: %w; see what the driving end reported", m.Sum(), err)
		}
		now := w.run.Now()
		if n > 0 {
			w.passed(now)
		}
		if err := w.check(now); err != nil {
			return err
		}
		if n == 0 && m.Phase() == traffic.Open && m.Since() == 0 {
			continue // no window closes on nothing
		}
		if !replied {
			m.Step(traffic.Event{At: now, N: int64(n), More: n == len(w.buffer)})
			if replied = m.Phase() == traffic.Closed; replied {
				if err := w.reply(phaseOver); err != nil {
					return err
				}
			}
			continue
		}
		got := w.buffer[:kept+n]
		if bytes.HasSuffix(got, token) {
			return w.reply(phaseOver)
		}
		if keep := len(token) - 1; len(got) > keep {
			copy(w.buffer, got[len(got)-keep:])
			kept = keep
		} else {
			kept = len(got)
		}
	}
}

// pong returns each message of size bytes.
func (w *server) pong(size int) error {
	if err := w.reply(phaseReady); err != nil {
		return err
	}
	request, answer := w.buffer[:size], w.answer[:size]
	for got := 0; ; {
		n, err := w.receive(request[got:])
		if err != nil {
			return fmt.Errorf("receive ping: %w; see what the driving end reported", err)
		}
		if n == 0 {
			continue
		}
		if got += n; request[0] == traffic.EndByte {
			return w.reply(phaseOver)
		}
		if got < size {
			continue
		}
		got = 0
		now := w.run.Now()
		w.passed(now)
		if err := w.check(now); err != nil {
			return err
		}
		if err := traffic.SendAll(w.run, w.fd, answer); err != nil {
			return fmt.Errorf("answer ping: %w; see what the driving end reported", err)
		}
	}
}
