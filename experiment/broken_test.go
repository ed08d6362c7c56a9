package experiment

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/network/kinds"
	"tare/site"
	"tare/test/labtest"
)

func drop(hook, match string) string {
	return "nft add table ip t && nft add chain ip t c '{ type filter hook " + hook + " priority 0; }' && nft add rule ip t c " + match + " drop"
}

// broken is a network with one broken place, and what the functional check says of it. @ is
// its cluster.
type broken struct {
	network, path, at, breaks string
	want                      []string
}

func brokenHops() map[string]broken {
	return map[string]broken{
		"the container's own link": {"route", catalog.CrossHost, "@.h1/c1", "ip link set eth0 down",
			[]string{"lost in @.h1/c1", "eth0 in @.h1/c1 is down"}},
		"the container's port": {"route", catalog.CrossHost, "@.h1", "ip link set veth-c1 down",
			[]string{"@.h1/c1", "veth-c1 in @.h1 is down"}},
		"a rule in the client's host": {"route", catalog.CrossHost, "@.h1", drop("forward", "tcp dport 5210"),
			[]string{"lost behind br0 in @.h1"}},
		"the underlay's far end": {"route", catalog.CrossHost, "@.h2", "ip link set eth0 down",
			[]string{"lost behind br0 in @.h1 ", "eth0 in @.h2 is down"}},
		"a rule in the server's host": {"route", catalog.CrossHost, "@.h2", drop("forward", "tcp dport 5210"),
			[]string{"lost behind eth0 in @.h2"}},
		"the answer": {"route", catalog.CrossHost, "@.h2", drop("forward", "tcp sport 5210"),
			[]string{"the answer is lost behind br0 in @.h2"}},
		"an MTU on the way": {"vxlan", catalog.CrossHost, "@.h2", "ip link set veth-c1 mtu 1400",
			[]string{"with 1398 bytes", "lost behind vxlan0 in @.h2", "veth-c1 in @.h2 has mtu 1400"}},
		"the tunnel": {"vxlan", catalog.CrossHost, "@.h1", "ip link set vxlan0 down",
			[]string{"lost in @.h1/c1", "vxlan0 in @.h1 is down"}},
		"a rule on what is encapsulated": {"vxlan", catalog.CrossHost, "@.h2", drop("input", "udp dport 4789"),
			[]string{"lost behind eth0 in @.h2"}},
		"a bridge's port": {"vxlan", catalog.CrossHost, "@.h2", "ip link set veth-c1 down",
			[]string{" in @.h2 (h1/c1 eth0 -> h1 veth-c1 vxlan0 eth0 -> h2 eth0 vxlan0", "veth-c1 in @.h2 is down"}},
		"the published port": {"nat", catalog.PublishedPort, "@.h2", drop("forward", "tcp dport 5210"),
			[]string{"lost behind eth0 in @.h2"}},
		"the container's address": {"macvlan", catalog.SameHost, "@.h1/c2", "ip link set eth0 down",
			[]string{"lost in @.h1/c1: it left by no device", "eth0 in @.h1/c2 is down"}},
		"its own host": {"veth", catalog.ContainerToOwnHost, "@.h1", drop("input", "tcp dport 5210"),
			[]string{"lost in @.h1: it came in by veth-c1 and nothing answered"}},
		"the way out": {"nat", "", "@.h1", drop("forward", "tcp dport 5211"),
			[]string{"lost behind br0 in @.h1"}},
	}
}

// clusterOf names the cluster that is broken so.
func (b broken) clusterOf(n int) string { return fmt.Sprintf("%s-broken%d", b.network, n) }

// brokenClusters are clusters to be broken: one for each.
func brokenClusters(like []site.ClusterSpec) (all map[string]string, specs []site.ClusterSpec) {
	all = map[string]string{}
	for name, b := range brokenHops() {
		for _, spec := range like {
			if spec.Network == b.network && spec.Axes.Text("nic") == "full" {
				spec.Name = b.clusterOf(len(all))
				all[name] = spec.Name
				specs = append(specs, spec)
				break
			}
		}
	}
	return all, specs
}

// brokenHopsAreNamed breaks each of the clusters at one place, and checks at which hop
// the functional check reports that the packet was lost.
func brokenHopsAreNamed(t *testing.T, l *site.Lab, names map[string]string) {
	c := newConductor(Complete(Quick()), Options{Site: l, Topology: l.Topology})
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	// Most of it is waiting, so all wait together.
	var wait sync.WaitGroup
	for name, b := range brokenHops() {
		cluster := names[name]
		in(t, l, strings.ReplaceAll(b.at, "@", cluster), b.breaks)
		wait.Go(func() {
			err := checked(t.Context(), c, cluster, b)
			for _, text := range b.want {
				labtest.Contains(t, name, fmt.Sprint(err), strings.ReplaceAll(text, "@", cluster))
			}
		})
	}
	wait.Wait()
}

// checked checks the path of a cluster, or the way out of it.
func checked(ctx context.Context, c *conductor, cluster string, b broken) error {
	n, _ := kinds.Find(b.network)
	at := place{network: n, cluster: cluster, axes: c.built[cluster].Axes}
	if b.path == "" {
		return c.checkEnds(ctx, at, *c.built[cluster].Outside, network.OutsidePort, checkTCP)
	}
	return c.checkPath(ctx, at, b.path, checkTCP)
}
