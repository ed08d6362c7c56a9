package tcpsizes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// driver is the driving end of tcp_sizes: it sends the bulk and the pings.
type driver struct {
	run     *traffic.Run
	fds     []int // the one connection
	sweep   Options
	pings   map[int]*traffic.Histogram // by size
	payload []byte
	answer  []byte
	info    unix.TCPInfo // at the end
	*deadline
}

func newDriver(r *traffic.Run, fds []int, s Options) *driver {
	w := &driver{
		run: r, fds: fds, sweep: s, pings: map[int]*traffic.Histogram{},
		payload: traffic.RandomPayload(s.largest()), answer: traffic.Buffer(LargestPing), deadline: newDeadline(r, s.Window),
	}
	w.payload[0] = traffic.RequestByte
	for _, size := range s.Sizes {
		if size <= LargestPing {
			w.pings[size] = traffic.NewHistogram()
		}
	}
	return w
}

// work gives every size its turn.
func (w *driver) work() error {
	token := w.sweep.Token
	order := rand.New(rand.NewPCG(binary.BigEndian.Uint64(token[:8]), binary.BigEndian.Uint64(token[8:])))
	for _, i := range order.Perm(len(w.sweep.Sizes)) {
		size := w.sweep.Sizes[i]
		err := w.phase(phaseBulk, size, w.bulk)
		if err == nil && size <= LargestPing {
			err = w.phase(phasePing, size, w.ping)
		}
		if err != nil {
			return fmt.Errorf("messages of %d bytes: %w", size, err)
		}
	}
	if err := traffic.TCPInfo(w.fds[0], &w.info); err != nil {
		return err
	}
	return w.announce(phaseEnd, 0)
}

// phase announces a phase and runs it. What the ends send between two phases
// leaves at once in both modes.
func (w *driver) phase(which byte, size int, through func(size int) error) error {
	if err := w.announce(which, size); err != nil {
		return err
	}
	if err := w.await(phaseReady); err != nil {
		return err
	}
	if err := traffic.NoDelay(w.fds, w.sweep.NoDelay); err != nil {
		return err
	}
	return through(size)
}

func (w *driver) announce(which byte, size int) error {
	a := announce(which, size)
	if err := traffic.NoDelay(w.fds, true); err != nil {
		return err
	}
	if err := traffic.SendAll(w.run, w.fds[0], a[:]); err != nil {
		return fmt.Errorf("announce phase %q: %w; see what the server reported", which, err)
	}
	return nil
}

// await waits until the serving end sends what is wanted.
func (w *driver) await(want byte) error {
	var answer [1]byte
	for {
		n, err := receiveOnce(w.deadline, w.fds[0], answer[:])
		switch {
		case err != nil:
			return fmt.Errorf("wait for the server: %w; see what it reported", err)
		case n > 0 && answer[0] != want:
			return fmt.Errorf("the server sent %#x, which is not part of the protocol", answer[0])
		case n > 0:
			w.passed(w.run.Now())
			return nil
		}
	}
}

// bulk sends messages until the serving end has enough.
func (w *driver) bulk(size int) error {
	var enough atomic.Bool
	err := traffic.OnThreads(w.run, 2, func(i int) error {
		if i == 1 {
			defer enough.Store(true)
			return w.awaitOver()
		}
		return w.flood(w.payload[:size], &enough)
	})
	if err != nil {
		return err
	}
	if err := traffic.NoDelay(w.fds, true); err != nil {
		return err
	}
	if err := traffic.SendAll(w.run, w.fds[0], w.sweep.Token[:]); err != nil {
		return fmt.Errorf("end the bulk: %w; see what the server reported", err)
	}
	return w.await(phaseOver)
}

// flood sends the message again and again.
func (w *driver) flood(message []byte, enough *atomic.Bool) error {
	for rest := message; !enough.Load() && !w.run.Stopped(); {
		n, errno := traffic.Send(w.fds[0], rest, 0)
		if errno != 0 && !traffic.Waited(errno) {
			return fmt.Errorf("send: %w; see what the server reported", errno)
		}
		if rest = rest[n:]; len(rest) == 0 {
			rest = message
		}
	}
	return nil
}

// awaitOver waits for the end of the bulk while another thread sends it.
func (w *driver) awaitOver() error {
	alive := traffic.Acknowledged{At: w.run.Now()}
	answer, infos := make([]byte, 1), make([]unix.TCPInfo, 1)
	for {
		n, errno := traffic.Receive(w.fds[0], answer, 0)
		now := w.run.Now()
		switch {
		case errno == 0 && n == 0:
			return fmt.Errorf("wait for the server: %w; see what it reported", traffic.ErrPeerClosed)
		case errno == 0 && answer[0] != phaseOver:
			return fmt.Errorf("the server sent %#x, which is not part of the protocol", answer[0])
		case errno == 0:
			w.passed(now)
			return nil
		case !traffic.Waited(errno):
			return fmt.Errorf("wait for the server: %w; see what it reported", errno)
		case w.run.Stopped():
			return traffic.ErrAnother
		case now > w.limit:
			return errors.New("the server did not end the bulk in time; see what it reported")
		}
		if err := alive.Look(now, w.fds, infos, 0); err != nil {
			return err
		}
	}
}

// ping sends a message and waits for one of the same size, again and again,
// and takes the round trips after the first.
func (w *driver) ping(size int) error {
	request, rtt := w.payload[:size], w.pings[size]
	start := w.run.Now()
	span := w.sweep.bulk(size).Duration
	for asked, first := start, true; asked < start+span || rtt.Count() < leastPings; first = false {
		if err := traffic.SendAll(w.run, w.fds[0], request); err != nil {
			return fmt.Errorf("send ping: %w; see what the server reported", err)
		}
		for got := 0; got < size; {
			n, err := receiveOnce(w.deadline, w.fds[0], w.answer[got:size])
			if err != nil {
				return fmt.Errorf("wait for answer: %w; see what the server reported", err)
			}
			got += n
		}
		now := w.run.Now()
		w.passed(now)
		if err := w.check(now); err != nil {
			return err
		}
		if !first {
			rtt.Record(now - asked)
		}
		asked = now
	}
	if err := traffic.SendAll(w.run, w.fds[0], []byte{traffic.EndByte}); err != nil {
		return fmt.Errorf("end the pings: %w; see what the server reported", err)
	}
	return w.await(phaseOver)
}
