package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// Far is the process at the other side.
type Far struct {
	Kind   string // for messages, as "agent"
	Name   string // where it is, for messages
	Schema string // that it must greet with
	Died   string // what it means that nothing comes any more, for messages

	GreetingWait time.Duration // how long it may take to greet; 0: as long as it lives
	EndWait      time.Duration // how long it may take to be seen that it has ended

	Besides func(line string) // Stream.Besides

	// End ends it. It is called when the stream breaks; it may be called again, and returns the
	// same error each time.
	End func() error
}

// Peer asks a process at the other side. One that has failed stays failed.
type Peer[R interface{ reply() Reply }] struct {
	Far
	stream  *Stream
	mu      sync.Mutex
	last    int // ID of a request
	waiting map[int]func(R) (last bool, err error)
	fails   sync.Once     // whoever sees it first says why
	failing chan struct{} // closed when that begins
	gone    chan struct{} // closed when it has failed: err is set then
	err     error
}

// BrokenError reports that the process at the other side failed, not what it was asked for: it
// takes no more requests.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// Open takes over a started process's standard input and output, and waits for its greeting. It
// ends the process where none comes.
func Open[R interface{ reply() Reply }](ctx context.Context, far Far, in io.Writer, out io.Reader, greeting interface{ greeting() Greeting }) (*Peer[R], error) {
	p := &Peer[R]{
		Far: far, stream: NewStream(out, in), waiting: map[int]func(R) (bool, error){},
		failing: make(chan struct{}), gone: make(chan struct{}),
	}
	p.stream.Besides = far.Besides
	greeted := make(chan error, 1)
	go p.receive(greeting, greeted)
	err := error(nil)
	select {
	case err = <-greeted:
	case <-after(far.GreetingWait):
		err = fmt.Errorf("it sent nothing for %s", far.GreetingWait)
	case <-ctx.Done():
		p.Fail(ctx.Err())
		return nil, ctx.Err()
	}
	if err != nil {
		p.Fail(err)
		return nil, p.at(err)
	}
	return p, nil
}

// receive reads messages until they end or one is not understood.
func (p *Peer[R]) receive(greeting interface{ greeting() Greeting }, greeted chan<- error) {
	err := p.read(greeting)
	if err == nil || unnumbered(err, greeting) && greeting.greeting().Schema != "" {
		err = greeting.greeting().Check(p.Schema)
	} else {
		err = fmt.Errorf("wait for its hello: %w", err)
	}
	greeted <- err
	for err == nil {
		var r R
		if err = p.read(&r); err == nil {
			err = p.deliver(r)
		}
	}
	p.Fail(err)
}

// read receives a message.
func (p *Peer[R]) read(v any) error {
	err := p.stream.Read(v)
	switch malformed := new(MalformedError); {
	case errors.Is(err, io.EOF):
		return errors.New(p.Died)
	case errors.As(err, &malformed):
		return p.Misunderstood(malformed)
	case err != nil:
		return fmt.Errorf("read from it: %w", err)
	}
	return nil
}

// at is an error with where it is.
func (p *Peer[R]) at(err error) error { return fmt.Errorf("%s at %s: %w", p.Kind, p.Name, err) }

// Misunderstood is the error of a message that does not keep to the protocol.
func (p *Peer[R]) Misunderstood(why error) error {
	return fmt.Errorf("it sent what no %s sends: %w", p.Kind, why)
}

// deliver passes a reply to whom it is for. One to a request that nobody waits for any more is
// dropped.
func (p *Peer[R]) deliver(r R) error {
	id := r.reply().ID
	p.mu.Lock()
	to, waits := p.waiting[id]
	p.mu.Unlock()
	if !waits {
		return nil
	}
	last, err := to(r)
	if last {
		p.forget(id)
	}
	return err
}

// Fail marks the other side as broken, once, and ends it. What follows from that, such as that
// nothing comes any more, is not why.
func (p *Peer[R]) Fail(err error) {
	p.fails.Do(func() {
		close(p.failing)
		if status := p.End(); status != nil {
			err = fmt.Errorf("%w: %w", err, status)
		}
		p.err = &BrokenError{p.at(err)}
		close(p.gone)
	})
}

// Broken returns why the other side takes no more requests; nil while it does.
func (p *Peer[R]) Broken() error {
	select {
	case <-p.failing:
		<-p.gone
		return p.err
	default:
		return nil
	}
}

// Gone is closed when the other side is broken.
func (p *Peer[R]) Gone() <-chan struct{} { return p.gone }

// Close ends the other side.
func (p *Peer[R]) Close() error {
	p.Fail(errors.New("closed"))
	return p.End()
}

// Start sends a request, and has each of its replies passed on until one is the last; an error
// then breaks the peer. It returns the request's ID.
func (p *Peer[R]) Start(r interface{ request() *Request }, pass func(R) (last bool, err error)) (id int, err error) {
	if err := p.Broken(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	p.last++
	id = p.last
	p.waiting[id] = pass
	p.mu.Unlock()
	r.request().ID = id
	if err := p.Send(r); err != nil {
		p.forget(id)
		return 0, err
	}
	return id, nil
}

func (p *Peer[R]) forget(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// Waits reports whether a request has yet to get its last reply.
func (p *Peer[R]) Waits(id int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, waits := p.waiting[id]
	return waits
}

// Send sends what gets no reply. Where the other side has ended, the error says why: its input is
// closed then.
func (p *Peer[R]) Send(message any) error {
	err := p.stream.Write(message)
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		select {
		case <-p.gone:
		case <-time.After(p.EndWait): // it lives on
		}
	}
	if why := p.Broken(); why != nil {
		return why
	}
	return p.at(fmt.Errorf("send request: %w", err))
}

// Ask has a request replied to once, within a time; 0: as long as the other side lives.
func (p *Peer[R]) Ask(ctx context.Context, wait time.Duration, r interface{ request() *Request }) (reply R, err error) {
	replies := make(chan R, 1)
	if _, err := p.Start(r, func(r R) (bool, error) { replies <- r; return true, nil }); err != nil {
		return reply, err
	}
	select {
	case reply = <-replies:
		return reply, reply.reply().Refused(p.Name)
	case <-p.gone:
		return reply, p.Broken()
	case <-after(wait):
		p.Fail(fmt.Errorf("no answer for %s: the way there may be cut, or its machine stopped", wait))
		return reply, p.Broken()
	case <-ctx.Done():
		return reply, ctx.Err()
	}
}

// after is time.After, and never where there is no bound.
func after(bound time.Duration) <-chan time.Time {
	if bound == 0 {
		return nil
	}
	return time.After(bound)
}
