package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/test/labtest"
)

// ofTheKernel are the networks whose parts a kernel may lack, by lab: each command of tare
// takes seconds on an emulated CPU. Where the kernel lacks a part, some have a stand-in, and
// the others are missing.
var ofTheKernel = map[string][]string{
	"plain":  {"vlan", "bridge-vlan", "macnat", "ipvlan", "bgp-ipip", "gre", "geneve", "wireguard", "ipsec", "ebpf-redirect", "netkit"},
	"ovs":    {"ovs", "ovs-vlan", "ovs-vxlan", "ovs-multitable", "ovn"},
	"docker": {"docker-ovs"},
}

// since are the first versions of Linux with what some networks need, which an older kernel
// must name, as in these words.
var since = map[string]struct {
	major, minor int
	lacks        string
}{
	"netkit": {6, 7, "Linux 6.7 or later with CONFIG_NETKIT"},
}

// lacks reports whether this kernel is too old for a network.
func lacks(t *testing.T, name string) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(text), "%d.%d", &major, &minor); err != nil {
		t.Fatalf("read the kernel's version from %q: %v", text, err)
	}
	first, some := since[name]
	return some && (major < first.major || major == first.major && minor < first.minor)
}

// refuses checks that a lab is not built with a network that the kernel is too old for.
func refuses(t *testing.T, name string) {
	t.Helper()
	refused := exec.Command(labtest.Tare(t), "lab", "up", name, "--name", "refused")
	said, err := refused.CombinedOutput()
	if refused.ProcessState == nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "exit status of "+refused.String(), refused.ProcessState.ExitCode(), 3)
	labtest.Contains(t, "what it said", string(said), since[name].lacks)
}

// run runs tare and returns what it wrote; the test fails if it fails.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command(labtest.Tare(t), args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Errorf("tare %s: %v: %s", strings.Join(args, " "), err, said.String())
	}
	return out.Bytes()
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("read what tare wrote: %v: %s", err, text)
	}
	return v
}

// listed is a network as tare list names it.
type listed struct {
	Name, Fidelity, Missing, Get string
	Available                    bool
}

// TestVMNetworks sets up the networks, enters a container of each, lets the doctor send over
// each path, weighs them between hosts, and takes them down.
func TestVMNetworks(t *testing.T) {
	labtest.NeedsVM(t)
	hasEveryPart(t)
	for lab, networks := range ofTheKernel {
		networks = slices.DeleteFunc(slices.Clone(networks), func(name string) bool { return lacks(t, name) })
		t.Run(lab, func(t *testing.T) {
			labtest.NoLeaks(t)
			run(t, "lab", "up", strings.Join(networks, ","), "--name", lab, "--load-modules")
			defer run(t, "lab", "down", "--name", lab)
			for _, name := range networks {
				run(t, "lab", "exec", "--name", lab, name+".h1/c1", "--", "ip", "address", "show", "dev", "eth0")
			}
			for _, f := range decode[result.Result](t, run(t, "doctor", "--lab", lab, "--json")).Findings {
				t.Errorf("the doctor finds %s: %+v", f.Cause, f.Evidence)
			}
			areWeighed(t, lab, networks)
		})
	}
	t.Run("services", areServedByIPVS)
	t.Run("IPv6", areWeighedOverIPv6)
}

// areWeighed weighs the networks of a lab: in windows, since an emulated CPU is too slow for
// slots.
func areWeighed(t *testing.T, lab string, networks []string) {
	t.Helper()
	res := decode[result.Result](t, run(t, "run", "--lab", lab, "--paths", catalog.CrossHost,
		"--workloads", "tcp_rr", "--blocks", "6", "--duration", "50ms", "--design", "windows", "--json"))
	measured := map[string]int{}
	for _, c := range res.Cells {
		if c.Status != result.StatusOK || c.Fidelity == catalog.StandIn {
			t.Errorf("%s on %s: %s, %s: %s", c.Network, c.Path, c.Fidelity, c.Status, c.Reason)
		}
		labtest.Equal(t, c.Network+" on "+c.Path+" is marked as emulated", c.Emulated(), res.Environment.Emulated())
		measured[c.Network]++
	}
	for _, name := range networks {
		labtest.AtLeast(t, "cells of "+name, measured[name], 1)
	}
}

// areServedByIPVS sends over all paths of a Service among 300, whose servers IPVS has, and
// weighs one of them.
func areServedByIPVS(t *testing.T) {
	labtest.NoLeaks(t)
	run(t, "lab", "up", "service-ipvs", "--services", "300", "--backends", "3", "--name", "ipvs", "--load-modules")
	defer run(t, "lab", "down", "--name", "ipvs")
	for _, h := range []string{"h1", "h2"} {
		servers := string(run(t, "lab", "exec", "--name", "ipvs", h, "--", "ipvsadm", "--list", "--numeric"))
		labtest.Equal(t, "other Services in "+h, strings.Count(servers, ":80 rr"), 299)
		labtest.Equal(t, "endpoints of the measured one in "+h, strings.Count(servers, "-> 10.102.128.2:5210"), 2) // by its address and by the node's
	}
	n, _ := kinds.Find("service-ipvs")
	res := decode[result.Result](t, run(t, "run", "--lab", "ipvs", "--paths", strings.Join(n.Paths, ","),
		"--workloads", "tcp_crr", "--blocks", "1", "--duration", "50ms", "--design", "windows", "--json"))
	served := 0
	for _, c := range res.Cells {
		if c.Network != n.Name {
			continue
		}
		labtest.Equal(t, c.Path+": "+c.Reason, c.Status, result.StatusOK)
		served++
	}
	labtest.Equal(t, "paths that were weighed", served, len(n.Paths))
}

// hasEveryPart checks that the kernel has every network's part, and that a module that adds
// devices to the machine's own network is named, and not loaded, unless that is allowed.
func hasEveryPart(t *testing.T) {
	t.Helper()
	refused := exec.Command(labtest.Tare(t), "lab", "up", "gre", "--name", "refused")
	said, err := refused.CombinedOutput()
	if refused.ProcessState == nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "exit status of "+refused.String(), refused.ProcessState.ExitCode(), 3)
	labtest.Contains(t, "what it said", string(said), "--load-modules")
	modules, err := os.ReadFile("/proc/modules")
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "ip_gre was loaded", strings.Contains(string(modules), "ip_gre "), false)
	for _, n := range decode[[]listed](t, run(t, "list", "networks", "--probe", "--load-modules", "--json")) {
		if lacks(t, n.Name) {
			labtest.Equal(t, n.Name+" is available", n.Available, false)
			labtest.Equal(t, "how to get "+n.Missing, n.Get, since[n.Name].lacks)
			continue
		}
		if slices.Contains(slices.Concat(slices.Collect(maps.Values(ofTheKernel))...), n.Name) && (!n.Available || n.Fidelity == catalog.StandIn) {
			t.Errorf("%s is a %s, available: %t, missing: %q", n.Name, n.Fidelity, n.Available, n.Missing)
		}
	}
}
