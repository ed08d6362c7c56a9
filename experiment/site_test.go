package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"tare/agent"
	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// loopSite is a site whose places are all this host: agents with the real traffic over
// the loopback.
type loopSite struct {
	t      testing.TB
	fault  func(at string) error // why no agent starts at a place; nil: it does
	mu     sync.Mutex
	agents map[string]*agent.Handle
}

func newLoopSite(t testing.TB) *loopSite {
	s := &loopSite{t: t, fault: func(string) error { return nil }, agents: map[string]*agent.Handle{}}
	t.Cleanup(func() {
		for _, h := range s.agents {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func (s *loopSite) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault(at); err != nil {
		return nil, err
	}
	key := at + " " + role
	if h, ok := s.agents[key]; ok && h.Broken() == nil {
		return h, nil
	}
	h, err := startAgent(ctx, at)
	if err == nil {
		s.agents[key] = h
	}
	return h, err
}

// Look sees a container's port, its host's end of it and the link between hosts,
// none of which has carried anything.
func (s *loopSite) Look(_ context.Context, at string) ([]probe.Inventory, error) {
	return []probe.Inventory{{Namespace: at, Links: []probe.Link{{Name: lab.Device, Up: true}, {Name: "lo", Up: true}}}}, nil
}

// startAgent starts an agent in a process: runs that take turns can't share a
// runtime, which would stop one for another.
func startAgent(ctx context.Context, at string) (*agent.Handle, error) {
	cmd := exec.Command("/proc/self/exe", agent.Verb)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return agent.Open(ctx, at, in, out, sync.OnceValue(func() error {
		kill := cmd.Process.Kill()
		_, err := cmd.Process.Wait() // which does not close out, as cmd.Wait does
		return errors.Join(kill, err, out.Close())
	}))
}

// overLoopback is the plan's lab on the loopback: an address for each cluster, which
// differs between processes, since tests run in parallel.
func overLoopback(t testing.TB, plan result.Plan) site.Topology {
	t.Helper()
	topology := emptyLab(plan)
	pid := os.Getpid()
	for n := range topology.Clusters {
		u := &topology.Clusters[n]
		addr, err := netip.ParseAddr(fmt.Sprintf("127.%d.%d.%d", 128+pid>>8&127, pid&255, 1+n))
		if err != nil {
			t.Fatal(err)
		}
		u.Paths = map[string]network.Ends{}
		for _, path := range network.Paths() {
			u.Paths[path] = network.Ends{Client: "h1/c1", Server: "h1/c2", Bind: addr, Dial: addr}
		}
	}
	return topology
}

// loopPlan weighs veth and bridge in short windows, with the congestion
// control that the loopback has.
func loopPlan(t testing.TB) result.Plan {
	t.Helper()
	cc, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		t.Fatal(err)
	}
	return Complete(result.Plan{
		Networks: result.NetworksNamed("veth", "bridge"), Paths: []string{network.SameHost},
		Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, NIC: []string{"full"},
		CC: strings.TrimSpace(string(cc)), Blocks: 6, Warmup: 0.002, Duration: 0.020,
	})
}

// loopRun is a run on the loopback, and the progress that it reported.
type loopRun struct {
	Options
	site     *loopSite
	saved    []string // Finished of each result that was saved
	progress []Progress
}

func newLoopRun(t testing.TB, plan result.Plan) *loopRun {
	t.Helper()
	labtest.NeedsTier(t)
	run := &loopRun{site: newLoopSite(t)}
	run.Options = Options{
		Site: run.site, Topology: overLoopback(t, plan), Tool: result.Tool{Version: "1.2.3"},
		Save: func(res *result.Result) error {
			run.saved = append(run.saved, res.Finished)
			return res.Write(io.Discard)
		},
		Progress: func(p Progress) { run.progress = append(run.progress, p) },
	}
	return run
}

// cellOf gives a network's cell.
func cellOf(t testing.TB, res *result.Result, net string) *result.Cell {
	t.Helper()
	for n := range res.Cells {
		if res.Cells[n].Network == net {
			return &res.Cells[n]
		}
	}
	t.Fatalf("no cell of %s", net)
	return nil
}
