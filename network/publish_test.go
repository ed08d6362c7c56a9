package network_test

import (
	"context"
	"fmt"
	"testing"

	"tare/network"
	"tare/site"
)

// Each server's port leads to the first container of a host, and the one that nothing
// publishes leads nowhere. A network that declares that servers which speak first are not
// reached carries nothing until the client has sent something; all others do.
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
		b, as := built(t, l, spec.Name), "call"
		ends := b.Paths[network.PublishedPort]
		if b.Mute != "" {
			as = "speak"
		}
		for _, port := range network.ServerPorts() {
			// It fails where the server is not reached.
			answered(t, l, as, spec.Name+"."+ends.Client, fmt.Sprintf("%v:%d", ends.Dial, port), spec.Name+"."+ends.Server, fmt.Sprintf("%v:%d", ends.Bind, port))
		}
		for _, port := range network.UDPServerPorts() {
			datagramAnswered(t, l, spec.Name+"."+ends.Client, fmt.Sprintf("%v:%d", ends.Dial, port), spec.Name+"."+ends.Server, fmt.Sprintf("%v:%d", ends.Bind, port))
		}
		closed := fmt.Sprintf("%v:%d", ends.Dial, network.OutsidePort)
		if _, status, err := exec(t.Context(), l, spec.Name+"."+ends.Client, "/proc/self/exe", "refused", closed); err != nil || status != 0 {
			t.Errorf("%s: somebody is at %s: status %d, %v", spec.Name, closed, status, err)
		}
	}
}

// datagramAnswered fails unless a datagram from the client reaches the server, and its answer the client.
func datagramAnswered(t *testing.T, l *site.Lab, client, dial, server, bind string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, status, err := exec(ctx, l, server, "/proc/self/exe", "answer", bind); ctx.Err() == nil {
			t.Errorf("answer at %s in %s: status %d, %v", bind, server, status, err)
		}
	}()
	_, status, err := exec(t.Context(), l, client, "/proc/self/exe", "ask", dial)
	cancel()
	<-ended
	if err != nil || status != 0 {
		t.Errorf("ask %s from %s: status %d, %v", dial, client, status, err)
	}
}
