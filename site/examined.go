package site

import (
	"context"
	"errors"
	"sync"

	"tare/probe"
)

// Examined are places whose counters and settings are read. An outpost reads what its user
// may; the rest is named.
type Examined struct{ *Endpoints }

// Count begins to count at some places of clusters; stop gives what was counted.
func (e Examined) Count(ctx context.Context, places []string) (stop func() (Counted, error), err error) {
	if _, err := e.each(ctx, places, doCount); err != nil {
		return nil, err
	}
	return func() (Counted, error) { return e.each(ctx, places, doCounted) }, nil
}

// States reads the settings of some places. Those of hosts have the published ports that a
// process relays.
func (e Examined) States(ctx context.Context, places []string) (Counted, error) {
	all, err := e.each(ctx, places, doStates)
	all.States = append(all.States, e.relays.states(places)...)
	all.Unread = probe.Unread(all.Unread, e.relays.unread)
	return all, err
}

// each has the outposts of some places read, all at the same time.
func (e Examined) each(ctx context.Context, places []string, do string) (all Counted, err error) {
	counted, errs := make([]Counted, len(places)), make([]error, len(places))
	var ended sync.WaitGroup
	for n, at := range places {
		ended.Go(func() { counted[n], errs[n] = e.counted(ctx, at, do) })
	}
	ended.Wait()
	for n, at := range places {
		for _, r := range counted[n].Readings {
			r.At = at
			all.Readings = append(all.Readings, r)
		}
		for _, s := range counted[n].States {
			s.At = at
			all.States = append(all.States, s)
		}
		all.Unread = probe.Unread(all.Unread, counted[n].Unread)
	}
	return all, errors.Join(errs...)
}

func (e Examined) counted(ctx context.Context, at, do string) (Counted, error) {
	o, _, err := e.outpost(at)
	if err != nil {
		return Counted{}, err
	}
	return answered(ctx, o, do, func(r outpostReply) *Counted { return r.Counted })
}
