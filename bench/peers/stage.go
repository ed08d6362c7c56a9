package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/site"
)

// The placements of the two ends on CPUs.
const (
	apart = "apart" // each end has a separate CPU
	same  = "same"  // both ends share one
	// plain: each has a separate one, in two namespaces with nothing but a veth pair
	// between them, no receive steering, and the machine's congestion control, which
	// the tools replace.
	plain = "plain"
	// live: apart, and GRO is on, so that the veths take the frames of a program.
	live = "live"
)

// congestion is the control of both ends, set by the lab's routes or, on a plain pair,
// by the tools.
const congestion = "cubic"

// end is one end of the path: where it is and the CPU it is bound to.
type end struct{ at, cpu string }

// stage is a lab with two ends in it.
type stage struct {
	placement      string
	window         time.Duration
	lab            *site.Lab
	client, server end
	addr           netip.Addr // of the server
	folder         string     // for the configurations of servers
	agents         map[end]*agent.Handle
}

// openStage builds a lab with the path that the options name.
func openStage(ctx context.Context, o options, placement string) (_ *stage, err error) {
	usable, err := lab.UsableCPUs()
	if err != nil {
		return nil, err
	}
	cpus := [2]string{fmt.Sprint(usable[0]), fmt.Sprint(usable[0])}
	if placement != same {
		if len(usable) < 2 {
			return nil, errors.New("place the ends apart: this process may use one CPU only: give it two")
		}
		cpus[1] = fmt.Sprint(usable[1])
	}
	s := &stage{placement: placement, window: o.window, agents: map[end]*agent.Handle{}}
	if s.folder, err = os.MkdirTemp("", "tare-peers-"); err != nil {
		return nil, err
	}
	if s.lab, err = site.Start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.folder))
	}
	if placement == plain { // two hosts, and nothing but the pair between them
		o.network, o.path = catalog.Baseline, catalog.CrossHost
	}
	if err := s.build(ctx, o, cpus); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// build sets up the network and finds the ends. A host that holds both has both
// CPUs; hosts apart have those of their end, and receive there.
func (s *stage) build(ctx context.Context, o options, cpus [2]string) error {
	cc := congestion
	if s.placement == plain {
		cc = "" // the machine's
	}
	spec := site.Spec{
		CC: cc, Pin: catalog.PinApart, RPS: s.placement != plain,
		CPUs: map[string]string{"h1": cpus[0], "h2": cpus[1]},
		Clusters: []site.ClusterSpec{{
			Name: "peers", Network: o.network, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 2, Live: s.placement == live,
		}},
	}
	if catalog.Within(o.path) {
		spec.CPUs["h1"] = strings.Join(cpus[:], ",")
	}
	if err := s.lab.Build(ctx, spec); err != nil {
		return err
	}
	built := s.lab.Topology.Clusters[0]
	if built.Error != "" {
		return errors.New(built.Error)
	}
	ends, serves := built.Paths[o.path]
	if !serves || ends.Bind != ends.Dial {
		return fmt.Errorf("path %q of network %q: not one that can be compared: choose same-host or cross-host", o.path, o.network)
	}
	s.client, s.server, s.addr = end{ends.Client, cpus[0]}, end{ends.Server, cpus[1]}, ends.Bind
	return s.writeConfigurations()
}

// writeConfigurations writes what servers read from files.
func (s *stage) writeConfigurations() error {
	return os.WriteFile(filepath.Join(s.folder, nginxFile), []byte(nginxConfiguration(s.call())), 0o600)
}

// close ends all that runs and removes the lab.
func (s *stage) close() error {
	var errs []error
	for _, h := range s.agents {
		errs = append(errs, h.Close())
	}
	return errors.Join(append(errs, s.lab.Close(), os.RemoveAll(s.folder))...)
}

// call is what a tool has to know to be called.
func (s *stage) call() call {
	return call{addr: s.addr.String(), window: s.window, folder: s.folder}
}
