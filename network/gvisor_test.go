package network_test

import (
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/wire"
	"tare/workload"
)

// Containers of gVisor are on every path that it serves: their agents run in a sandbox, whose
// stack has what the namespace had, and its processes are bound to their host's CPUs.
func TestRealGvisor(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "gvisor")
	b := built(t, l, "gvisor")
	n, _ := network.Find("gvisor")
	for _, path := range n.Paths {
		for name, sizes := range map[string][]int{"tcp_rr": {1, 14480}, "udp_rr": {64, 1472}, "tcp_stream": {128 << 10}} {
			for _, size := range sizes {
				out := measure(t, l, b, path, name, workload.Run{Size: size, CC: "cubic", OwnClocks: true})
				if out.Client.Work+out.Server.Work <= 0 {
					t.Errorf("%s on %s, %d bytes: nothing was carried", name, path, size)
				}
				if kind, _ := workload.Find(name); kind.TCP && (out.Server.CC != "cubic" || out.Client.CC != "cubic") {
					t.Errorf("%s on %s: congestion control %q at the server, %q at the client", name, path, out.Server.CC, out.Client.CC)
				}
			}
		}
	}
	// The sandbox shows no CPU time, but the machine's, which counts its processes too.
	out := measure(t, l, b, network.SameHost, "tcp_stream", workload.Run{Size: 128 << 10, CC: "cubic", OwnClocks: true, Duration: 300 * time.Millisecond})
	if cpu := out.Server.CPU; cpu == nil || cpu.Busy < 0.1 {
		t.Errorf("CPU time of a stream between sandboxes: %+v, want at least 0.1 s", cpu)
	}
	if got := link(t, l, "gvisor.h1/c1", lab.Device); len(got.Addresses) != 0 || got.Kind != "veth" {
		t.Errorf("the namespace has a %s with %v: the sandbox did not take its addresses over", got.Kind, got.Addresses)
	}
	held, err := l.States(t.Context(), []string{"gvisor.h1", "gvisor.h1/c1"})
	if err != nil || len(held.States) == 0 || len(held.Unread) != 1 || held.Unread[0].Source != "namespace of gvisor.h1/c1" {
		t.Errorf("states of %d sources, not read: %v, %v: want the host's, and the sandbox's namespace left out", len(held.States), held.Unread, err)
	}
	for _, s := range held.States {
		if s.At != "gvisor.h1" {
			t.Errorf("a state was read at %s", s.At)
		}
	}
	if printed := shell(t, l, "gvisor.h1/c1", "cat /proc/version; ip -4 addr show dev eth0"); !strings.Contains(printed, "gvisor") || !strings.Contains(printed, "10.101.0.2/16") {
		t.Errorf("in the sandbox: %s", printed)
	}
	if _, err := l.Attach(t.Context(), "gvisor", network.SameHost); err == nil || !strings.Contains(err.Error(), "a sandbox takes its addresses over") {
		t.Errorf("attach: %v", err)
	}
	if op, err := l.Lifecycle(t.Context(), "gvisor"); err != nil || op.Create <= 0 || op.Remove <= 0 {
		t.Errorf("lifecycle: %+v, %v", op, err)
	}
	if _, status, err := exec(t.Context(), l, "gvisor.h1/c1", "sh", "-c", "exit 7"); err != nil || status != 7 {
		t.Errorf("exit status %d, %v, want 7", status, err)
	}
}

// The sandbox takes addresses of IPv6 over as well.
func TestRealGvisorOverIPv6(t *testing.T) {
	if !asRoot(t) {
		return
	}
	spec := on("gvisor")
	spec.IP = wire.IPv6
	l := build(t, spec)
	b := built(t, l, "gvisor")
	n, _ := network.Find("gvisor")
	for _, path := range n.Paths {
		if dial := b.Paths[path].Dial; wire.IPOf(dial) != wire.IPv6 {
			t.Errorf("%s is measured at %s", path, dial)
		}
		for _, name := range []string{"tcp_rr", "udp_rr"} {
			if out := measure(t, l, b, path, name, workload.Run{Size: 64, CC: "cubic", OwnClocks: true}); out.Client.Work <= 0 {
				t.Errorf("%s on %s: nothing was carried", name, path)
			}
		}
	}
}
