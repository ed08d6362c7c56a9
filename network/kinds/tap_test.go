package kinds_test

import (
	"testing"

	"tare/lab"
)

// A published port of a rootless container answers from the other host and from a container
// there, and a process of the container's has its packets: the host has no device for it.
func TestRealRootlessContainers(t *testing.T) {
	all := clusters("rootless")
	for _, n := range ofFamily("rootless") {
		all = append(all, with("small-"+n.Name, n.Name, "tap_mtu", "1400"))
	}
	all = append(all, with("pasta-13", "pasta", "pasta_from", "debian-13"))
	l := build(t, all...)
	keepPromises(t, l)
	for _, n := range ofFamily("rootless") {
		t.Run(n.Name+" is a process", func(t *testing.T) {
			held, err := l.Look(t.Context(), n.Name+".h1")
			if err != nil {
				t.Fatal(err)
			}
			for _, device := range held[0].Links {
				if device.Name != lab.Device && device.Name != "lo" {
					t.Errorf("the host has a device %s", device.Name)
				}
			}
			for at, mtu := range map[string]int{n.Name + ".h1/c1": 65520, "small-" + n.Name + ".h1/c1": 1400} {
				if got := link(t, l, at, lab.Device); got.Kind != "tuntap" || got.MTU != mtu {
					t.Errorf("%s: the container's device is a %s with mtu %d, want tuntap with %d", at, got.Kind, got.MTU, mtu)
				}
			}
		})
	}
}
