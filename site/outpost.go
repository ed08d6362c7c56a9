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
	"tare/protocol"
	"tare/result"
	"tare/trace"
)

// outpostSchema names the protocol of an outpost; both sides must use the same.
const outpostSchema = "tare.outpost/2"

// An outpost is the process at a place that only a command reaches. It starts the agents
// there, and carries their streams within the one that the command gives it; it says what is
// there; and it ends, with its agents, when that stream does. Its file was staged for it, and
// is removed when it begins: the agents run what the outpost runs (/proc/self/exe, proc(5)).
type outpost struct {
	stream  *protocol.Stream
	mu      sync.Mutex
	agents  map[int]io.WriteCloser // their standard inputs
	ended   sync.WaitGroup
	reader  *probe.Reader // of the namespace's counters; nil until they are wanted
	before  probe.Counts
	tracing *tracing // nil until it is wanted
}

// outpostRequest is a message to an outpost.
type outpostRequest struct {
	protocol.Request
	Data []byte      `json:"data,omitempty"` // for the agent that the request of that ID started
	Pass *trace.Pass `json:"pass,omitempty"` // what to follow
	Port uint16      `json:"port,omitempty"` // of the connections to count
}

// What an outpost can be asked, besides to cancel an agent, and to leave. Some of it is what a
// keeper can be asked too.
const (
	doData     = "data"     // for the standard input of an agent
	doClock    = "clock"    // what CLOCK_MONOTONIC shows
	doLoad     = "load"     // how busy the machine is; nothing else is replied to meanwhile
	doCPU      = "cpu"      // how its CPUs have spent their time
	doCounted  = "counted"  // what was counted since it was asked to count
	doTracer   = "tracer"   // what a tracer can see there
	doFollow   = "follow"   // the packets of a pass from now on
	doProfile  = "profile"  // the CPUs from now on
	doFollowed = "followed" // what was seen since
	doAccepted = "accepted" // how many connections to a port its sockets have
)

// outpostReply is a message of an outpost.
type outpostReply struct {
	protocol.Reply
	Data      []byte           `json:"data,omitempty"`  // of the agent's standard output
	Ended     bool             `json:"ended,omitempty"` // the agent has
	Inventory *probe.Inventory `json:"inventory,omitempty"`
	Clock     int64            `json:"clock,omitempty"` // ns
	Load      *probe.Load      `json:"load,omitempty"`
	Counted   *Counted         `json:"counted,omitempty"`
	Ability   *trace.Ability   `json:"ability,omitempty"`
	Seen      *seen            `json:"seen,omitempty"`
	Accepted  int              `json:"accepted,omitempty"`
}

// outpostGreeting is the first message of an outpost.
type outpostGreeting struct {
	protocol.Greeting
	Digest string       `json:"digest"` // SHA-256 of the program, in hexadecimal digits
	Place  result.Place `json:"place"`  // without its name
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
	o := &outpost{stream: protocol.NewStream(in, out), agents: map[int]io.WriteCloser{}}
	greeting := outpostGreeting{
		protocol.Greeting{Schema: outpostSchema, Version: version}, sum,
		result.Place{Boot: probe.BootID("/"), Environment: probe.Environment("/")},
	}
	err = protocol.Serve(o.stream, greeting, func(r *outpostRequest) error { return o.take(ctx, r) })
	return errors.Join(err, o.close())
}

// take carries out a request, and replies to it where it has not failed.
func (o *outpost) take(ctx context.Context, r *outpostRequest) (err error) {
	reply := outpostReply{Reply: protocol.Reply{ID: r.ID}}
	switch r.Do {
	case doStart:
		return o.start(ctx, r.ID)
	case doData, protocol.Cancel:
		return o.pass(r)
	case doLook:
		reply.Inventory, err = pointed(probe.Inspect("/"))
	case doClock:
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return fmt.Errorf("read the clock: %w", err)
		}
		reply.Clock = now.Nano()
	case doLoad:
		reply.Load, err = pointed(probe.ReadLoad("/"))
	case doCPU:
		reply.Load = new(probe.Load)
		reply.Load.CPU, err = probe.ReadCPUTimes("/")
	case doCount, doCounted, doStates:
		reply.Counted = o.counted(r.Do)
	case doAccepted:
		reply.Accepted, err = probe.Accepted(r.Port)
	case doTracer, doFollow, doProfile, doFollowed:
		reply.Ability, reply.Seen, err = o.trace(r)
	default:
		err = r.Unknown("outpost")
	}
	if err != nil {
		return err
	}
	return o.stream.Write(reply)
}

// pointed points to a value.
func pointed[T any](v T, err error) (*T, error) { return &v, err }

// pass passes data on to an agent, or the end of them.
func (o *outpost) pass(r *outpostRequest) error {
	o.mu.Lock()
	input, there := o.agents[r.ID]
	o.mu.Unlock()
	switch {
	case !there:
		return nil // it has ended, which was said
	case r.Do == protocol.Cancel:
		return unlessClosed(input.Close())
	}
	if _, err := input.Write(r.Data); err != nil && !errors.Is(err, unix.EPIPE) {
		return fmt.Errorf("pass on to an agent: %w", err)
	}
	return nil
}

// counted begins to count, or gives what was counted, or the settings.
func (o *outpost) counted(do string) *Counted {
	var all Counted
	if o.reader == nil {
		o.reader = probe.NewReader("/", probe.Namespace)
	}
	switch do {
	case doCount:
		o.before = o.reader.Read()
	case doCounted:
		all.Readings, all.Unread = o.reader.Read().Since(o.before)
	case doStates:
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
		last := outpostReply{Reply: protocol.Reply{ID: id}, Ended: true}
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
	stream *protocol.Stream
	id     int
}

func (p *passing) Write(data []byte) (int, error) {
	if err := p.stream.Write(outpostReply{Reply: protocol.Reply{ID: p.id}, Data: data}); err != nil {
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
