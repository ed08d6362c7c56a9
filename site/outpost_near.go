package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tare/agent"
	"tare/probe"
	"tare/result"
)

// wishWait is how long an outpost may take to answer: the way there may be long, and its
// machine busy.
const wishWait = 10 * time.Second

// farOutpost is the near side of an outpost. One that has failed stays failed.
type farOutpost struct {
	Name    string // where it is, for messages
	Welcome welcome

	stream  *agent.Frames
	end     func() error
	mu      sync.Mutex
	next    int
	waiting map[int]chan word      // for an answer
	agents  map[int]*io.PipeWriter // what each of them says goes there
	err     error                  // why it is broken
	broke   sync.Once              // whoever saw it first says why
	gone    chan struct{}          // closed when broken
}

// openOutpost takes over a started outpost's standard input and output, and waits for its
// welcome. end ends the command by the end of its input; it is called when the stream breaks
// and again when the outpost is closed, and returns the same error each time. Without a welcome
// the caller ends it.
func openOutpost(ctx context.Context, name string, wait time.Duration, in io.Writer, out io.Reader, end func() error) (*farOutpost, error) {
	o := &farOutpost{
		Name: name, stream: agent.NewFrames(out, in), end: end,
		waiting: map[int]chan word{}, agents: map[int]*io.PipeWriter{}, gone: make(chan struct{}),
	}
	welcome := make(chan error, 1)
	go o.receive(welcome)
	select {
	case err := <-welcome:
		return o, err
	case <-time.After(wait):
		return nil, fmt.Errorf("outpost at %s: it sent nothing for %s", name, wait)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// receive reads the outpost's messages until they end or one is not understood.
func (o *farOutpost) receive(welcome chan<- error) {
	err := o.stream.Read(&o.Welcome)
	if err == nil && o.Welcome.Schema != outpostSchema {
		err = fmt.Errorf("its protocol is %q and that of this tare is %q: use the same version at both ends", o.Welcome.Schema, outpostSchema)
	}
	if err == nil {
		welcome <- nil
	} else {
		welcome <- o.broken(err)
	}
	for err == nil {
		var w word
		if err = o.stream.Read(&w); err == nil {
			err = o.deliver(w)
		}
	}
	o.fail(err)
}

// broken is an error of the stream, with where it is.
func (o *farOutpost) broken(err error) error {
	switch malformed := new(agent.MalformedError); {
	case errors.Is(err, io.EOF):
		err = errors.New("its command ended")
	case errors.As(err, &malformed):
		err = fmt.Errorf("it sent what no outpost sends: %w", malformed)
	}
	return fmt.Errorf("outpost at %s: %w", o.Name, err)
}

// deliver passes a message to whom it is for. One for nobody is dropped: it is of an agent
// that was closed.
func (o *farOutpost) deliver(w word) error {
	o.mu.Lock()
	answer, waits := o.waiting[w.ID]
	reader, runs := o.agents[w.ID]
	if w.Ended {
		delete(o.agents, w.ID)
	}
	delete(o.waiting, w.ID)
	o.mu.Unlock()
	switch {
	case waits:
		answer <- w
	case !runs:
	case w.Ended && w.Error != "":
		reader.CloseWithError(errors.New(result.Plain(w.Error)))
	case w.Ended:
		reader.CloseWithError(io.EOF)
	default:
		if _, err := reader.Write(w.Data); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			return err
		}
	}
	return nil
}

// fail marks the outpost as broken, once, and its agents with it: they take no more jobs. What
// follows from that, such as that its command ends, is not why.
func (o *farOutpost) fail(err error) {
	o.broke.Do(func() {
		status := o.end()
		o.mu.Lock()
		defer o.mu.Unlock()
		if err = o.broken(err); status != nil {
			err = fmt.Errorf("%w: %w", err, status)
		}
		o.err = &agent.BrokenError{Err: err}
		close(o.gone)
		for _, reader := range o.agents {
			reader.CloseWithError(o.err)
		}
	})
}

// Broken returns why the outpost answers no more; nil while it does.
func (o *farOutpost) Broken() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Close ends the outpost and its agents. What broke it before was reported then.
func (o *farOutpost) Close() error {
	if o.Broken() != nil {
		return nil
	}
	err := o.send(wish{Do: wishLeave})
	o.fail(errors.New("closed"))
	return errors.Join(err, o.end())
}

// send sends a wish. Where the outpost has ended, the error says why: its input is closed then.
func (o *farOutpost) send(w wish) error {
	err := o.stream.Write(w)
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrClosed) || errors.Is(err, unix.EPIPE) {
		select {
		case <-o.gone:
		case <-time.After(leaveWait + removeWait): // its command lives on
		}
	}
	if why := o.Broken(); why != nil {
		return why
	}
	return o.broken(err)
}

