package experiment

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"tare/agent"
	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/workload"
)

// serverError is the error of a real server that could not be started or has ended:
// a second try of the cells that need it would fail too.
type serverError struct{ err error }

func (e *serverError) Error() string { return e.err.Error() }
func (e *serverError) Unwrap() error { return e.err }

// serverOf is the real server of a run; false: the run has none.
func serverOf(name string, run workload.Run) (workload.Server, bool) {
	if run.Server == "" {
		return workload.Server{}, false
	}
	kind, _ := workload.Find(name)
	return kind.FindServer(run.Server)
}

// startTogether is how many servers start at the same time.
const startTogether = 4

// realServer is one at an end and the cells that need it.
type realServer struct {
	cluster string
	ends    network.Ends
	name    string // of the workload
	run     workload.Run
	cells   []*result.Cell
	err     error // why it could not be started
}

// startServers starts every real server of the plan before the first block, so
// that none starts while another network is measured. The cells of one that
// does not start fail.
func (r *runner) startServers(ctx context.Context) error {
	all := r.realServers()
	if len(all) == 0 {
		return nil
	}
	r.Progress(Progress{Starting: len(all)})
	begun := time.Now()
	r.conductor.start(ctx, all)
	for _, s := range all {
		for _, cell := range s.cells {
			if s.err != nil {
				cell.Status, cell.Reason = result.StatusFailed, s.err.Error()
			}
		}
	}
	r.recorder.res.Environment.ServersUp = result.Seconds(time.Since(begun).Seconds())
	return ctx.Err()
}

// start starts servers, some at a time.
func (c *conductor) start(ctx context.Context, all []*realServer) {
	var wait sync.WaitGroup
	room := make(chan struct{}, startTogether)
	for _, s := range all {
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			s.err = c.ready(ctx, s.cluster, s.ends, s.name, s.run)
		})
	}
	wait.Wait()
}

// realServers lists the servers of the plan, each once, with the cells that can be
// measured.
func (r *runner) realServers() []*realServer {
	var all []*realServer
	known := map[string]*realServer{}
	for n, g := range r.groups {
		run := runOf(r.plan, g.workload)
		server, has := serverOf(g.workload.Name, run)
		if !has {
			continue
		}
		for _, c := range g.places {
			cell := r.recorder.cells[keyOf(n, c)]
			ends, _ := r.conductor.built.ends(c.cluster, g.path)
			if cell.Status != result.StatusOK {
				continue
			}
			key := server.Name + " " + c.cluster + "." + ends.Server + " " + ends.Bind.String()
			if known[key] == nil {
				known[key] = &realServer{cluster: c.cluster, ends: ends, name: g.workload.Name, run: run}
				all = append(all, known[key])
			}
			known[key].cells = append(known[key].cells, cell)
		}
	}
	return all
}

// ready has the serving end's agent start the run's real server, unless it
// runs, and make it ready for the run.
func (c *conductor) ready(ctx context.Context, cluster string, ends network.Ends, name string, run workload.Run) error {
	server, _ := serverOf(name, run)
	h, err := c.site.Agent(ctx, cluster+"."+ends.Server, "server")
	if err != nil {
		return err
	}
	err = h.Ready(ctx, agent.Job{
		Workload: name, Run: run, Dir: lab.Scratch,
		Address: netip.AddrPortFrom(ends.Bind, server.Port).String(),
	})
	if err != nil && ctx.Err() == nil {
		return &serverError{fmt.Errorf("%s %w", server.Name, err)}
	}
	return err
}

// against does one run against a real server. If the server has ended, its last
// output is the better error, and what was measured until then is no sample.
func (c *conductor) against(ctx context.Context, cluster string, ends network.Ends, name string, run workload.Run) (out agent.Outcome, err error) {
	server, known := serverOf(name, run)
	if !known {
		return out, fmt.Errorf("server %q of %s: unknown", run.Server, name)
	}
	if err := c.ready(ctx, cluster, ends, name, run); err != nil {
		return out, err
	}
	client, err := c.site.Agent(ctx, cluster+"."+ends.Client, "client")
	if err != nil {
		return out, err
	}
	out, err = client.Drive(ctx, agent.Job{Workload: name, Run: run, Address: netip.AddrPortFrom(ends.Dial, server.Port).String()})
	if suspect := err != nil || len(out.Client.Warnings) > 0; suspect && ctx.Err() == nil {
		if ended := c.ready(ctx, cluster, ends, name, run); ended != nil {
			return out, ended
		}
	}
	return out, err
}
