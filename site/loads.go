package site

import (
	"context"
	"errors"
	"slices"
	"sync"

	"tare/probe"
)

// Loads looks how busy each machine is, all at the same time.
func (e *Endpoints) Loads(ctx context.Context) (map[string]probe.Load, error) {
	return e.eachMachine(ctx, doLoad)
}

// CPUTimes reads how the CPUs of each machine have spent their time.
func (e *Endpoints) CPUTimes(ctx context.Context) (map[string]probe.CPUTimes, error) {
	loads, err := e.eachMachine(ctx, doCPU)
	times := map[string]probe.CPUTimes{}
	for name, load := range loads {
		times[name] = load.CPU
	}
	return times, err
}

// eachMachine has one outpost on each machine look, by the name of its place.
func (e *Endpoints) eachMachine(ctx context.Context, do string) (map[string]probe.Load, error) {
	names := map[string]string{} // by boot
	for _, place := range slices.Backward(e.Topology.Places) {
		names[place.Boot] = place.Name
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var errs []error
	loads := map[string]probe.Load{}
	for _, name := range names {
		all.Go(func() {
			load, err := answered(ctx, e.outposts[name], do, func(r outpostReply) *probe.Load { return r.Load })
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			loads[name] = load
		})
	}
	all.Wait()
	return loads, errors.Join(errs...)
}
