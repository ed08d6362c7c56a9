package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
	"tare/protocol"
	"tare/traffic"
	"tare/workload"
)

// maxRequest bounds a request.
const maxRequest = 64 << 10

// Port serves the runs that senders ask for, all at one address.
type Port struct {
	Secret  string               // what a sender must know; empty: nothing
	Version string               // of tare
	Log     func(text string)    // is called for what happens, a line each
	Ready   func(netip.AddrPort) // is called when the port is open

	ctx      context.Context
	listener *traffic.Listener
	address  netip.AddrPort
	requests sync.WaitGroup
	visitors visitors
	unknown  atomic.Int64 // connections that asked for no run, and belonged to none
	lines    boundedLog   // of the log

	mu      sync.Mutex
	running int           // runs under way
	flows   int           // of all of them
	lent    bool          // a run has the listener
	release func()        // ends the waiting for connections
	back    chan struct{} // the listener was given back
	waits   chan struct{} // the loop has left the listener to a run
}

// Serve opens the port and serves until the context ends.
func (p *Port) Serve(ctx context.Context, bind netip.AddrPort) error {
	prepare()
	bound(0)
	listener, err := traffic.ListenTCP(bind)
	if err != nil {
		return err
	}
	listener.Exhausted = func(err error) {
		p.log(fmt.Sprintf("wait to accept connections: %v: raise the limit of descriptors (ulimit -n) if it lasts", err))
	}
	ctx, cancel := context.WithCancel(ctx)
	p.ctx, p.listener, p.address = ctx, listener, listener.Addr()
	p.back, p.waits = make(chan struct{}, 1), make(chan struct{})
	p.Ready(p.address)
	go p.tidy()
	err = p.receive()
	cancel()
	p.requests.Wait()
	return errors.Join(err, listener.Close())
}

// tidy gives memory back that peers without a run have taken, while no run is under way.
func (p *Port) tidy() {
	tick := time.NewTicker(tidyStep)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock() // a run waits
		if p.running == 0 {
			release()
		}
		p.mu.Unlock()
	}
}

// tidyStep is how often.
const tidyStep = 2 * time.Second

// receive waits for requests whenever no run has the listener.
func (p *Port) receive() error {
	for p.ctx.Err() == nil {
		waiting, release := context.WithCancel(p.ctx)
		p.mu.Lock()
		if p.release = release; p.lent { // by a request that came before this
			release()
		}
		p.mu.Unlock()
		err := p.listener.Receive(waiting, p.keep)
		release()
		if err != nil {
			return err
		}
		select {
		case p.waits <- struct{}{}: // to the run that takes the listener
			<-p.back
		case <-p.ctx.Done():
		}
	}
	return nil
}

// lend gives the listener to a run, unless another has it. Meanwhile the run
// keeps requests aside.
func (p *Port) lend() (*traffic.Listener, bool) {
	p.mu.Lock()
	if p.lent {
		p.mu.Unlock()
		return nil, false
	}
	p.lent = true
	release := p.release
	p.mu.Unlock()
	release()
	select {
	case <-p.waits:
		return p.listener.Lend(p.keep, sync.OnceFunc(p.takeBack)), true
	case <-p.ctx.Done():
		return nil, false
	}
}

// takeBack ends what lend started.
func (p *Port) takeBack() {
	p.mu.Lock()
	p.lent = false
	p.mu.Unlock()
	p.back <- struct{}{}
}

// keep takes a connection that begins like a greeting, of this version or another.
func (p *Port) keep(fd int, first []byte) bool {
	n := min(len(first), len(greetingPrefix))
	if p.ctx.Err() != nil || string(first[:n]) != greetingPrefix[:n] {
		p.unknown.Add(1)
		return false
	}
	begun, own, peer := bytes.Clone(first), unzoned(traffic.Address(fd, unix.Getsockname)), unzoned(traffic.Address(fd, unix.Getpeername))
	visitor := p.visitors.enter(peer.Addr())
	p.requests.Go(func() {
		asked := sync.OnceFunc(func() { p.visitors.leave(visitor) })
		defer asked()
		conn, err := connOf(fd)
		if err != nil {
			p.log(err.Error())
			return
		}
		defer conn.Close()
		if !p.visitors.meet(visitor, conn) {
			p.unknown.Add(1)
			return
		}
		p.reply(&visit{own: own, peer: peer, conn: conn, in: io.MultiReader(bytes.NewReader(begun), conn), proven: p.Secret == ""}, asked)
	})
	return true
}

