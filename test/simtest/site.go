// Package simtest simulates the places of a run: agents that speak the protocol over two pipes and
// reply from a model what they measured. Used within testing/synctest, where time is virtual, whole
// runs take milliseconds, and what is measured is known beforehand.
package simtest

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"tare/agent"
	"tare/lab"
	"tare/probe"
	"tare/protocol"
)

// Site is places with simulated agents.
type Site struct {
	Model Model
	// Fault is why no agent starts at a place; nil: each does.
	Fault func(at string) error
	// Confinement is what each agent says of itself.
	Confinement probe.Confinement
	// Load is how busy the machine is; nil: not at all.
	Load func() probe.Load
	// Moved counts the bytes that cross the streams of all agents, in both directions.
	Moved atomic.Int64

	began  time.Time
	mu     sync.Mutex
	agents map[string]*agent.Handle
	jobs   sync.WaitGroup

	counting sync.Mutex     // apart: who is asked for an agent may wait for one that takes a request
	requests map[string]int // by place and role
}

// New is a site whose agents reply as a model says.
func New(m Model) *Site {
	return &Site{Model: m, began: time.Now(), agents: map[string]*agent.Handle{}, requests: map[string]int{}}
}

// Agent is the agent of a place, started where there is none, or where it is broken.
func (s *Site) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fault != nil {
		if err := s.Fault(at); err != nil {
			return nil, err
		}
	}
	key := at + " " + role
	if h, is := s.agents[key]; is && h.Broken() == nil {
		return h, nil
	}
	h, err := s.start(ctx, at, role)
	if err == nil {
		s.agents[key] = h
	}
	return h, err
}

// start starts an agent at the other side of two pipes.
func (s *Site) start(ctx context.Context, at, role string) (*agent.Handle, error) {
	requestsOut, requestsIn := io.Pipe()
	repliesOut, repliesIn := io.Pipe()
	end := sync.OnceValue(func() error { return errors.Join(requestsOut.Close(), repliesIn.Close()) })
	a := &simulated{site: s, at: at, role: role, stream: protocol.NewStream(requestsOut, repliesIn), end: end, stop: map[int]chan struct{}{}, gone: make(chan struct{})}
	s.jobs.Go(a.run)
	return agent.Open(ctx, at, counted{io.MultiWriter(requestsIn, counter{&s.Moved}), requestsIn}, io.TeeReader(repliesOut, counter{&s.Moved}), end)
}

// counted is a stream of requests whose bytes are counted.
type counted struct {
	io.Writer
	io.Closer
}

// counter counts what is written to it.
type counter struct{ bytes *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}

// Close ends all agents and waits for them.
func (s *Site) Close() error {
	err := s.End(func(string) bool { return true })
	s.jobs.Wait()
	return err
}

// End ends the agents of places that are chosen, as if they had died.
func (s *Site) End(chosen func(at string) bool) (err error) {
	s.mu.Lock()
	agents := maps.Clone(s.agents)
	s.mu.Unlock()
	for _, h := range agents { // which may be about to take a request, and count it
		if chosen(h.Name) {
			err = errors.Join(err, h.Close())
		}
	}
	return err
}

// Look finds a container's port, none of which has carried anything.
func (s *Site) Look(_ context.Context, at string) ([]probe.Inventory, error) {
	return []probe.Inventory{{Namespace: at, Links: []probe.Link{{Name: lab.Device, Up: true}, {Name: "lo", Up: true}}}}, nil
}

// Clock is the virtual time since the site began.
func (s *Site) Clock(context.Context, string) (now, took time.Duration, err error) {
	return time.Since(s.began), 0, nil
}

// Loads are how busy the machine is.
func (s *Site) Loads(context.Context) (map[string]probe.Load, error) {
	if s.Load == nil {
		return map[string]probe.Load{"": {}}, nil
	}
	return map[string]probe.Load{"": s.Load()}, nil
}

// CPUTimes are how the machine's CPUs have spent their time.
func (s *Site) CPUTimes(context.Context) (map[string]probe.CPUTimes, error) {
	return map[string]probe.CPUTimes{"": {}}, nil
}

// number counts the requests to a place.
func (s *Site) number(at, role string) int {
	s.counting.Lock()
	defer s.counting.Unlock()
	s.requests[at+" "+role]++
	return s.requests[at+" "+role]
}
