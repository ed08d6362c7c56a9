package real

import (
	"fmt"
	"testing"
)

// Several clusters run at the same time: they wait most of it.
func TestRealClusters(t *testing.T) {
	killedBefore(t)
	leavesNothing(t)
	for _, of := range []struct { // those that take longest come first
		name string
		test func(*testing.T)
	}{
		{"survives", testSiteSurvives},
		{"mesh", testMesh},
		{"names what is missing", testSiteNamesWhatIsMissing},
		{"bridge iptables", variant{
			nodes: 3, datapath: "bridge", proxy: "iptables", victim: "kubelet",
			fact: "packets to h2/c1 leave it through eth0 as they are, with an MTU of 1500",
		}.test},
		{"flannel iptables", variant{
			nodes: 3, datapath: "flannel", proxy: "iptables", victim: "tare keeper",
			fact: "packets to h2/c1 leave it through flannel.1 inside other packets (vxlan), with an MTU of 1450",
		}.test},
		{"streams, doctor", testStreamsAndDoctor},
		{"bridge nftables", variant{nodes: 2, datapath: "bridge", proxy: "nftables", victim: "etcd"}.test},
		{"flannel nftables", variant{nodes: 2, datapath: "flannel", proxy: "nftables"}.test},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			of.test(t)
		})
	}
}

// variant is a kind of cluster.
type variant struct {
	nodes           int
	datapath, proxy string
	fact            string // that a run says of it; empty: it is not weighed
	victim          string // words in the command line of what is killed at last; empty: nothing
}

func (v variant) flags() []string {
	return []string{"--nodes", fmt.Sprint(v.nodes), "--datapath", v.datapath, "--proxy", v.proxy}
}

// test tries whether a cluster works, and weighs it. Whatever of it is killed, it can be taken down.
func (v variant) test(t *testing.T) {
	c := start(t, v.flags()...)
	t.Run("serves", func(t *testing.T) { c.in(t).testServes(v) })
	if v.fact != "" {
		t.Run("weighed", func(t *testing.T) { c.in(t).testWeighed(v) })
	}
	if v.victim != "" && c.kill(v.victim) == 0 {
		t.Errorf("no %s was killed", v.victim)
	}
}

func testStreamsAndDoctor(t *testing.T) {
	c := start(t)
	t.Run("streams", func(t *testing.T) { c.in(t).testStreams() })
	t.Run("doctor", func(t *testing.T) { c.in(t).testDoctor() })
}
