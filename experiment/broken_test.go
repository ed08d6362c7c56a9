package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// drop is a rule that drops what matches, at a hook of a host.
func drop(hook, match string) string {
	return "nft add table ip t && nft add chain ip t c '{ type filter hook " + hook + " priority 0; }' && nft add rule ip t c " + match + " drop"
}

// TestRealBrokenHopIsNamed breaks each network at one place, and checks at which hop
// the functional check reports that the packet was lost.
func TestRealBrokenHopIsNamed(t *testing.T) {
	breaks := map[string]struct {
		network, path, at, breaks string
		want                      []string
	}{
		"the container's own link": {"route", network.CrossHost, "route.h1/c1", "ip link set eth0 down",
			[]string{"lost in route.h1/c1", "eth0 in route.h1/c1 is down"}},
		"the container's port": {"route", network.CrossHost, "route.h1", "ip link set veth-c1 down",
			[]string{"route.h1/c1", "veth-c1 in route.h1 is down"}},
		"a rule in the client's host": {"route", network.CrossHost, "route.h1", drop("forward", "tcp dport 5210"),
			[]string{"lost behind br0 in route.h1"}},
		"the underlay's far end": {"route", network.CrossHost, "route.h2", "ip link set eth0 down",
			[]string{"lost behind br0 in route.h1 ", "eth0 in route.h2 is down"}},
		"a rule in the server's host": {"route", network.CrossHost, "route.h2", drop("forward", "tcp dport 5210"),
			[]string{"lost behind eth0 in route.h2"}},
		"the answer": {"route", network.CrossHost, "route.h2", drop("forward", "tcp sport 5210"),
			[]string{"the answer is lost behind br0 in route.h2"}},
		"an MTU on the way": {"vxlan", network.CrossHost, "vxlan.h2", "ip link set veth-c1 mtu 1400",
			[]string{"with 1398 bytes", "lost behind vxlan0 in vxlan.h2", "veth-c1 in vxlan.h2 has mtu 1400"}},
		"the tunnel": {"vxlan", network.CrossHost, "vxlan.h1", "ip link set vxlan0 down",
			[]string{"lost in vxlan.h1/c1", "vxlan0 in vxlan.h1 is down"}},
		"a rule on what is encapsulated": {"vxlan", network.CrossHost, "vxlan.h2", drop("input", "udp dport 4789"),
			[]string{"lost behind eth0 in vxlan.h2"}},
		"a bridge's port": {"vxlan", network.CrossHost, "vxlan.h2", "ip link set veth-c1 down",
			[]string{" in vxlan.h2 (h1/c1 eth0 -> h1 veth-c1 vxlan0 eth0 -> h2 eth0 vxlan0", "veth-c1 in vxlan.h2 is down"}},
		"the published port": {"nat", network.PublishedPort, "nat.h2", drop("forward", "tcp dport 5210"),
			[]string{"lost behind eth0 in nat.h2"}},
		"the container's address": {"macvlan", network.SameHost, "macvlan.h1/c2", "ip link set eth0 down",
			[]string{"lost in macvlan.h1/c1: it left by no device", "eth0 in macvlan.h1/c2 is down"}},
		"its own host": {"veth", network.ContainerToOwnHost, "veth.h1", drop("input", "tcp dport 5210"),
			[]string{"lost in veth.h1: it came in by veth-c1 and nothing answered"}},
	}
	// Most of it is waiting, so all wait together.
	labtest.NoLeaks(t)
	var wait sync.WaitGroup
	for name, c := range breaks {
		wait.Go(func() {
			cell, err := broken(t.Context(), c.network, c.path, c.at, c.breaks)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			t.Logf("%s: %s %s", name, cell.Status, cell.Reason)
			for _, text := range c.want {
				if cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, text) {
					t.Errorf("%s: %s %q does not contain %q", name, cell.Status, cell.Reason, text)
				}
			}
		})
	}
	wait.Go(func() { checkBrokenOutside(t) })
	wait.Wait()
}

// checkBrokenOutside checks that a path that is not measured fails no cell: it is
// named in a warning.
func checkBrokenOutside(t *testing.T) {
	t.Helper()
	cell, err := broken(t.Context(), "nat", network.PublishedPort, "nat.h1", drop("forward", "tcp dport 5211"))
	if err != nil {
		t.Error(err)
		return
	}
	if cell.Status != result.StatusOK || len(cell.Metrics) == 0 {
		t.Errorf("%s: %s", cell.Status, cell.Reason)
		return
	}
	warned := strings.Join(cell.Metrics[0].Warnings, "\n")
	for _, text := range []string{"outside: a container does not reach the other host", "lost behind br0 in nat.h1"} {
		if !strings.Contains(warned, text) {
			t.Errorf("%q does not contain %q", warned, text)
		}
	}
}

// broken builds a lab of a network, runs a shell line at a place of it, and
// measures one block of a path.
func broken(ctx context.Context, name, path, at, line string) (*result.Cell, error) {
	plan := Quick()
	plan.Networks, plan.Paths, plan.Blocks, plan.Duration = result.NetworksNamed(name), []string{path}, 1, 0.02
	plan.Workloads, plan.NIC, plan.EncapNIC = []result.WorkloadPlan{{Name: "tcp_rr"}}, []string{"full"}, nil
	res, err := changed(ctx, Complete(plan), at, line)
	if err != nil {
		return nil, err
	}
	for n := range res.Cells {
		if res.Cells[n].Network == name {
			return &res.Cells[n], nil
		}
	}
	return nil, errors.New("no cell of " + name)
}

// changed builds the lab of a plan, runs a shell line at a place of it, and
// measures the plan.
func changed(ctx context.Context, plan result.Plan, at, line string) (res *result.Result, err error) {
	l, err := site.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.Build(ctx, Spec(plan, 2, 2)); err != nil {
		return nil, err
	}
	if status, err := l.Exec(ctx, at, []string{"sh", "-ec", line}, os.Stdin, os.Stdout, os.Stderr); err != nil || status != 0 {
		return nil, fmt.Errorf("%s at %s: status %d: %w", line, at, status, err)
	}
	return Run(ctx, plan, Options{
		Site: l, Topology: l.Topology, Progress: func(Progress) {},
		Save: func(res *result.Result) error { return res.Write(io.Discard) },
	})
}

// TestLabExamineChoosesAmongInterfaces: a lab of a plan has a tunnel once for each model
// of the interface, and a path of either can be examined.
func TestLabExamineChoosesAmongInterfaces(t *testing.T) {
	labtest.NoLeaks(t)
	plan := Quick()
	plan.Networks, plan.Paths, plan.Blocks = result.NetworksNamed("vxlan"), []string{network.CrossHost}, 1
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := l.Build(t.Context(), Spec(Complete(plan), 2, 2)); err != nil {
		t.Fatal(err)
	}
	examined := 0
	for _, built := range l.Topology.Clusters {
		if built.Baseline {
			continue
		}
		ends := built.Paths[network.CrossHost]
		all, err := Examine(t.Context(), l, l.Topology, &Pair{From: built.Name + "." + ends.Client, To: built.Name + "." + ends.Server, Path: network.CrossHost})
		if err != nil || len(all) != 1 || all[0].NIC != built.NIC || len(all[0].Trials) == 0 || all[0].Trials[0].Error != "" {
			t.Errorf("%s with nic %s: %+v: %v", built.Name, built.NIC, all, err)
		}
		examined++
	}
	labtest.Equal(t, "tunnels that were examined", examined, 2)
}
