package traffic

import (
	"bytes"
	"fmt"
)

// sizesServer is the serving end of tcp_sizes: it receives the bulk and returns
// the pings.
type sizesServer struct {
	run     *run
	fd      int
	sweep   TCPSizes
	meters  map[int]*meter // by size
	buffer  []byte
	answer  []byte
	current announcement
	*deadline
}

func newSizesServer(r *run, fd int, s TCPSizes) *sizesServer {
	w := &sizesServer{
		run: r, fd: fd, sweep: s, meters: map[int]*meter{},
		buffer: prefaulted(max(defaultBlock, LargestPing)), answer: randomBytes(LargestPing), deadline: newDeadline(r, s.Window),
	}
	w.answer[0] = requestByte
	for _, size := range s.Sizes {
		w.meters[size] = newMeter(newTimetable(s.bulk(size), 1))
	}
	return w
}

func (w *sizesServer) work() error {
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
		case w.current.phase() == phaseBulk && m.phase == idle:
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
func (w *sizesServer) reply(what byte) error {
	if err := sendAll(w.run, w.fd, []byte{what}); err != nil {
		return fmt.Errorf("send the driving end %q: %w; see what it reported", what, err)
	}
	return nil
}

// receive reads once into p, and gives 0 for a wait that ended without data.
func (w *sizesServer) receive(p []byte) (int, error) { return receiveOnce(w.deadline, w.fd, p) }

// fill reads the whole of p.
func (w *sizesServer) fill(p []byte) error {
	for len(p) > 0 {
		n, err := w.receive(p)
		if err != nil {
			return err
		}
		if p = p[n:]; n > 0 {
			w.passed(w.run.now())
		}
	}
	return nil
}

// bulk receives one bulk phase.
func (w *sizesServer) bulk(m *meter) error {
	if err := w.reply(phaseReady); err != nil {
		return err
	}
	token := w.sweep.Token[:]
	kept := 0 // bytes at the buffer's start that may be the token's beginning
	for replied := false; ; {
		n, err := w.receive(w.buffer[kept:])
		if err != nil {
			return fmt.Errorf("receive after %d bytes: %w; see what the driving end reported", m.sum, err)
		}
		now := w.run.now()
		if n > 0 {
			w.passed(now)
		}
		if err := w.check(now); err != nil {
			return err
		}
		if n == 0 && m.phase == open && m.sum == m.base {
			continue // no window closes on nothing
		}
		if !replied {
			m.step(event{now, int64(n), n == len(w.buffer)})
			if replied = m.phase == closed; replied {
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
func (w *sizesServer) pong(size int) error {
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
		if got += n; request[0] == endByte {
			return w.reply(phaseOver)
		}
		if got < size {
			continue
		}
		got = 0
		now := w.run.now()
		w.passed(now)
		if err := w.check(now); err != nil {
			return err
		}
		if err := sendAll(w.run, w.fd, answer); err != nil {
			return fmt.Errorf("answer ping: %w; see what the driving end reported", err)
		}
	}
}
