package lab

import (
	"testing"

	"github.com/safchain/ethtool"
)

func testNICs(t *testing.T) {
	l := open(t)
	for _, c := range []struct {
		nic  NIC
		want map[string]bool
	}{
		{NICFull, map[string]bool{"tx-tcp-segmentation": true, "tx-udp_tnl-segmentation": true, "tx-ipxip4-segmentation": true}},
		{NICTSO, map[string]bool{
			"tx-tcp-segmentation": true, "tx-udp_tnl-segmentation": false, "tx-udp_tnl-csum-segmentation": false,
			"tx-ipxip4-segmentation": false, "tx-gre-segmentation": false, "tx-gre-csum-segmentation": false,
		}},
		{NICFrames, map[string]bool{"tx-tcp-segmentation": false, "tx-generic-segmentation": false, "rx-gro": true}},
		{NICPlain, map[string]bool{"tx-tcp-segmentation": false, "tx-generic-segmentation": false, "rx-gro": false}},
	} {
		for _, hosts := range []int{2, 3} {
			spec := pairOf(string(c.nic))
			spec.NIC, spec.Hosts = c.nic, hosts
			cluster := setUp(t, l, spec)
			for _, h := range cluster.Hosts {
				checkFeatures(t, h, c.want)
			}
			if err := l.Remove(cluster); err != nil {
				t.Error(err)
			}
		}
	}
	spec := pairOf("link")
	spec.Link.BitsPerSecond = 1e9
	cluster := setUp(t, l, spec)
	checkFeatures(t, cluster.Hosts[0], NICFrames.features())
}

func checkFeatures(t *testing.T, h *Host, want map[string]bool) {
	t.Helper()
	var got map[string]bool
	err := h.Do(func() error {
		tool, err := ethtool.NewEthtool()
		if err != nil {
			return err
		}
		defer tool.Close()
		got, err = tool.Features(Device)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, on := range want {
		if state, known := got[name]; !known || state != on {
			t.Errorf("%s: %s is %t (known: %t), want %t", h.Name, name, state, known, on)
		}
	}
}
