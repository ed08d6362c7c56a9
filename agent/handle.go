package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"tare/probe"
	"tare/protocol"
	"tare/traffic/udp"
	"tare/workload"
)

const (
	// greetingWait is how long an agent may take to start and to greet: a machine
	// on which containers are made can be busy for seconds.
	greetingWait = 10 * time.Second
	// patience is how long an agent may take to do a job, beyond what the job takes.
	// It is longer than that of the workloads, whose errors name better what they
	// waited for.
	patience = 3500 * time.Millisecond
	// stopWait is how long a job may take to stop before its agent counts as
	// hung.
	stopWait = time.Second
)

// Handle is the near side of an agent. One that has failed stays failed: start
// another.
type Handle struct {
	Name              string // where it is, for messages
	Version           string
	probe.Confinement // of the agent

	boot       string
	peer       *protocol.Peer[Reply]
	closeInput func() error // of the agent, once
	servers    atomic.Bool  // it was asked to start real ones
}

// Open takes over a started agent's standard input and output and waits for its
// greeting. end kills the process at the other side; it is called when the agent
// breaks and again when it is closed, and returns the same error each time.
func Open(ctx context.Context, name string, in io.WriteCloser, out io.Reader, end func() error) (*Handle, error) {
	var greeting Greeting
	closeInput := sync.OnceValue(in.Close)
	peer, err := protocol.Open[Reply](ctx, protocol.Far{
		Kind: "agent", Name: name, Schema: Schema, Died: "it died", GreetingWait: greetingWait, EndWait: stopWait, End: end,
	}, in, out, &greeting)
	if err != nil {
		return nil, errors.Join(err, closeInput(), end())
	}
	return &Handle{Name: name, Version: greeting.Version, Confinement: greeting.Confinement, boot: greeting.Boot, peer: peer, closeInput: closeInput}, nil
}

// Broken returns why the agent takes no more jobs, a *protocol.BrokenError; nil while it does.
func (h *Handle) Broken() error { return h.peer.Broken() }

// Close ends the agent.
func (h *Handle) Close() error { return errors.Join(h.peer.Close(), h.closeInput()) }

// job is one end of a run under way.
type job struct {
	h       *Handle
	id      int
	listens bool          // it has yet to reply where it listens
	replies chan Reply    // that were accepted
	ended   chan struct{} // closed when it has
}

// accept refuses a reply that is out of turn. A job has two at most: where it
// listens, if it does, and how it ended.
func (j *job) accept(r Reply) (last bool, err error) {
	last = r.Tally != nil || r.Error != ""
	switch {
	case r.Error != "":
	case last && j.listens:
		err = errors.New("an end before it listened")
	case last:
	case r.Listening == "":
		err = errors.New("an answer without a tally")
	case !j.listens:
		err = fmt.Errorf("too many answers to job %d", r.ID)
	}
	if err != nil {
		return false, j.h.peer.Misunderstood(err)
	}
	j.listens = false
	j.replies <- r
	if last {
		close(j.ended)
	}
	return last, nil
}

// start has the agent begin a job.
func (h *Handle) start(do string, j Job) (*job, error) {
	started := &job{h: h, listens: do == DoServe, replies: make(chan Reply, 2), ended: make(chan struct{})}
	id, err := h.peer.Start(&Request{protocol.Request{Do: do}, &j}, started.accept)
	started.id = id
	return started, err
}

// wait returns the job's next reply.
func (j *job) wait(ctx context.Context) (Reply, error) {
	select {
	case r := <-j.replies:
		err := r.Refused(j.h.Name)
		if r.Unfit {
			err = &udp.UnfitError{Err: err}
		}
		return r, err
	case <-j.h.peer.Gone():
		return Reply{}, j.h.Broken()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Reply{}, fmt.Errorf("agent at %s: no answer in time", j.h.Name)
		}
		return Reply{}, ctx.Err()
	}
}

// tally waits for what the job measured.
func (j *job) tally(ctx context.Context) (workload.Tally, error) {
	r, err := j.wait(ctx)
	if err != nil {
		return workload.Tally{}, err
	}
	return *r.Tally, nil
}

// done ends the job. One that still runs is cancelled and waited for, so that
// the next run finds the port free. Why an agent is broken, its reply says.
func (j *job) done() error {
	peer := j.h.peer
	if !peer.Waits(j.id) || peer.Broken() != nil {
		return nil
	}
	if err := peer.Send(protocol.Request{ID: j.id, Do: protocol.Cancel}); err != nil {
		peer.Fail(fmt.Errorf("stop job: %w", err))
	}
	select {
	case <-j.ended:
	case <-peer.Gone():
	case <-time.After(stopWait):
		peer.Fail(errors.New("it hangs: a job did not stop"))
		return peer.Broken()
	}
	return nil
}

// Measure does one run between two agents: the server listens at bind, the
// client sends to dial. An end that dies, hangs or fails ends the run at both.
func Measure(ctx context.Context, server, client *Handle, name string, run workload.Run, bind, dial string) (out Outcome, err error) {
	run.Boot = client.boot
	ctx, cancel := context.WithTimeout(ctx, run.Idle+run.Warmup+run.Duration+patience)
	defer cancel()
	serving, err := server.start(DoServe, Job{Workload: name, Run: run, Address: bind})
	if err != nil {
		return out, err
	}
	ends := []*job{serving}
	defer func() { err = errors.Join(err, doneAll(ends)) }()
	if _, err := serving.wait(ctx); err != nil {
		return out, err
	}
	sending, err := client.start(DoSend, Job{Workload: name, Run: run, Address: dial})
	if err != nil {
		return out, err
	}
	ends = append(ends, sending)
	return join(ctx, serving.tally, sending.tally)
}

// doneAll ends all jobs at once: two that hang take no longer than one.
func doneAll(jobs []*job) error {
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for n, j := range jobs {
		all.Go(func() { errs[n] = j.done() })
	}
	all.Wait()
	return errors.Join(errs...)
}