// connOf makes a blocking socket a file of the runtime's, whose reads and writes have
// deadlines.
func connOf(fd int) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("take connection over: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// reply reads a request and serves it. asked is called once the request has come.
func (p *Port) reply(v *visit, asked func()) {
	who, l := v.peer.String(), protocol.NewLines(v, v, maxRequest)
	tally, err := p.run(v, l, who, asked)
	if err != nil {
		p.log(fmt.Sprintf("%s: %v", who, err))
		err = l.Write(portReply{Reply: protocol.Reply{Error: err.Error()}})
	} else {
		err = l.Write(portReply{Tally: &tally})
	}
	if err != nil && v.proven {
		p.log(fmt.Sprintf("%s: reply: %v", who, err))
	}
}

// log reports what happens, but no more than somebody can read.
func (p *Port) log(text string) {
	for _, line := range p.lines.say(time.Now(), text) {
		p.Log(line)
	}
}

// run serves one run. It ends when the sender disconnects.
func (p *Port) run(v *visit, l *protocol.Stream, who string, asked func()) (tally workload.Tally, err error) {
	request, err := v.ask(p.Secret)
	if err != nil {
		return tally, err
	}
	job, err := request.job()
	if err == nil {
		err = check(job)
	}
	if err != nil {
		return tally, err
	}
	if err := p.begin(job); err != nil {
		return tally, err
	}
	defer p.end(job)
	asked()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	go func() { // the sender sends no more: whatever comes is its end
		_, _ = v.conn.Read(make([]byte, 1))
		cancel()
	}()
	p.log(fmt.Sprintf("%s: %s, %d flows, %v", who, job.Workload, job.Run.Flows, job.Run.Duration))
	before := p.unknown.Load()
	tally, err = p.serve(ctx, job, v, l)
	if n := p.unknown.Load() - before; n > 0 {
		tally.Warnings = append(tally.Warnings, fmt.Sprintf("strangers: %d connections to the port asked for no run", n))
	}
	return tally, err
}

// serve listens for the run at the port itself where it is free, and at one of
// the kernel's choice where another run has it.
func (p *Port) serve(ctx context.Context, job Job, v *visit, l *protocol.Stream) (workload.Tally, error) {
	ready := func(at netip.AddrPort) error {
		own := endpoint{Version: p.Version, Boot: probe.BootID("/"), Own: v.own, Other: v.peer, MTU: mtuOf(v.own.Addr()), Clock: time.Now()}
		r := portReply{End: &own}
		if at.Port() != p.address.Port() {
			r.Port = int(at.Port())
		}
		return l.Write(r)
	}
	kind, _ := workload.Find(job.Workload)
	own := netip.AddrPortFrom(p.address.Addr(), 0).String()
	job.Address = p.address.String()
	if !kind.TCP {
		tally, err := job.serve(ctx, ready)
		if errors.Is(err, syscall.EADDRINUSE) {
			job.Address = own
			return job.serve(ctx, ready)
		}
		return tally, err
	}
	if listener, ok := p.lend(); ok {
		defer listener.Return()
		job.Run.Listener = listener
	} else {
		job.Address = own
	}
	return job.serve(ctx, ready)
}

// check refuses what this port does not serve.
func check(j Job) error {
	kind, known := workload.Find(j.Workload)
	run := j.Run
	switch {
	case !known || kind.Serve == nil:
		return fmt.Errorf("workload %.40q: unknown to this server: use the same version at both ends", j.Workload)
	case run.Flows < 1 || run.Flows > kind.Flows:
		return fmt.Errorf("%d flows of %s: want 1 to %d", run.Flows, kind.Name, kind.Flows)
	case run.Duration <= 0 || run.Duration > longestRun || run.Warmup < 0 || run.Warmup > longestRun || run.Idle != 0:
		return fmt.Errorf("a window of %v after %v: want up to %v each", run.Duration, run.Warmup, longestRun)
	}
	return nil
}

// longestRun bounds what a sender may ask for.
const longestRun = 24 * time.Hour

// begin makes room for one more run. Room for more flows than there is can be
// made only while no other is under way.
func (p *Port) begin(job Job) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	flows := p.flows + job.threads()
	if p.running == 0 {
		room(flows)
	} else if !hasRoom(flows) {
		return fmt.Errorf("%d flows in addition to %d of other runs: try again when those have ended", job.Run.Flows, p.flows)
	}
	p.running++
	p.flows = flows
	bound(flows)
	return nil
}

func (p *Port) end(job Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows -= job.threads()
	bound(p.flows)
	if p.running--; p.running == 0 {
		collect()
	}
}
