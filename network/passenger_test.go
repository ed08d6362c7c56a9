package network_test

import (
	"strings"
	"testing"

	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// TestRealPassengersOfAnEngine: networks that share an engine's hosts share the passenger
// too, which runs once on each host.
func TestRealPassengersOfAnEngine(t *testing.T) {
	if !asRoot(t) {
		return
	}
	var all []site.ClusterSpec
	for _, name := range []string{"docker-bridge", "docker-nat"} {
		spec := on(name)
		spec.Params = map[string]string{network.With: "exec sleep 601"}
		all = append(all, spec)
	}
	l := build(t, all...)
	out, status, err := exec(t.Context(), l, "docker-bridge.h1", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c '^60[1]$'")
	if err != nil || status != 0 {
		t.Fatalf("count passengers: %s, status %d, %v", out, status, err)
	}
	labtest.Equal(t, "passengers of two hosts", strings.TrimSpace(out), "2")
}
