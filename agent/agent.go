package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync"

	"tare/probe"
	"tare/protocol"
	"tare/traffic/udp"
	"tare/workload"
)

// Agent is the process at an end.
type Agent struct {
	stream *protocol.Stream
	mu     sync.Mutex // guards cancel
	cancel map[int]context.CancelFunc
	jobs   sync.WaitGroup

	servers servers
}

// Serve replies to requests until in ends, and then ends what it started. Nothing is
// collected or printed while a window is open: the collector runs only between
// runs.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string) (err error) {
	prepare()
	a := &Agent{stream: protocol.NewStream(in, out), cancel: map[int]context.CancelFunc{}, servers: servers{all: map[string]*running{}}}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { err = errors.Join(err, a.servers.stop()) }()
	defer a.jobs.Wait()
	defer cancel()
	greeting := Greeting{protocol.Greeting{Schema: Schema, Version: version}, probe.BootID("/"), probe.Confined("/")}
	return protocol.Serve(a.stream, greeting, func(r *Request) error { a.take(ctx, r); return nil })
}

// take starts or cancels a job.
func (a *Agent) take(ctx context.Context, r *Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Do == protocol.Cancel {
		if cancel, running := a.cancel[r.ID]; running {
			cancel()
		}
		return
	}
	if r.Job != nil && r.Do != DoStart && len(a.cancel) == 0 {
		room(r.Job.threads())
	}
	ctx, cancel := context.WithCancel(ctx)
	a.cancel[r.ID] = cancel
	a.jobs.Go(func() {
		defer cancel()
		reply := Reply{Reply: protocol.Reply{ID: r.ID}}
		tally, err := a.do(ctx, r)
		a.ended(r.ID)
		if err != nil {
			reply.Error, reply.Unfit = err.Error(), errors.As(err, new(*udp.UnfitError))
		} else {
			reply.Tally = &tally
		}
		a.reply(reply)
	})
}

// ended removes a job. The collector runs when there is no other: it would wait
// for the data threads, and they for their peers.
func (a *Agent) ended(id int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.cancel, id); len(a.cancel) == 0 {
		collect()
	}
}

// reply sends a reply. A tally that JSON cannot represent becomes an error.
// Where the reply cannot be written there is no reader any more: the input
// ends too, and with it the agent.
func (a *Agent) reply(r Reply) {
	err := a.stream.Write(r)
	if unsupported := new(json.UnsupportedValueError); errors.As(err, &unsupported) {
		err = a.stream.Write(protocol.Reply{ID: r.ID, Error: "encode tally: " + unsupported.Error()})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tare agent: reply: %v\n", err)
	}
}

// do carries out one end of a run.
func (a *Agent) do(ctx context.Context, r *Request) (workload.Tally, error) {
	if r.Job == nil {
		return workload.Tally{}, fmt.Errorf("request %q: no job", r.Do)
	}
	switch r.Do {
	case DoServe:
		return r.Job.serve(ctx, func(at netip.AddrPort) error {
			a.reply(Reply{Reply: protocol.Reply{ID: r.ID}, Listening: at.String()})
			return nil
		})
	case DoSend:
		return r.Job.send(ctx)
	case DoStart:
		return workload.Tally{}, a.servers.ready(ctx, *r.Job)
	}
	return workload.Tally{}, r.Unknown("agent")
}