// ask has a wish answered.
func (o *farOutpost) ask(ctx context.Context, w wish) (word, error) {
	answer := make(chan word, 1)
	o.mu.Lock()
	o.next++
	w.ID = o.next
	o.waiting[w.ID] = answer
	o.mu.Unlock()
	if err := o.send(w); err != nil {
		return word{}, err
	}
	select {
	case w := <-answer:
		if w.Error != "" {
			return w, fmt.Errorf("at %s: %s", o.Name, result.Plain(w.Error))
		}
		return w, nil
	case <-o.gone:
		return word{}, o.Broken()
	case <-time.After(wishWait):
		o.fail(fmt.Errorf("no answer for %s: the way there may be cut, or its machine stopped", wishWait))
		return word{}, o.Broken()
	case <-ctx.Done():
		return word{}, ctx.Err()
	}
}

// answered has a wish answered by what a part of the answer holds.
func answered[T any](ctx context.Context, o *farOutpost, do string, part func(word) *T) (T, error) {
	var none T
	w, err := o.ask(ctx, wish{Do: do})
	if err != nil {
		return none, err
	}
	if held := part(w); held != nil {
		return *held, nil
	}
	return none, fmt.Errorf("outpost at %s: its answer lacks what was asked: %s", o.Name, do)
}

// Look reads what the network namespace there holds.
func (o *farOutpost) Look(ctx context.Context) (probe.Inventory, error) {
	return answered(ctx, o, wishLook, func(w word) *probe.Inventory { return w.Inventory })
}

// load has a wish answered by how busy the machine there is.
func (o *farOutpost) load(ctx context.Context, do string) (probe.Load, error) {
	return answered(ctx, o, do, func(w word) *probe.Load { return w.Load })
}

// Clock reads the monotonic clock there. It is later now by most of the time that the answer
// took.
func (o *farOutpost) Clock(ctx context.Context) (at, took time.Duration, err error) {
	asked := time.Now()
	w, err := o.ask(ctx, wish{Do: wishClock})
	return time.Duration(w.Clock), time.Since(asked), err
}

// Agent starts an agent there.
func (o *farOutpost) Agent(ctx context.Context) (*agent.Handle, error) {
	said, says := io.Pipe()
	o.mu.Lock()
	if o.err != nil {
		o.mu.Unlock()
		return nil, o.err
	}
	o.next++
	id := o.next
	o.agents[id] = says
	o.mu.Unlock()
	if err := o.send(wish{ID: id, Do: wishStart}); err != nil {
		return nil, err
	}
	return agent.Open(ctx, o.Name, &toAgent{o, id}, said, said.Close)
}

// toAgent is an agent's standard input.
type toAgent struct {
	o  *farOutpost
	id int
}

func (a *toAgent) Write(data []byte) (int, error) {
	if err := a.o.send(wish{ID: a.id, Do: wishData, Data: data}); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Close ends the agent, where the outpost still lives.
func (a *toAgent) Close() error {
	if a.o.Broken() != nil {
		return nil
	}
	return a.o.send(wish{ID: a.id, Do: wishEnd})
}
