package kernels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// seat is one of the machines that take turns.
type seat struct {
	Machine
	in      *io.PipeWriter
	waiting chan int      // how many blocks it has measured, when it waits
	ended   chan struct{} // closed when the machine has ended: what follows is set then
	outcome
	status int

	waits bool
	stop  context.CancelFunc
}

// sit boots a machine.
func sit(ctx context.Context, m Machine) *seat {
	ctx, stop := context.WithCancel(ctx)
	input, typed := io.Pipe()
	said, output := io.Pipe()
	s := &seat{Machine: m, in: typed, waiting: make(chan int, 1), ended: make(chan struct{}), stop: stop}
	booted := make(chan error, 1)
	go func() {
		status, err := m.Boot(ctx, input, output)
		s.status = status
		booted <- errors.Join(err, output.Close(), input.Close())
	}()
	go func() {
		h := listen(said, s.waiting)
		h.err = errors.Join(h.err, said.Close(), <-booted)
		s.outcome = h
		close(s.ended)
	}()
	return s
}

// await waits until the machine waits for its turn.
func (s *seat) await(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case _, s.waits = <-s.waiting:
		if s.waits {
			return nil
		}
		<-s.ended
		return s.problem()
	}
}

// measure has the machine measure a block.
func (s *seat) measure(ctx context.Context) error {
	if err := s.send(take); err != nil {
		return err
	}
	return s.await(ctx)
}

func (s *seat) send(word string) error {
	s.waits = false
	if _, err := io.WriteString(s.in, word+"\n"); err != nil {
		<-s.ended
		return errors.Join(fmt.Errorf("send %[2]s to the machine of kernel %[1]s: %[3]w", s.Release, word, err), s.problem())
	}
	return nil
}

// leave has the machine end, in its turn, and waits for its result.
func (s *seat) leave(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer func() {
		s.stop()
		<-s.ended
	}()
	if !s.waits {
		select {
		case <-s.ended: // and why was said before
			return nil
		default:
		}
		if err := s.await(ctx); err != nil {
			return s.late(err, within)
		}
	}
	if err := s.send(end); err != nil {
		return err
	}
	select {
	case <-s.ended:
		if s.res == nil {
			return s.problem()
		}
		return nil
	case <-ctx.Done():
		return s.late(ctx.Err(), within)
	}
}

// late names a machine that did not end.
func (s *seat) late(err error, within time.Duration) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("end the machine of kernel %s: it has not ended in %s, and its result is lost: weigh fewer networks at a time", s.Release, within)
}

// problem is why a machine has ended without its result.
func (s *seat) problem() error {
	what := fmt.Errorf("run tare on kernel %s: it ended with status %d before its time", s.Release, s.status)
	if said := strings.TrimSpace(s.said); said != "" {
		what = fmt.Errorf("%w; it said:\n%s", what, said)
	}
	return errors.Join(what, s.err)
}
