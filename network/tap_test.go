package network_test

import (
	"testing"

	"tare/lab"
	"tare/network"
)

// A published port of a rootless container answers from the other host and from a container
// there, and a process of the container's has its packets: the host has no device for it.
func TestRealRootlessContainersArePublished(t *testing.T) {
	for _, name := range []string{"pasta", "slirp4netns", "gvisor-tap-vsock"} {
		small := on(name)
		small.Name, small.Params = "small", map[string]string{"tap_mtu": "1400"}
		l := build(t, on(name), small)
		n, _ := network.Find(name)
		for _, path := range n.Paths {
			carries(t, l, built(t, l, name), path, 1500)
		}
		held, err := l.Look(t.Context(), name+".h1")
		if err != nil {
			t.Fatal(err)
		}
		for _, device := range held[0].Links {
			if device.Name != lab.Device && device.Name != "lo" {
				t.Errorf("%s: the host has a device %s", name, device.Name)
			}
		}
		for at, mtu := range map[string]int{name + ".h1/c1": 65520, "small.h1/c1": 1400} {
			if got := link(t, l, at, lab.Device); got.Kind != "tuntap" || got.MTU != mtu {
				t.Errorf("%s: the container's device is a %s with mtu %d, want tuntap with %d", at, got.Kind, got.MTU, mtu)
			}
		}
	}
}
