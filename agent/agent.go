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
	"tare/traffic/udp"
	"tare/workload"
)

// Agent is the process at an end.
type Agent struct {
	stream *Frames
	mu     sync.Mutex // guards stop
	stop   map[int]context.CancelFunc
	jobs   sync.WaitGroup

	servers servers
}

// Serve answers orders until in ends, and then ends what it started. Nothing is
// collected or printed while a window is open: the collector runs only between
// runs.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string) (err error) {
	prepare()
	a := &Agent{stream: NewFrames(in, out), stop: map[int]context.CancelFunc{}, servers: servers{all: map[string]*running{}}}
	if err := a.stream.Write(Hello{Schema: Schema, Version: version, Boot: probe.BootID("/"), Confinement: probe.Confined("/")}); err != nil {
		return fmt.Errorf("send hello: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { err = errors.Join(err, a.servers.stop()) }()
	defer a.jobs.Wait()
	defer cancel()
	for {
		var o order
		switch err := a.stream.Read(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read order: %w", err)
		}
		a.take(ctx, o)
	}
}

// take starts or stops a job.
func (a *Agent) take(ctx context.Context, o order) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o.Do == doStop {
		if cancel, running := a.stop[o.ID]; running {
			cancel()
		}
		return
	}
	if o.Job != nil && o.Do != doStart && len(a.stop) == 0 {
		room(o.Job.threads())
	}
	ctx, cancel := context.WithCancel(ctx)
	a.stop[o.ID] = cancel
	a.jobs.Go(func() {
		defer cancel()
		tally, err := a.do(ctx, o)
		a.ended(o.ID)
		if err != nil {
			a.answer(answer{ID: o.ID, Error: err.Error(), Unfit: errors.As(err, new(*udp.UnfitError))})
		} else {
			a.answer(answer{ID: o.ID, Tally: &tally})
		}
	})
}

// ended removes a job. The collector runs when there is no other: it would wait
// for the data threads, and they for their peers.
func (a *Agent) ended(id int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.stop, id); len(a.stop) == 0 {
		collect()
	}
}

// answer sends an answer. A tally that JSON cannot represent becomes an error.
// Where the answer cannot be written there is no reader any more: the input
// ends too, and with it the agent.
func (a *Agent) answer(an answer) {
	err := a.stream.Write(an)
	if unsupported := new(json.UnsupportedValueError); errors.As(err, &unsupported) {
		err = a.stream.Write(answer{ID: an.ID, Error: "encode tally: " + unsupported.Error()})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tare agent: answer: %v\n", err)
	}
}

// do carries out one end of a run.
func (a *Agent) do(ctx context.Context, o order) (workload.Tally, error) {
	if o.Job == nil {
		return workload.Tally{}, fmt.Errorf("order %q: no job", o.Do)
	}
	switch o.Do {
	case doServe:
		return o.Job.serve(ctx, func(at netip.AddrPort) error {
			a.answer(answer{ID: o.ID, Listening: at.String()})
			return nil
		})
	case doSend:
		return o.Job.send(ctx)
	case doStart:
		return workload.Tally{}, a.servers.ready(ctx, *o.Job)
	}
	return workload.Tally{}, fmt.Errorf("order %q: unknown to this agent", o.Do)
}
