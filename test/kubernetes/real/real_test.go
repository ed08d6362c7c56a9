package real

import "testing"

// Each test has a cluster for itself, and several run at the same time: they wait most of it.
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
		{"streams", testStreams},
		{"doctor", testDoctor},
		{"weighs bridge", testSiteWeighsEveryPath("bridge", "packets to h2/c1 leave it through eth0 as they are, with an MTU of 1500")},
		{"weighs flannel", testSiteWeighsEveryPath("flannel", "packets to h2/c1 leave it through flannel.1 inside other packets (vxlan), with an MTU of 1450")},
		{"serves bridge iptables", testClusterServes(2, "bridge", "iptables")},
		{"serves bridge nftables", testClusterServes(2, "bridge", "nftables")},
		{"serves flannel iptables", testClusterServes(2, "flannel", "iptables")},
		{"serves flannel nftables", testClusterServes(3, "flannel", "nftables")},
		{"kubelet killed", testClusterKilled("kubelet")},
		{"etcd killed", testClusterKilled("etcd")},
		{"lab's keeper killed", testClusterKilled("tare keeper")},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			of.test(t)
		})
	}
}
