package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"

	"tare/agent"
	"tare/probe"
	"tare/result"
	"tare/trace"
)

// outpostSchema names the protocol of an outpost; both sides must use the same.
const outpostSchema = "tare.outpost/1"

// An outpost is the process at a place that only a command reaches. It starts the agents
// there, and carries their streams within the one that the command gives it; it says what is
// there; and it ends, with its agents, when that stream does. Its file was staged for it, and
// is removed when it begins: the agents run what the outpost runs (/proc/self/exe, proc(5)).
type outpost struct {
	stream  *agent.Frames
	mu      sync.Mutex
	agents  map[int]io.WriteCloser // their standard inputs
	ended   sync.WaitGroup
	reader  *probe.Reader // of the namespace's counters; nil until they are wanted
	before  probe.Counts
	tracing *tracing // nil until it is wanted
}

// wish is a message to an outpost.
type wish struct {
	ID   int         `json:"id"`
	Do   string      `json:"do"`
	Data []byte      `json:"data,omitempty"` // for the agent of that id
	Pass *trace.Pass `json:"pass,omitempty"` // what to follow
}

// The wishes.
const (
	wishStart   = "start"   // an agent
	wishData    = "data"    // for its standard input
	wishEnd     = "end"     // of its standard input, and so of the agent
	wishLeave   = "leave"   // to end: not every command passes on that its input does
	wishLook    = "look"    // for an inventory
	wishClock   = "clock"   // what CLOCK_MONOTONIC shows
	wishLoad    = "load"    // for how busy the machine is; nothing else is granted meanwhile
	wishCPU     = "cpu"     // for how its CPUs have spent their time
	wishCount   = "count"   // to begin to count what its network namespace counts
	wishCounts  = "counts"  // for what was counted since
	wishStates  = "states"  // for the settings there
	wishTracer  = "tracer"  // for what a tracer can see there
	wishFollow  = "follow"  // to follow the packets of a pass from now on
	wishProfile = "profile" // to look at the CPUs from now on
	wishSeen    = "seen"    // for what was seen since
)

// word is a message of an outpost.
type word struct {
	ID        int              `json:"id"`
	Data      []byte           `json:"data,omitempty"` // of the agent's standard output
	Ended     bool             `json:"ended,omitempty"`
	Inventory *probe.Inventory `json:"inventory,omitempty"`
	Clock     int64            `json:"clock,omitempty"` // ns
	Load      *probe.Load      `json:"load,omitempty"`
	Counted   *Counted         `json:"counted,omitempty"`
	Ability   *trace.Ability   `json:"ability,omitempty"`
	Seen      *seen            `json:"seen,omitempty"`
	Error     string           `json:"error,omitempty"`
}

// welcome is the first message of an outpost.
type welcome struct {
	Schema  string       `json:"schema"`
	Version string       `json:"version"`
	Digest  string       `json:"digest"` // SHA-256 of the program, in hexadecimal digits
	Place   result.Place `json:"place"`  // without its name
}

// ServeOutpost is an outpost until in ends. staged is the file that it was started from,
// which it removes; empty: it is the user's, and stays.
func ServeOutpost(ctx context.Context, in io.Reader, out io.Writer, version, staged string) error {
	if staged != "" {
		if err := os.Remove(staged); err != nil {
			return fmt.Errorf("remove what was staged: %w", err)
		}
	}
	sum, err := digest("/proc/self/exe")
	if err != nil {
		return err
	}
	o := &outpost{stream: agent.NewFrames(in, out), agents: map[int]io.WriteCloser{}}
	if err := o.stream.Write(welcome{Schema: outpostSchema, Version: version, Digest: sum, Place: result.Place{Boot: probe.BootID("/"), Environment: probe.Environment("/")}}); err != nil {
		return fmt.Errorf("send welcome: %w", err)
	}
	err = o.serve(ctx)
	return errors.Join(err, o.close())
}

