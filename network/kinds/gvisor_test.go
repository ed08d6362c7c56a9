package kinds_test

import (
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/workload"
)

// Containers of gVisor are on every path that it serves, by both versions of IP: their agents run
// in a sandbox, whose stack has what the namespace had.
func TestRealGvisor(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, clusters("runsc")...)
	keepPromises(t, l)
	b := built(t, l, "gvisor")
	for path := range b.Paths {
		measure(t, l, b, path, "tcp_stream", workload.Run{Size: 128 << 10})
	}
	t.Run("the sandbox shows the machine's CPU time", func(t *testing.T) {
		// It counts the sandbox's processes too.
		out := measureFor(t, l, b, catalog.SameHost, "tcp_stream", workload.Run{Size: 128 << 10, Duration: 300 * time.Millisecond})
		if cpu := out.Server.CPU; cpu == nil || cpu.Busy <= 0 {
			t.Errorf("CPU time of a stream between sandboxes: %+v", cpu)
		}
	})
	t.Run("the sandbox takes its addresses over", func(t *testing.T) {
		if got := link(t, l, "gvisor.h1/c1", lab.Device); len(got.Addresses) != 0 || got.Kind != "veth" {
			t.Errorf("the namespace has a %s with %v", got.Kind, got.Addresses)
		}
		if printed := shell(t, l, "gvisor.h1/c1", "cat /proc/version; ip -4 addr show dev eth0"); !strings.Contains(printed, "gvisor") || !strings.Contains(printed, "10.101.0.2/16") {
			t.Errorf("in the sandbox: %s", printed)
		}
		if _, err := l.Attach(t.Context(), "gvisor", catalog.SameHost); err == nil || !strings.Contains(err.Error(), "a sandbox takes its addresses over") {
			t.Errorf("attach: %v", err)
		}
	})
	t.Run("its namespace's states are left out", func(t *testing.T) {
		held, err := l.States(t.Context(), []string{"gvisor.h1", "gvisor.h1/c1"})
		if err != nil || len(held.States) == 0 || len(held.Unread) != 1 || held.Unread[0].Source != "namespace of gvisor.h1/c1" {
			t.Errorf("states of %d sources, not read: %v, %v: want the host's", len(held.States), held.Unread, err)
		}
		for _, s := range held.States {
			if s.At != "gvisor.h1" {
				t.Errorf("a state was read at %s", s.At)
			}
		}
	})
	t.Run("a container lives", func(t *testing.T) {
		if op, err := l.Lifecycle(t.Context(), "gvisor"); err != nil || op.Create <= 0 || op.Remove <= 0 {
			t.Errorf("lifecycle: %+v, %v", op, err)
		}
		if _, status, err := exec(t.Context(), l, "gvisor.h1/c1", "sh", "-c", "exit 7"); err != nil || status != 7 {
			t.Errorf("exit status %d, %v, want 7", status, err)
		}
	})
}
