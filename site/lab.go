package site

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tare/agent"
	"tare/lab"
	"tare/probe"
	"tare/protocol"
)

// dialWait bounds how long a keeper may take to accept a conversation.
const dialWait = 5 * time.Second

// Lab is the site whose ends are namespaces: the near side of a keeper.
type Lab struct {
	Topology Topology

	address string // of the keeper's socket
	owned   *owned // nil: another process's lab
	mu      sync.Mutex
	agents  map[string]*agent.Handle
}

// owned is a keeper that this process started.
type owned struct {
	name    string
	process *exec.Cmd
	claim   *os.File      // of the control groups; nil: none were made
	release chan struct{} // ends the starting thread
	alive   *os.File      // the keeper ends when nobody holds it; nil: it outlives us
	ended   chan error
	killed  bool // by us: the kernel removes what it held
}

// Start starts a keeper that dies with this process. Nothing is built yet.
func Start(ctx context.Context) (*Lab, error) {
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return nil, fmt.Errorf("name lab: %w", err)
	}
	// An abstract socket leaves no file behind.
	id := hex.EncodeToString(name)
	address := "@tare-" + id
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for keeper: %w", err)
	}
	o, err := startKeeper(listener, true)
	if err = errors.Join(err, listener.Close()); err != nil {
		return nil, err
	}
	o.name = id
	return &Lab{address: address, owned: o, agents: map[string]*agent.Handle{}}, nil
}

// startKeeper starts the keeper on a thread that lives as long as it: the
// parent-death signal is that of the thread.
func startKeeper(listener *net.UnixListener, dieWithParent bool) (*owned, error) {
	file, err := listener.File()
	if err != nil {
		return nil, fmt.Errorf("start keeper: %w", err)
	}
	defer file.Close()
	cmd := exec.Command("/proc/self/exe", KeeperVerb)
	cmd.Args[0] = "tare"
	cmd.SysProcAttr = lab.Attributes(dieWithParent)
	cmd.ExtraFiles = []*os.File{file}
	o := &owned{process: cmd, release: make(chan struct{}), ended: make(chan error, 1)}
	if dieWithParent {
		cmd.Stderr = os.Stderr // else a reader of our errors would wait for the lab's end
		stdin, alive, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("start keeper: %w", err)
		}
		defer stdin.Close()
		cmd.Stdin, o.alive = stdin, alive
	}
	if err := keepDescriptors(); err != nil {
		return nil, fmt.Errorf("start keeper: %w", errors.Join(err, o.leave()))
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-o.release
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start keeper: %w", errors.Join(lab.Explain(err), o.leave()))
	}
	go func() { o.ended <- cmd.Wait() }()
	return o, nil
}

// keepDescriptors keeps what the caller left open from what is started: a keeper outlives us,
// and would hold a script's lock until the lab is down.
func keepDescriptors() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list own descriptors: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > unix.Stderr {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// ask has one conversation of one request and one reply.
func (l *Lab) ask(ctx context.Context, do string, req request) (reply, error) {
	c, err := l.open(ctx, do, req)
	if err != nil {
		return reply{}, err
	}
	defer c.conn.Close()
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	rep, err := c.reply()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return rep, err
}

// begin has one conversation about what lasts until end is called, which returns the
// keeper's last reply.
func (l *Lab) begin(ctx context.Context, do string, req request) (end func() (reply, error), err error) {
	c, err := l.open(ctx, do, req)
	if err != nil {
		return nil, err
	}
	if _, err := c.reply(); err != nil {
		return nil, errors.Join(err, c.conn.Close())
	}
	return func() (rep reply, err error) {
		if err = c.Write(protocol.Request{Do: protocol.Cancel}); err == nil {
			rep, err = c.reply()
		}
		return rep, errors.Join(err, c.conn.Close())
	}, nil
}

// reply reads the keeper's next reply; its errors are ours.
func (c conversation) reply() (reply, error) {
	var rep reply
	if err := c.Read(&rep); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it ended")
		}
		return rep, fmt.Errorf("read keeper's reply: %w", err)
	}
	if rep.Error != "" {
		return rep, &keeperError{rep.Error}
	}
	return rep, nil
}

// keeperError is a keeper's.
type keeperError struct{ text string }

func (e *keeperError) Error() string { return e.text }

// open begins a conversation.
func (l *Lab) open(ctx context.Context, do string, req request, files ...*os.File) (c conversation, err error) {
	dialer := net.Dialer{Timeout: dialWait}
	conn, err := dialer.DialContext(ctx, "unix", l.address)
	if err != nil {
		return c, fmt.Errorf("connect to keeper: %w", err)
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return c, errors.Join(errors.New("connect to keeper: not a unix socket"), conn.Close())
	}
	c, req.Do = newConversation(socket), do
	if err = c.Write(protocol.Greeting{Schema: keeperSchema}); err == nil {
		c.conn.goes = files
		err = c.Write(req)
	}
	// What a keeper replies before it hangs up says why.
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return c, errors.Join(fmt.Errorf("send to keeper: %w", err), conn.Close())
	}
	return c, nil
}

