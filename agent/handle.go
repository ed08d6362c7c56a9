package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"tare/probe"
	"tare/result"
	"tare/traffic/udp"
	"tare/workload"
)

const (
	// helloWait is how long an agent may take to start and to send its hello: a machine
	// on which containers are made can be busy for seconds.
	helloWait = 10 * time.Second
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
	stream     *Frames
	end        func() error
	closeInput func() error // of the agent, once
	mu         sync.Mutex
	next       int
	jobs       map[int]*job  // that have not ended
	err        error         // why it is broken
	gone       chan struct{} // closed when broken

	servers bool // it was asked to start real ones
}

// Open takes over a started agent's standard input and output and waits for its
// hello. end kills the process at the other side; it is called when the agent
// breaks and again when it is closed, and returns the same error each time.
func Open(ctx context.Context, name string, in io.WriteCloser, out io.Reader, end func() error) (*Handle, error) {
	h := &Handle{
		Name: name, stream: NewFrames(out, in), closeInput: sync.OnceValue(in.Close), end: end,
		jobs: map[int]*job{}, gone: make(chan struct{}),
	}
	hello := make(chan error, 1)
	go h.receive(hello)
	select {
	case err := <-hello:
		if err != nil {
			return nil, errors.Join(fmt.Errorf("agent at %s: %w", name, err), h.Close())
		}
		return h, nil
	case <-time.After(helloWait):
		return nil, errors.Join(fmt.Errorf("agent at %s: it sent nothing for %s", name, helloWait), h.Close())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), h.Close())
	}
}

// receive reads the agent's messages until they end or one is not understood.
func (h *Handle) receive(hello chan<- error) {
	err := h.readHello()
	hello <- err
	for err == nil {
		var a answer
		if err = h.read(&a); err == nil {
			err = h.deliver(a)
		}
	}
	h.fail(err)
}

// read receives a message of the agent.
func (h *Handle) read(v any) error {
	err := h.stream.Read(v)
	switch malformed := new(MalformedError); {
	case errors.Is(err, io.EOF):
		return errors.New("it died")
	case errors.As(err, &malformed):
		return fmt.Errorf("%s: %w", misunderstood, malformed)
	case err != nil:
		return fmt.Errorf("read from it: %w", err)
	}
	return nil
}

// misunderstood begins the error of an agent that does not keep to the protocol.
const misunderstood = "it sent what no agent sends"

// deliver passes an answer to its job. An answer to a job that nobody waits for
// any more is dropped.
func (h *Handle) deliver(a answer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	j, waiting := h.jobs[a.ID]
	if !waiting {
		return nil
	}
	if err := j.accept(a); err != nil {
		return err
	}
	j.answers <- a
	if a.Tally != nil || a.Error != "" {
		delete(h.jobs, a.ID)
		close(j.ended)
	}
	return nil
}

// readHello reads the first line.
func (h *Handle) readHello() error {
	var hello Hello
	if err := h.read(&hello); err != nil && !older(err, &hello) {
		return fmt.Errorf("wait for its hello: %w", err)
	}
	if hello.Schema != Schema {
		return fmt.Errorf("its protocol is %q and that of this tare is %q: use the same version at both ends", hello.Schema, Schema)
	}
	h.Version, h.boot, h.Confinement = hello.Version, hello.Boot, hello.Confinement
	return nil
}

// older reports whether what came is the hello of a tare whose messages had no number, and
// reads it.
func older(err error, hello *Hello) bool {
	malformed := new(MalformedError)
	return errors.As(err, &malformed) && json.Unmarshal([]byte(malformed.line), hello) == nil && hello.Schema != ""
}

// BrokenError reports that an agent itself failed, not a run between two: it
// takes no more jobs.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// fail marks the agent as broken, once, and ends its process.
func (h *Handle) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = &BrokenError{errors.Join(fmt.Errorf("agent at %s: %w", h.Name, err), h.end())}
		close(h.gone)
	}
}

