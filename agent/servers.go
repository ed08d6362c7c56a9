package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"tare/workload"
)

// startWait is how long a real server may take to start and to be made ready.
const startWait = 60 * time.Second

// servers are the real ones that an agent keeps, by workload, name and address.
// One that has ended stays in the list: its next run gets why it ended as its
// error.
type servers struct {
	mu  sync.Mutex
	all map[string]*running
}

// running is a server that was started, or why it could not be.
type running struct {
	place workload.Place
	child *workload.Child
	err   error
}

// ready starts a server, unless it runs, and makes it ready for the job's run.
func (s *servers) ready(ctx context.Context, j Job) error {
	kind, known := workload.Find(j.Workload)
	if !known {
		return fmt.Errorf("workload %q: unknown to this agent", j.Workload)
	}
	server, known := kind.FindServer(j.Run.Server)
	if !known {
		return fmt.Errorf("server %q of %s: unknown to this agent: use the same version at both ends", j.Run.Server, j.Workload)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := j.Workload + " " + server.Name + " " + j.Address
	r, there := s.all[key]
	if !there {
		r = &running{}
		r.err = r.start(ctx, kind, server, j)
		s.all[key] = r
	}
	if r.err != nil {
		return r.err
	}
	if r.err = r.child.Ended(); r.err != nil || server.Prepare == nil {
		return r.err
	}
	return server.Prepare(ctx, r.place, j.Run)
}

// start starts a server in a new folder.
func (r *running) start(ctx context.Context, kind workload.Workload, server workload.Server, j Job) (err error) {
	if r.place.At, err = netip.ParseAddrPort(j.Address); err != nil {
		return fmt.Errorf("read the job's address: %w", err)
	}
	if err := free(r.place.At, kind.TCP); err != nil {
		return err
	}
	// A tare that is started here keeps its ledger there, and trusts no other folder.
	if err := os.MkdirAll(j.Dir, 0o700); err != nil {
		return fmt.Errorf("make folder of %s: %w", server.Name, err)
	}
	if r.place.Dir, err = os.MkdirTemp(j.Dir, server.Name+"-"); err != nil {
		return fmt.Errorf("make folder of %s: %w", server.Name, err)
	}
	r.child, err = server.Start(ctx, r.place)
	return err
}

// free returns an error where a server cannot listen at an address. What already
// listens there would answer in its place while it still tries.
func free(at netip.AddrPort, tcp bool) error {
	var l io.Closer
	var err error
	names := "ss -ltnp"
	if tcp {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	} else {
		names = "ss -lunp"
		l, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is in use: %w: another program listens there: %s names it; end it", at.Port(), err, names)
	}
	if err != nil {
		return err
	}
	return l.Close()
}

// stop ends every server.
func (s *servers) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, 0, len(s.all))
	for _, r := range s.all {
		if r.child != nil {
			errs = append(errs, r.child.Stop())
		}
		if r.place.Dir != "" {
			errs = append(errs, os.RemoveAll(r.place.Dir))
		}
	}
	s.all = map[string]*running{}
	return errors.Join(errs...)
}

// Ready has the agent start the real server of a job, where it does not run
// yet, and make it ready for the job's run. The server stays until the agent
// ends. A server that ended by itself is an error from then on, with the last
// lines that it printed.
func (h *Handle) Ready(ctx context.Context, j Job) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startWait+patience)
	defer cancel()
	starting, err := h.start(DoStart, j)
	if err != nil {
		return err
	}
	h.servers.Store(true)
	defer func() { err = errors.Join(err, starting.done()) }()
	_, err = starting.wait(ctx)
	return err
}

// Drive does one run by the agent of the driving end, against a real server
// that is ready.
func (h *Handle) Drive(ctx context.Context, j Job) (out Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.Run.Warmup+j.Run.Duration+drivePatience)
	defer cancel()
	sending, err := h.start(DoSend, j)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, sending.done()) }()
	out.Client, err = sending.tally(ctx)
	return out, err
}

// endPatience is how long an agent may take to end the servers that it started.
const endPatience = 5 * time.Second

// End has the agent end the real servers that it started and remove their
// folders before it is closed: where its host stays, they must not stay.
func (h *Handle) End() error {
	if !h.servers.Load() {
		return h.Close()
	}
	err := h.closeInput()
	select {
	case <-h.peer.Gone():
	case <-time.After(endPatience):
	}
	return errors.Join(err, h.Close())
}

// drivePatience is how long a run against a real server may take beyond its
// window: a tool counts in whole seconds and has connections to open first.
const drivePatience = 10 * time.Second