// serve carries out wishes until there are no more.
func (o *outpost) serve(ctx context.Context) error {
	for {
		var w wish
		switch err := o.stream.Read(&w); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read wish: %w", err)
		}
		if w.Do == wishLeave {
			return nil
		}
		if err := o.grant(ctx, w); err != nil {
			if err := o.stream.Write(word{ID: w.ID, Ended: true, Error: err.Error()}); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

// grant carries out a wish.
func (o *outpost) grant(ctx context.Context, w wish) error {
	switch w.Do {
	case wishStart:
		return o.start(ctx, w.ID)
	case wishLook:
		inventory, err := probe.Inspect("/")
		if err != nil {
			return err
		}
		return o.stream.Write(word{ID: w.ID, Inventory: &inventory})
	case wishClock:
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return fmt.Errorf("read the clock: %w", err)
		}
		return o.stream.Write(word{ID: w.ID, Clock: now.Nano()})
	case wishLoad:
		load, err := probe.ReadLoad("/")
		if err != nil {
			return err
		}
		return o.stream.Write(word{ID: w.ID, Load: &load})
	case wishCPU:
		times, err := probe.ReadCPUTimes("/")
		if err != nil {
			return err
		}
		return o.stream.Write(word{ID: w.ID, Load: &probe.Load{CPU: times}})
	case wishCount, wishCounts, wishStates:
		return o.stream.Write(word{ID: w.ID, Counted: o.counted(w.Do)})
	case wishTracer, wishFollow, wishProfile, wishSeen:
		answer, err := o.trace(w)
		if err != nil {
			return err
		}
		return o.stream.Write(answer)
	case wishData, wishEnd:
		o.mu.Lock()
		input, there := o.agents[w.ID]
		o.mu.Unlock()
		switch {
		case !there:
			return nil // it has ended, which was said
		case w.Do == wishEnd:
			return unlessClosed(input.Close())
		}
		if _, err := input.Write(w.Data); err != nil && !errors.Is(err, unix.EPIPE) {
			return fmt.Errorf("pass on to an agent: %w", err)
		}
		return nil
	}
	return fmt.Errorf("wish %q: unknown to this outpost", w.Do)
}

// counted begins to count, or gives what was counted, or the settings.
func (o *outpost) counted(do string) *Counted {
	var all Counted
	if o.reader == nil {
		o.reader = probe.NewReader("/", probe.Namespace)
	}
	switch do {
	case wishCount:
		o.before = o.reader.Read()
	case wishCounts:
		all.Readings, all.Unread = o.reader.Read().Since(o.before)
	case wishStates:
		all.States, all.Unread = probe.Look("/", probe.Namespace)
	}
	return &all
}

// start starts an agent and passes on what it says until it ends.
func (o *outpost) start(ctx context.Context, id int) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", agent.Verb)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	o.mu.Lock()
	o.agents[id] = in
	o.mu.Unlock()
	o.ended.Go(func() {
		said := &passing{o.stream, id}
		_, err := io.Copy(said, out)
		err = errors.Join(err, cmd.Wait())
		o.mu.Lock()
		delete(o.agents, id)
		o.mu.Unlock()
		last := word{ID: id, Ended: true}
		if err != nil && ctx.Err() == nil {
			last.Error = err.Error()
		}
		if err := o.stream.Write(last); err != nil {
			fmt.Fprintf(os.Stderr, "tare outpost: %v\n", err)
		}
	})
	return nil
}

// passing passes on what an agent writes.
type passing struct {
	stream *agent.Frames
	id     int
}

func (p *passing) Write(data []byte) (int, error) {
	if err := p.stream.Write(word{ID: p.id, Data: data}); err != nil {
		return 0, err
	}
	return len(data), nil
}

// close ends the agents and waits for them.
func (o *outpost) close() error {
	o.mu.Lock()
	var errs []error
	for _, in := range o.agents {
		errs = append(errs, unlessClosed(in.Close()))
	}
	o.mu.Unlock()
	o.ended.Wait()
	if o.reader != nil {
		errs = append(errs, o.reader.Close())
	}
	if o.tracing != nil {
		errs = append(errs, o.tracing.close())
	}
	return errors.Join(errs...)
}
