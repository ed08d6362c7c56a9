package network_test

import (
	"testing"

	"tare/lab"
	"tare/network"
)

// A published port of a rootless container answers from the other host and from a container
// there, and a process of the container's has its packets: the host has no device for it.
func TestRealRootlessContainersArePublished(t *testing.T) {
	for _, name := range []string{"slirp4netns"} {
		l := build(t, on(name))
		n, _ := network.Find(name)
		for _, path := range n.Paths {
			carries(t, l, built(t, l, name), path, 1500)
		}
		held, err := l.Look(t.Context(), "h1")
		if err != nil {
			t.Fatal(err)
		}
		for _, device := range held[0].Links {
			if device.Name != lab.Device && device.Name != "lo" {
				t.Errorf("%s: the host has a device %s", name, device.Name)
			}
		}
		if got := link(t, l, "h1/c1", lab.Device).Kind; got != "tuntap" {
			t.Errorf("%s: the container's device is a %s, want tuntap", name, got)
		}
	}
}
