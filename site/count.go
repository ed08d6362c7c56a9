package site

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tare/lab"
	"tare/probe"
	"tare/result"
)

// Counted holds the counters of some places, and what could not be read.
type Counted struct {
	Readings []result.Reading `json:"readings,omitempty"`
	States   []result.State   `json:"states,omitempty"`
	Unread   []result.Unread  `json:"unread,omitempty"`
}

// count reads the counters of places, and again when the other side cancels that.
func (k *keeper) count(c conversation, req request) error {
	places, err := k.places(req.Places)
	if err != nil {
		return err
	}
	readers := make([]*probe.Reader, len(places))
	for n, ns := range places {
		if ns.Sandboxed() {
			continue
		}
		if readers[n], err = k.reader(ns); err != nil {
			return err
		}
	}
	before := readAll(readers)
	if err := c.Write(reply{Started: true}); err != nil {
		return err
	}
	var end request
	if err := c.Read(&end); err != nil {
		return err
	}
	after := readAll(readers)
	var all Counted
	for n, at := range req.Places {
		if readers[n] == nil {
			all.Unread = probe.Unread(all.Unread, sandboxed(at))
			continue
		}
		readings, unread := after[n].Since(before[n])
		for _, r := range readings {
			r.At = at
			all.Readings = append(all.Readings, r)
		}
		all.Unread = probe.Unread(all.Unread, unread)
	}
	return c.Write(reply{Counted: &all})
}

// places finds namespaces by their addresses.
func (k *keeper) places(addresses []string) ([]*lab.Namespace, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab == nil {
		return nil, errors.New("the lab is not built")
	}
	var places []*lab.Namespace
	for _, at := range addresses {
		ns, err := k.lab.Find(k.topology.Full(at))
		if err != nil {
			return nil, err
		}
		places = append(places, ns)
	}
	return places, nil
}

// sandboxed is what can't be read of a place whose addresses and connections are in a sandbox:
// the kernel's counters and settings would be those of a stack that nothing passes.
func sandboxed(at string) []result.Unread {
	return []result.Unread{{Source: "namespace of " + at, Reason: "a sandbox has its TCP/IP stack, and keeps its counters: the kernel's would be of a stack that nothing passes"}}
}

// reader returns the reader of a place's counters. It is opened at first use, in
// the namespace, and stays open as long as the lab exists: to enter and to open
// costs more than to read.
func (k *keeper) reader(ns *lab.Namespace) (*probe.Reader, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, there := k.readers[ns]; there {
		return r, nil
	}
	if k.lab == nil {
		return nil, errors.New("the lab is not built")
	}
	r := probe.NewReader("/", probe.Namespace)
	if err := ns.Do(func() error { r.Read(); return nil }); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	k.readers[ns] = r
	return r, nil
}

// closeReaders closes the readers of all places.
func (k *keeper) closeReaders() error {
	var errs []error
	for _, r := range k.readers {
		errs = append(errs, r.Close())
	}
	clear(k.readers)
	return errors.Join(errs...)
}

// readAll reads the counters of every place at once.
func readAll(readers []*probe.Reader) []probe.Counts {
	counts := make([]probe.Counts, len(readers))
	var all sync.WaitGroup
	for n, r := range readers {
		if r == nil { // of a sandbox
			continue
		}
		all.Go(func() { counts[n] = r.Read() })
	}
	all.Wait()
	return counts
}

// states reads the states of places.
func (k *keeper) states(addresses []string) (Counted, error) {
	var all Counted
	places, err := k.places(addresses)
	if err != nil {
		return all, err
	}
	for n, ns := range places {
		if ns.Sandboxed() {
			all.Unread = probe.Unread(all.Unread, sandboxed(addresses[n]))
			continue
		}
		var states []result.State
		var unread []result.Unread
		if err := k.inside(ns, func() { states, unread = probe.Look("/", probe.Namespace) }); err != nil {
			return all, fmt.Errorf("look at the state of %s: %w", addresses[n], err)
		}
		for _, s := range states {
			s.At = addresses[n]
			all.States = append(all.States, s)
		}
		all.Unread = probe.Unread(all.Unread, unread)
	}
	return all, nil
}

// inside runs work on a thread in a namespace with its mounts: /sys shows the
// devices of the mounts, not of the thread. It may make those, which changes
// the lab.
func (k *keeper) inside(ns *lab.Namespace, work func()) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return ns.Inside(func() error {
		work()
		return nil
	})
}

// Count begins to count at places of the lab; stop returns what was counted since,
// by place.
func (l *Lab) Count(ctx context.Context, places []string) (stop func() (Counted, error), err error) {
	end, err := l.begin(ctx, doCount, request{Places: places})
	if err != nil {
		return nil, err
	}
	return func() (Counted, error) { return counted(end()) }, nil
}

// counted is what a reply counted.
func counted(rep reply, err error) (Counted, error) {
	if rep.Counted == nil {
		return Counted{}, err
	}
	return *rep.Counted, err
}

// States reads the states of places of the lab.
func (l *Lab) States(ctx context.Context, places []string) (Counted, error) {
	return counted(l.ask(ctx, doStates, request{Places: places}))
}