// Build builds the spec's clusters and sets up their networks. One that fails has its
// error in the topology; the others stay. A lab that would not fit into the machine's limits
// is a *LimitError, and one with a choice that the kernel does not have a *ChoiceError.
func (l *Lab) Build(ctx context.Context, spec Spec) error {
	if err := errors.Join(spec.hasCC("/"), spec.fits("/", mostFiles())); err != nil {
		return err
	}
	if l.owned != nil && l.owned.name != "" && l.owned.claim == nil && makesCgroups() {
		claim, err := claimCgroups(l.owned.name)
		// A lab without engines is one session: it does without a control group.
		if err != nil && spec.needsEngines() {
			return fmt.Errorf("build lab: %w", err)
		}
		if err == nil {
			l.owned.claim, spec.Cgroup = claim, cgroupsOf(l.owned.name)
		}
	}
	rep, err := l.ask(ctx, doBuild, request{Spec: &spec})
	if err != nil {
		err = fmt.Errorf("build lab: %w", err)
		if ctx.Err() != nil && l.owned != nil {
			err = errors.Join(err, l.owned.kill()) // it would go on to the end of the build
		}
		return err
	}
	return l.adopt(rep)
}

func (l *Lab) adopt(rep reply) error {
	if rep.Topology == nil {
		return errors.New("read keeper's reply: it has no topology")
	}
	l.Topology = *rep.Topology
	return nil
}

// Probe reports which networks this machine can set up.
func (l *Lab) Probe(ctx context.Context) ([]Availability, error) {
	rep, err := l.ask(ctx, doProbe, request{})
	return rep.Probed, err
}

// Look reads what a namespace holds, or all of them.
func (l *Lab) Look(ctx context.Context, at string) ([]probe.Inventory, error) {
	rep, err := l.ask(ctx, doLook, request{At: at})
	return rep.Inventory, err
}

// Agent returns the agent of a role at a place. It starts one where none works. An
// idle agent costs nothing.
func (l *Lab) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := at + " " + role
	if h, there := l.agents[key]; there {
		if h.Broken() == nil {
			return h, nil
		}
		delete(l.agents, key)
		if err := h.Close(); err != nil {
			return nil, fmt.Errorf("close broken agent at %s: %w", at, err)
		}
	}
	h, err := l.startAgent(ctx, at)
	if err != nil {
		return nil, err
	}
	l.agents[key] = h
	return h, nil
}

func (l *Lab) startAgent(ctx context.Context, at string) (*agent.Handle, error) {
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start agent at %s: %w", at, err)
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start agent at %s: %w", at, err), theirIn.Close(), ourIn.Close())
	}
	c, err := l.open(ctx, doStart, request{
		At: at, Argv: []string{"/proc/self/exe", agent.Verb}, Env: os.Environ(),
	}, theirIn, theirOut, os.Stderr)
	if err == nil {
		_, err = c.reply()
	}
	if err = errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start agent at %s: %w", at, err), ourIn.Close(), ourOut.Close())
	}
	// The keeper kills a process when the conversation that started it is closed.
	end := sync.OnceValue(func() error { return errors.Join(c.conn.Close(), ourOut.Close()) })
	return agent.Open(ctx, at, ourIn, ourOut, end)
}

// Close ends the agents, and the lab if this process started it.
func (l *Lab) Close() error {
	l.mu.Lock()
	errs := l.closeAgents()
	l.agents = map[string]*agent.Handle{}
	l.mu.Unlock()
	if l.owned == nil {
		return errors.Join(errs...)
	}
	if !l.owned.killed {
		ctx, cancel := context.WithTimeout(context.Background(), downWait)
		defer cancel()
		if _, err := l.ask(ctx, doDown, request{}); err != nil {
			errs = append(errs, fmt.Errorf("take lab down: %w", err))
		}
	}
	errs = append(errs, l.owned.wait(), releaseCgroups(l.owned.claim))
	return errors.Join(errs...)
}

// closeAgents ends all agents concurrently. Agents in a lab that stays end what they
// started; in a lab that this process owns that ends with the lab.
func (l *Lab) closeAgents() []error {
	handles := slices.Collect(maps.Values(l.agents))
	errs := make([]error, len(handles))
	var all sync.WaitGroup
	for n, h := range handles {
		all.Go(func() {
			if l.owned == nil {
				errs[n] = h.End()
			} else {
				errs[n] = h.Close()
			}
		})
	}
	all.Wait()
	return errs
}

// downWait bounds a clean end; after it the keeper is killed, and the kernel
// removes what it held.
const downWait = 20 * time.Second

// kill ends a keeper that is in the middle of something.
func (o *owned) kill() error {
	o.killed = true
	if err := o.process.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (o *owned) wait() error {
	defer close(o.release)
	select {
	case err := <-o.ended:
		if err != nil && !o.killed {
			return errors.Join(fmt.Errorf("keeper: %w", err), o.leave())
		}
		return o.leave()
	case <-time.After(downWait):
		return errors.Join(errors.New("keeper did not end and was killed"), o.process.Process.Kill(), <-o.ended, o.leave())
	}
}

// leave closes what shows the keeper that we live.
func (o *owned) leave() error {
	if o.alive == nil {
		return nil
	}
	return o.alive.Close()
}
