package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"tare/probe"
	"tare/workload"
)

const (
	// patience is how long an agent may take to say hello, and to do a job
	// beyond what the job takes. It is longer than that of the workloads, which
	// can tell better what they waited for.
	patience = 3500 * time.Millisecond
	// stopWait is how long a job may take to stop before its agent counts as
	// hung.
	stopWait = time.Second
)

// maxLine bounds a line of an agent.
const maxLine = 16 << 20

// Handle is the near side of an agent. One that has failed stays failed: start
// another.
type Handle struct {
	Name              string // where it is, for messages
	Version           string
	probe.Confinement // of the agent

	boot   string
	in     io.Writer
	end    func() error
	hangUp func() error // closes in, once
	mu     sync.Mutex
	next   int
	jobs   map[int]*job  // that have not ended
	err    error         // why it is broken
	gone   chan struct{} // closed when broken

	servers bool // it was asked to start real ones
}

// Open takes over a started agent's standard input and output and hears it
// out. end kills the process at the other side; it is called when the agent
// breaks and again when it is closed, and gives the same error each time.
func Open(ctx context.Context, name string, in io.WriteCloser, out io.Reader, end func() error) (*Handle, error) {
	h := &Handle{Name: name, in: in, hangUp: sync.OnceValue(in.Close), end: end, jobs: map[int]*job{}, gone: make(chan struct{})}
	hello := make(chan error, 1)
	go h.listen(out, hello)
	select {
	case err := <-hello:
		if err != nil {
			return nil, errors.Join(fmt.Errorf("agent at %s: %w", name, err), h.Close())
		}
		return h, nil
	case <-time.After(patience):
		return nil, errors.Join(fmt.Errorf("agent at %s: it said nothing for %s", name, patience), h.Close())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), h.Close())
	}
}

// listen reads the agent's lines until they end or make no sense.
func (h *Handle) listen(out io.Reader, hello chan<- error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	if err := h.hear(lines); err != nil {
		h.fail(err)
		hello <- err
		return
	}
	hello <- nil
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			h.fail(fmt.Errorf("it talks nonsense: %w", err))
			return
		}
		if err := h.deliver(a); err != nil {
			h.fail(err)
			return
		}
	}
	if err := lines.Err(); err != nil {
		h.fail(fmt.Errorf("read its answers: %w", err))
		return
	}
	h.fail(errors.New("it died"))
}

// deliver hands an answer to its job. One to a job that nobody waits for any
// more is dropped.
func (h *Handle) deliver(a answer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	j, waiting := h.jobs[a.ID]
	if !waiting {
		return nil
	}
	select {
	case j.answers <- a:
	default:
		return fmt.Errorf("it talks nonsense: too many answers to job %d", a.ID)
	}
	if a.Tally != nil || a.Error != "" {
		delete(h.jobs, a.ID)
		close(j.ended)
	}
	return nil
}

// hear reads the first line.
func (h *Handle) hear(lines *bufio.Scanner) error {
	if !lines.Scan() {
		return errors.Join(errors.New("it died before it said hello"), lines.Err())
	}
	var hello Hello
	if err := json.Unmarshal(lines.Bytes(), &hello); err != nil {
		return fmt.Errorf("it talks nonsense: %w", err)
	}
	if hello.Schema != Schema {
		return fmt.Errorf("it speaks %q and this tare speaks %q: use the same version at both ends", hello.Schema, Schema)
	}
	h.Version, h.boot, h.Confinement = hello.Version, hello.Boot, hello.Confinement
	return nil
}

// BrokenError says that an agent itself failed, not a run between two: it
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

// Broken tells why the agent takes no more jobs; nil while it does.
func (h *Handle) Broken() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Close ends the agent.
func (h *Handle) Close() error {
	h.fail(errors.New("closed"))
	return errors.Join(h.hangUp(), h.end())
}

// job is one end of a run under way.
type job struct {
	h       *Handle
	id      int
	answers chan answer
	ended   chan struct{} // closed when it has
}

// start gives an order.
func (h *Handle) start(do string, j Job) (*job, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, h.err
	}
	h.next++
	// Two answers at most: where it listens, and how it ended.
	started := &job{h: h, id: h.next, answers: make(chan answer, 2), ended: make(chan struct{})}
	line, err := json.Marshal(order{ID: started.id, Do: do, Job: &j})
	if err != nil {
		return nil, fmt.Errorf("agent at %s: encode job: %w", h.Name, err)
	}
	if _, err := h.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("agent at %s: give order: %w", h.Name, err)
	}
	h.jobs[started.id] = started
	return started, nil
}

// wait gives the job's next answer.
func (j *job) wait(ctx context.Context) (answer, error) {
	select {
	case a := <-j.answers:
		if a.Error != "" {
			return a, fmt.Errorf("at %s: %s", j.h.Name, a.Error)
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

// nonsense is the end of an agent that answers out of turn.
func (j *job) nonsense(what string) error {
	j.h.fail(errors.New("it talks nonsense: " + what))
	return j.h.Broken()
}

// done forgets the job. One that still runs is stopped and waited for, so that
// the next run finds the port free.
func (j *job) done() error {
	running, err := j.stop()
	if err != nil || !running {
		return err
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

// stop asks the other side to stop the job, should it still run.
func (j *job) stop() (running bool, err error) {
	j.h.mu.Lock()
	defer j.h.mu.Unlock()
	if _, running := j.h.jobs[j.id]; !running || j.h.err != nil {
		return false, nil
	}
	line, err := json.Marshal(order{ID: j.id, Do: doStop})
	if err == nil {
		_, err = j.h.in.Write(append(line, '\n'))
	}
	if err != nil {
		return true, fmt.Errorf("agent at %s: stop job: %w", j.h.Name, err)
	}
	return true, nil
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
	first, err := serving.wait(ctx)
	if err != nil {
		return out, err
	}
	if first.Listening == "" {
		return out, serving.nonsense("an end before it listened")
	}
	sending, err := client.start(doSend, Job{Workload: name, Run: run, Address: dial})
	if err != nil {
		return out, err
	}
	ends = append(ends, sending)
	return collectBoth(ctx, serving, sending)
}

// doneAll is done with all jobs at once: two that hang take no longer than one.
func doneAll(jobs []*job) error {
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for n, j := range jobs {
		all.Go(func() { errs[n] = j.done() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// collectBoth waits for both ends. When one fails the other can't succeed:
// its error is the better one only if it comes first.
func collectBoth(ctx context.Context, serving, sending *job) (Outcome, error) {
	type ended struct {
		tally *workload.Tally
		err   error
		sent  bool
	}
	both := make(chan ended, 2)
	for _, j := range []*job{serving, sending} {
		go func() {
			a, err := j.wait(ctx)
			if err == nil && a.Tally == nil {
				err = j.nonsense("an answer without a tally")
			}
			both <- ended{a.Tally, err, j == sending}
		}()
	}
	var out Outcome
	for range 2 {
		e := <-both
		switch {
		case e.err != nil:
			return out, e.err
		case e.sent:
			out.Client = *e.tally
		default:
			out.Server = *e.tally
		}
	}
	return out, nil
}
