package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tare/agent"
	"tare/probe"
	"tare/protocol"
	"tare/result"
	"tare/trace"
)

// replyWait is how long an outpost may take to reply: the way there may be long, and its
// machine busy.
const replyWait = 10 * time.Second

// farOutpost is the near side of an outpost. One that has failed stays failed.
type farOutpost struct {
	Greeting outpostGreeting
	peer     *protocol.Peer[outpostReply]
}

// openOutpost takes over a started outpost's standard input and output, and waits for its
// greeting. end ends the command by the end of its input; it is called when the stream breaks
// and again when the outpost is closed, and returns the same error each time.
func openOutpost(ctx context.Context, name string, wait time.Duration, in io.Writer, out io.Reader, end func() error) (o *farOutpost, err error) {
	o = &farOutpost{}
	o.peer, err = protocol.Open[outpostReply](ctx, protocol.Far{
		Kind: "outpost", Name: name, Schema: outpostSchema, Died: "its command ended",
		GreetingWait: wait, EndWait: leaveWait + removeWait, End: end,
	}, in, out, &o.Greeting)
	return o, err
}

// Broken returns why the outpost replies no more; nil while it does.
func (o *farOutpost) Broken() error { return o.peer.Broken() }

// Close ends the outpost and its agents. What broke it before was reported then.
func (o *farOutpost) Close() error {
	if o.Broken() != nil {
		return nil
	}
	return errors.Join(o.peer.Send(protocol.Request{Do: protocol.Leave}), o.peer.Close())
}

// ask has a request replied to.
func (o *farOutpost) ask(ctx context.Context, do string, pass *trace.Pass) (outpostReply, error) {
	return o.peer.Ask(ctx, replyWait, &outpostRequest{Request: protocol.Request{Do: do}, Pass: pass})
}

// answered has a request replied to, and gives a part of the reply.
func answered[T any](ctx context.Context, o *farOutpost, do string, part func(outpostReply) *T) (T, error) {
	var none T
	r, err := o.ask(ctx, do, nil)
	if err != nil {
		return none, err
	}
	if held := part(r); held != nil {
		return *held, nil
	}
	return none, fmt.Errorf("outpost at %s: its answer lacks what was asked: %s", o.peer.Name, do)
}

// Look reads what the network namespace there holds.
func (o *farOutpost) Look(ctx context.Context) (probe.Inventory, error) {
	return answered(ctx, o, doLook, func(r outpostReply) *probe.Inventory { return r.Inventory })
}

// Clock reads the monotonic clock there. It is later now by most of the time that the reply
// took.
func (o *farOutpost) Clock(ctx context.Context) (at, took time.Duration, err error) {
	asked := time.Now()
	r, err := o.ask(ctx, doClock, nil)
	return time.Duration(r.Clock), time.Since(asked), err
}

// accepted is how many connections to a port sockets there have.
func (o *farOutpost) accepted(ctx context.Context, port uint16) (int, error) {
	r, err := o.peer.Ask(ctx, replyWait, &outpostRequest{Request: protocol.Request{Do: doAccepted}, Port: port})
	return r.Accepted, err
}

// Agent starts an agent there.
func (o *farOutpost) Agent(ctx context.Context) (*agent.Handle, error) {
	said, says := io.Pipe()
	id, err := o.peer.Start(&outpostRequest{Request: protocol.Request{Do: doStart}}, func(r outpostReply) (last bool, err error) {
		switch {
		case r.Error != "":
			return true, says.CloseWithError(errors.New(result.Plain(r.Error)))
		case r.Ended:
			return true, says.Close()
		}
		if _, err = says.Write(r.Data); errors.Is(err, io.ErrClosedPipe) {
			err = nil // it was closed here
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	go func() {
		<-o.peer.Gone()
		says.CloseWithError(o.Broken())
	}()
	return agent.Open(ctx, o.peer.Name, &toAgent{o, id}, said, said.Close)
}

// toAgent is an agent's standard input.
type toAgent struct {
	o  *farOutpost
	id int
}

func (a *toAgent) Write(data []byte) (int, error) {
	if err := a.send(doData, data); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Close ends the agent, where the outpost still lives.
func (a *toAgent) Close() error {
	if a.o.Broken() != nil {
		return nil
	}
	return a.send(protocol.Cancel, nil)
}

func (a *toAgent) send(do string, data []byte) error {
	return a.o.peer.Send(outpostRequest{Request: protocol.Request{ID: a.id, Do: do}, Data: data})
}
