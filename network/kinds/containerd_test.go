package kinds_test

import (
	"fmt"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// containerd-bridge, also with its settings off.
func TestRealContainerd(t *testing.T) {
	if !asRoot(t) {
		return
	}
	off := with("off", "containerd-bridge", "ip_masq", "off")
	off.Params["promisc_mode"] = "off"
	l := build(t, append(clusters("containerd"), off)...)
	keepPromises(t, l)
	t.Run("its parts report their versions", func(t *testing.T) {
		for _, part := range []string{"containerd", "runc", "iptables"} {
			labtest.Contains(t, "version of "+part, built(t, l, "containerd-bridge").Parts[part], ".")
		}
	})
	t.Run("containers of a pod share its loopback", func(t *testing.T) { testSamePod(t, l) })
	t.Run("its settings show", func(t *testing.T) { testPodSettings(t, l) })
	t.Run("containers have their host's CPUs and are in the lab's group", func(t *testing.T) { testPodConfinement(t, l) })
	t.Run("containers have the machine's programs", func(t *testing.T) { hasTheMachinesPrograms(t, l, "containerd-bridge") })
	t.Run("a command's exit status passes", func(t *testing.T) {
		if _, status, err := exec(t.Context(), l, "containerd-bridge.h1/c1", "/proc/self/exe", "greet", "nowhere"); err != nil || status != 1 {
			t.Errorf("status %d, %v", status, err)
		}
	})
}

// The last container of a host is in the pod of its first: what they send
// to each other crosses the loopback and nothing else.
func testSamePod(t *testing.T, l *site.Lab) {
	b := built(t, l, "containerd-bridge")
	ends := b.Paths[catalog.SamePod]
	if ends.Client != "h1/c1" || ends.Server != "h1/c3" {
		t.Fatalf("ends %+v", ends)
	}
	at := b.Name + ".h1/c1"
	before, beforeLo := link(t, l, at, "eth0"), link(t, l, at, "lo")
	work := measure(t, l, b, catalog.SamePod, "tcp_rr", workload.Run{Size: 1}).Client.Work
	after, afterLo := link(t, l, at, "eth0"), link(t, l, at, "lo")
	if crossed := float64(afterLo.TxPackets - beforeLo.TxPackets); crossed < work {
		t.Errorf("%.0f packets crossed the loopback in %.0f transactions", crossed, work)
	}
	if after.TxPackets-before.TxPackets > 10 { // what the kernel sends by itself
		t.Errorf("%d packets left the pod", after.TxPackets-before.TxPackets)
	}
}

// With ipMasq a server on the other host sees the client's host, with
// promiscMode the bridge accepts every frame.
func testPodSettings(t *testing.T, l *site.Lab) {
	const promiscuous = 0x100 // IFF_PROMISC, linux/if.h
	for name, want := range map[string]struct {
		client string
		flag   uint
	}{"containerd-bridge": {host1, promiscuous}, "off": {"10.101.0.2", 0}} {
		server := built(t, l, name).Paths[catalog.CrossHost].Bind.String()
		if got := seenAs(t, l, name+".h1/c1", server+":99", name+".h2/c1", server+":99"); got != want.client {
			t.Errorf("%s: the server sees h1/c1 as %s, want %s", name, got, want.client)
		}
		text, _, err := exec(t.Context(), l, name+".h1", "cat", "/sys/class/net/cni0/flags")
		if err != nil {
			t.Fatal(err)
		}
		var flags uint
		if _, err := fmt.Sscanf(text, "%v", &flags); err != nil || flags&promiscuous != want.flag {
			t.Errorf("%s: flags of cni0 are %#x, %v", name, flags, err)
		}
		rules, _, err := exec(t.Context(), l, name+".h2", "iptables", "-t", "nat", "-S")
		if err != nil || !strings.Contains(rules, "--dport 5210") {
			t.Errorf("%s: rules\n%s%v", name, rules, err)
		}
	}
}

func testPodConfinement(t *testing.T, l *site.Lab) {
	b := built(t, l, "containerd-bridge")
	for _, host := range []string{"h1", "h2"} {
		text, status, err := exec(t.Context(), l, b.Name+"."+host+"/c1", "/proc/self/exe", "confined")
		cpus, groups, _ := strings.Cut(text, "\n")
		if err != nil || status != 0 || cpus != b.CPUs[host] {
			t.Errorf("c1 of %s runs on %q, its host on %q; %v", host, cpus, b.CPUs[host], err)
		}
		if !strings.Contains(groups, "/"+l.Topology.Spec.Cgroup+lab.CgroupMark+b.CPUs[host]+"/") {
			t.Errorf("c1 of %s is in\n%s", host, groups)
		}
	}
}
