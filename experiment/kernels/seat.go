package kernels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tare/protocol"
)

// seat is one of the machines that take turns.
type seat struct {
	Machine
	stop    context.CancelFunc
	greeted chan struct{}                  // closed when it waits for its first turn, or never will
	peer    *protocol.Peer[protocol.Reply] // nil: it never will
	ended   chan struct{}                  // closed when the machine has ended: what follows is set then
	outcome
	status int

	explained bool // why it ended
}

// sit boots a machine.
func sit(ctx context.Context, m Machine) *seat {
	ctx, stop := context.WithCancel(ctx)
	input, typed := io.Pipe()
	said, output := io.Pipe()
	s := &seat{Machine: m, stop: stop, greeted: make(chan struct{}), ended: make(chan struct{})}
	received := make(chan struct{}) // all that it says
	far := protocol.Far{Kind: "machine", Name: m.Release, Schema: schema, Died: "it ended", Besides: s.keep, EndWait: lastTurn}
	far.End = sync.OnceValue(func() error {
		stop()
		close(received)
		return said.Close()
	})
	go func() {
		status, err := m.Boot(ctx, input, output)
		err = errors.Join(err, output.Close(), input.Close())
		<-received
		s.status, s.err = status, errors.Join(s.err, err)
		close(s.ended)
	}()
	go func() {
		// It ends with the machine, and all that this has said is kept.
		s.peer, _ = protocol.Open[protocol.Reply](context.WithoutCancel(ctx), far, typed, said, &protocol.Greeting{})
		close(s.greeted)
	}()
	return s
}

// await waits until the machine waits for its first turn.
func (s *seat) await(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.greeted:
	}
	if s.peer == nil {
		<-s.ended
		return s.problem()
	}
	return nil
}

// measure has the machine measure a block, and waits until it waits again.
func (s *seat) measure(ctx context.Context) error {
	_, err := s.peer.Ask(ctx, 0, &protocol.Request{Do: doMeasure})
	if err != nil && ctx.Err() == nil {
		<-s.ended
		return s.problem()
	}
	return err
}

// leave has the machine end, in its turn, and waits for its result.
func (s *seat) leave(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	context.AfterFunc(ctx, s.stop)
	err := s.await(ctx)
	if err == nil {
		_ = s.peer.Send(protocol.Request{Do: protocol.Leave}) // one that has ended gets none
	}
	<-s.ended
	switch {
	case s.res != nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("end the machine of kernel %s: it has not ended in %s, and its result is lost: weigh fewer networks at a time", s.Release, within)
	}
	return errors.Join(err, s.problem())
}

// problem is why a machine has ended without its result; nil: that was said before.
func (s *seat) problem() error {
	if s.explained {
		return nil
	}
	s.explained = true
	what := fmt.Errorf("run tare on kernel %s: it ended with status %d before its time", s.Release, s.status)
	if said := strings.TrimSpace(s.said); said != "" {
		what = fmt.Errorf("%w; it said:\n%s", what, said)
	}
	return errors.Join(what, s.err)
}
