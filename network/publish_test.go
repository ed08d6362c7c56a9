package network_test

import (
	"fmt"
	"testing"

	"tare/network"
	"tare/site"
)

// Each server's port leads to the first container of a host, and the one that
// nothing publishes leads nowhere.
func TestRealServersPortsArePublished(t *testing.T) {
	var all []site.ClusterSpec
	for _, n := range network.All() {
		if n.Serves(network.PublishedPort) && n.Engine.Name == "" && (asRoot(t) || len(n.Needs) == 0) {
			all = append(all, on(n.Name))
		}
	}
	if asRoot(t) {
		all = append(all, on("docker-nat"))
	}
	l := build(t, all...)
	for _, spec := range all {
		ends := built(t, l, spec.Name).Paths[network.PublishedPort]
		for _, port := range network.ServerPorts() {
			// It fails where the server is not reached.
			seenAs(t, l, spec.Name+"."+ends.Client, fmt.Sprintf("%v:%d", ends.Dial, port), spec.Name+"."+ends.Server, fmt.Sprintf("%v:%d", ends.Bind, port))
		}
		closed := fmt.Sprintf("%v:%d", ends.Dial, network.OutsidePort)
		if _, status, err := exec(t.Context(), l, spec.Name+"."+ends.Client, "/proc/self/exe", "refused", closed); err != nil || status != 0 {
			t.Errorf("%s: somebody is at %s: status %d, %v", spec.Name, closed, status, err)
		}
	}
}