// Broken returns why the agent takes no more jobs; nil while it does.
func (h *Handle) Broken() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Close ends the agent.
func (h *Handle) Close() error {
	h.fail(errors.New("closed"))
	return errors.Join(h.closeInput(), h.end())
}

// job is one end of a run under way.
type job struct {
	h       *Handle
	id      int
	listens bool          // it has yet to answer where it listens
	answers chan answer   // that were accepted
	ended   chan struct{} // closed when it has
}

// accept refuses an answer that is out of turn. A job has two at most: where it
// listens, if it does, and how it ended.
func (j *job) accept(a answer) error {
	switch {
	case a.Error != "":
		return nil
	case a.Tally != nil && j.listens:
		return errors.New(misunderstood + ": an end before it listened")
	case a.Tally != nil:
		return nil
	case a.Listening == "":
		return errors.New(misunderstood + ": an answer without a tally")
	case !j.listens:
		return fmt.Errorf("%s: too many answers to job %d", misunderstood, j.id)
	}
	j.listens = false
	return nil
}

// start sends an order.
func (h *Handle) start(do string, j Job) (*job, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, h.err
	}
	h.next++
	started := &job{h: h, id: h.next, listens: do == doServe, answers: make(chan answer, 2), ended: make(chan struct{})}
	if err := h.stream.Write(order{ID: started.id, Do: do, Job: &j}); err != nil {
		return nil, fmt.Errorf("agent at %s: send order: %w", h.Name, err)
	}
	h.jobs[started.id] = started
	return started, nil
}

// wait returns the job's next answer.
func (j *job) wait(ctx context.Context) (answer, error) {
	select {
	case a := <-j.answers:
		if a.Error != "" {
			return a, j.failed(a)
		}
		return a, nil
	case <-j.h.gone:
		return answer{}, j.h.Broken()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return answer{}, fmt.Errorf("agent at %s: no answer in time", j.h.Name)
		}
		return answer{}, ctx.Err()
	}
}

// failed is the error of the job's answer.
func (j *job) failed(a answer) error {
	err := fmt.Errorf("at %s: %s", j.h.Name, result.Plain(a.Error))
	if a.Unfit {
		return &udp.UnfitError{Err: err}
	}
	return err
}

// tally waits for what the job measured.
func (j *job) tally(ctx context.Context) (workload.Tally, error) {
	a, err := j.wait(ctx)
	if err != nil {
		return workload.Tally{}, err
	}
	return *a.Tally, nil
}

// done ends the job. One that still runs is stopped and waited for, so that
// the next run finds the port free. Why an agent is broken, its answer says.
func (j *job) done() error {
	if running := j.stop(); !running {
		return nil
	}
	select {
	case <-j.ended:
	case <-j.h.gone:
	case <-time.After(stopWait):
		j.h.fail(errors.New("it hangs: a job did not stop"))
		return j.h.Broken()
	}
	return nil
}

// stop asks the other side to stop the job, should it still run. One that can't be asked is
// broken.
func (j *job) stop() (running bool) {
	j.h.mu.Lock()
	_, running = j.h.jobs[j.id]
	running = running && j.h.err == nil
	j.h.mu.Unlock()
	if !running {
		return false
	}
	if err := j.h.stream.Write(order{ID: j.id, Do: doStop}); err != nil {
		j.h.fail(fmt.Errorf("stop job: %w", err))
	}
	return true
}

// Measure does one run between two agents: the server listens at bind, the
// client sends to dial. An end that dies, hangs or fails ends the run at both.
func Measure(ctx context.Context, server, client *Handle, name string, run workload.Run, bind, dial string) (out Outcome, err error) {
	run.Boot = client.boot
	ctx, cancel := context.WithTimeout(ctx, run.Warmup+run.Duration+patience)
	defer cancel()
	serving, err := server.start(doServe, Job{Workload: name, Run: run, Address: bind})
	if err != nil {
		return out, err
	}
	ends := []*job{serving}
	defer func() { err = errors.Join(err, doneAll(ends)) }()
	if _, err := serving.wait(ctx); err != nil {
		return out, err
	}
	sending, err := client.start(doSend, Job{Workload: name, Run: run, Address: dial})
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
