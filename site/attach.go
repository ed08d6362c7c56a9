package site

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/workload"
)

// running is a network that has been set up.
type running struct {
	network network.Network
	cluster *lab.Cluster
	setup   *network.Setup
}

// begin finds a network in which to make a container. Until end is called the
// lab stays.
func (k *keeper) begin(name string) (s running, end func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, found := k.running[name]
	if k.lab == nil || !found {
		return s, nil, fmt.Errorf("make container in %s: the lab has no such network: tare lab show lists those that it has", name)
	}
	k.making.Add(1)
	return s, k.making.Done, nil
}

// operate does one operation. The network's name is the request's place.
func (k *keeper) operate(req request) (op workload.Operation, err error) {
	s, end, err := k.begin(req.At)
	if err != nil {
		return op, err
	}
	defer end()
	if req.Do == doLifecycle {
		return s.lifecycle(fmt.Sprintf("lifecycle-%d", k.made.Add(1)))
	}
	return s.attach(req.Path)
}

// attach makes a container on a path of a network, waits for the first packet
// answered, and removes it, all on the CPUs of the container's host.
func (s running) attach(path string) (op workload.Operation, err error) {
	if s.network.Sandboxed {
		return op, fmt.Errorf("attach container to %s: a sandbox takes its addresses over, and the first packet would be the kernel's: choose another workload", s.network.Name)
	}
	h, err := s.network.AttachHost(s.cluster, path)
	if err != nil {
		return op, err
	}
	err = h.CPUs.Do(func() (err error) {
		begun := time.Now()
		c, err := s.network.Join(h, s.setup)
		if err != nil {
			return err
		}
		op.Create = time.Since(begun)
		defer func() {
			begun := time.Now()
			err = errors.Join(err, h.RemoveContainer(c))
			if c.Number > 0 { // the host itself stays
				op.Remove = time.Since(begun)
			}
		}()
		ends, err := s.network.AttachEnds(s.cluster, path, c)
		if err != nil {
			return err
		}
		op.Answer, err = ends.Ask()
		return err
	})
	return op, err
}

// lifecycle makes a container without a network and removes it, by the engine of the
// network. A network without an engine gets a process in new namespaces, which is
// the least that a container is.
func (s running) lifecycle(name string) (op workload.Operation, err error) {
	h := s.cluster.Hosts[0]
	make := s.network.Cycle
	if make == nil {
		make = startApart
	}
	err = h.CPUs.Do(func() error {
		begun := time.Now()
		remove, err := make(h, name)
		if err != nil {
			return fmt.Errorf("create container: %w", err)
		}
		op.Create = time.Since(begun)
		begun = time.Now()
		err = remove()
		op.Remove = time.Since(begun)
		return err
	})
	return op, err
}

// startApart starts a process that waits in new namespaces.
func startApart(h *lab.Host, _ string) (end func() error, err error) {
	process, err := h.StartApart(engine.WaitVerb)
	if err != nil {
		return nil, err
	}
	return func() error {
		err := process.Signal(syscall.SIGKILL)
		<-process.Done
		return err
	}, nil
}

// Attach makes a container on a path of a network, waits for the first packet
// answered, and removes it.
func (l *Lab) Attach(ctx context.Context, underlay, path string) (workload.Operation, error) {
	return l.operation(ctx, doAttach, request{At: underlay, Path: path})
}

// Lifecycle makes a container of a network's engine without a network and
// removes it; without an engine, a process in new namespaces.
func (l *Lab) Lifecycle(ctx context.Context, underlay string) (workload.Operation, error) {
	return l.operation(ctx, doLifecycle, request{At: underlay})
}

func (l *Lab) operation(ctx context.Context, do string, req request) (workload.Operation, error) {
	rep, err := l.ask(ctx, do, req)
	if err != nil {
		return workload.Operation{}, err
	}
	if rep.Operation == nil {
		return workload.Operation{}, errors.New("read keeper's reply: it has no operation")
	}
	return *rep.Operation, nil
}
