package network_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/network"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// onCNI is a cluster with a configuration list of testdata; "": the default.
func onCNI(t *testing.T, list string) site.ClusterSpec {
	t.Helper()
	spec := on("cni")
	if list == "" {
		return spec
	}
	path, err := filepath.Abs("testdata/cni/" + list + ".conflist")
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Params = "cni-"+list, map[string]string{"cni": path}
	return spec
}

// buildCNI builds several configuration lists side by side.
func buildCNI(t *testing.T, lists ...string) *site.Lab {
	t.Helper()
	for _, path := range []string{"/var/lib/cni", "/run/netns"} {
		leavesNoFile(t, path)
	}
	var clusters []site.ClusterSpec
	for _, list := range lists {
		clusters = append(clusters, onCNI(t, list))
	}
	return leavesNoCgroup(t, func() *site.Lab { return build(t, clusters...) })
}

// The plugins of the CNI project carry traffic on every path that they serve.
func TestRealCNIPlugins(t *testing.T) {
	l := buildCNI(t, "", "ptp", "macvlan", "bandwidth", "firewall")
	published := []string{network.PublishedPort, network.ContainerToPublishedPort}
	routed := []string{network.SameHost, network.CrossHost, network.HostToContainer}
	own := append([]string{network.ContainerToOwnHost}, routed...)
	for name, paths := range map[string][]string{
		"cni":           append(published[:2:2], routed...),
		"cni-ptp":       own,
		"cni-macvlan":   routed,
		"cni-bandwidth": own,
		"cni-firewall":  own,
	} {
		t.Run(name, func(t *testing.T) {
			b := built(t, l, name)
			for _, path := range paths {
				carries(t, l, b, path, 1500)
			}
			for n, path := range append(published[:2:2], network.ContainerToOwnHost) {
				// A published port is no longer the host's own.
				if _, served := b.Paths[path]; served != (name == "cni" == (n < 2)) || served == slices.Contains(b.Unserved, path) {
					t.Errorf("%s is served: %t; not: %v", path, served, b.Unserved)
				}
			}
		})
	}
	t.Run("portmap publishes", func(t *testing.T) {
		if got := seenAs(t, l, "cni.h1/c1", publishedAddress, "cni.h2/c1", containerAddress); got != "10.101.0.2" {
			t.Errorf("the server sees h1/c1 as %s", got)
		}
	})
	t.Run("macvlan has an address on the underlay", func(t *testing.T) {
		if got := link(t, l, "cni-macvlan.h1/c1", "eth0"); got.Kind != "macvlan" || !slices.Equal(got.Addresses, []netip.Prefix{netip.MustParsePrefix("10.0.4.1/16")}) {
			t.Errorf("eth0 %+v", got)
		}
	})
	t.Run("ptp has no bridge", func(t *testing.T) {
		held, err := l.Look(t.Context(), "cni-ptp.h1")
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range held[0].Links {
			if link.Kind == "bridge" {
				t.Errorf("%s is a bridge", link.Name)
			}
		}
	})
	t.Run("bandwidth limits the rate", func(t *testing.T) { testCNIRate(t, l) })
	t.Run("firewall accepts by address", func(t *testing.T) {
		rules, status, err := exec(t.Context(), l, "cni-firewall.h1", "iptables", "-S", "CNI-FORWARD")
		if err != nil || status != 0 {
			t.Errorf("list rules: status %d, %v", status, err)
		}
		labtest.Contains(t, "chain CNI-FORWARD", rules, "-s 10.101.0.2/32 -j ACCEPT")
		labtest.Contains(t, "chain CNI-FORWARD", rules, "-d 10.101.0.2/32")
	})
	t.Run("iproute2 knows the containers", func(t *testing.T) {
		text, status, err := exec(t.Context(), l, "cni.h1", "ip", "-n", "c1", "-o", "-4", "addr", "show", "dev", "eth0")
		if err != nil || status != 0 || !strings.Contains(text, "10.101.0.2/16") {
			t.Errorf("%s%v", text, err)
		}
	})
}

// The list asks for 100 Mbit/s and a burst of 0.1 MB.
func testCNIRate(t *testing.T, l *site.Lab) {
	out := measure(t, l, built(t, l, "cni-bandwidth"), network.CrossHost, "tcp_stream",
		workload.Run{Size: 128 << 10, Warmup: 300 * time.Millisecond, Duration: 700 * time.Millisecond})
	got := out.Server.Metrics["throughput"] + out.Client.Metrics["throughput"] // one end measures it
	if got < 50e6 || got > 101e6 {
		t.Errorf("%.1f Mbit/s pass a limit of 100", got/1e6)
	}
}

// A plugin is found in the folder of --cni-bin.
func TestRealCNITakesAFolderOfPlugins(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink("/usr/lib/cni/ptp", filepath.Join(folder, "own")); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "own.conflist")
	text := `{"cniVersion": "1.0.0", "name": "own", "plugins": [{"type": "own", "ipam": {"type": "host-local", "subnet": "{{.Subnet}}", "routes": [{"dst": "0.0.0.0/0"}]}}]}`
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := on("cni")
	spec.Params = map[string]string{"cni": list, "cni_bin": folder}
	l := build(t, spec)
	carries(t, l, built(t, l, "cni"), network.CrossHost, 1500)
}

// A list that fails reports what it lacks, and leaves the others.
func TestRealCNIErrorsSayWhatIsMissing(t *testing.T) {
	absent, missing := onCNI(t, "unknown"), on("cni")
	missing.Name, missing.Params = "missing", map[string]string{"cni": filepath.Join(t.TempDir(), "no.conflist")}
	l := tryBuild(t, absent, missing, on("cni"))
	if b := built(t, l, absent.Name); b.Missing != "CNI plugin sidewinder" || !strings.Contains(b.Get, "--cni-bin") {
		t.Errorf("missing %q, get %q, error %q", b.Missing, b.Get, b.Error)
	}
	if b := built(t, l, "missing"); b.Missing != "CNI configuration list" || !strings.Contains(b.Error, "no such file") {
		t.Errorf("error %q", b.Error)
	}
	carries(t, l, built(t, l, "cni"), network.CrossHost, 1500)
}

// A list without IPv6, or with other addresses of it than belong to those of IPv4, is refused
// where the lab has IPv6.
func TestRealCNIListNeedsTheRangeOfIPv6(t *testing.T) {
	folder := t.TempDir()
	four, err := os.ReadFile("testdata/cni/ptp.conflist")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(folder, "other.conflist")
	list := strings.Replace(string(four), `"subnet": "{{.Subnet}}"`, `"ranges": [[{"subnet": "{{.Subnet}}"}], [{"subnet": "fd00:1::/64"}]]`, 1)
	if err := os.WriteFile(other, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	without, unlike := overVersion6(onCNI(t, "ptp")), overVersion6(on("cni"))
	unlike.Name, unlike.Params = "unlike", map[string]string{"cni": other}
	l := tryBuild(t, without, unlike)
	for name, want := range map[string]string{without.Name: "it has no IPv6 address beside 10.101.", "unlike": "it has the IPv6 address fd00:1::"} {
		if b := built(t, l, name); !strings.Contains(b.Error, want) || !strings.Contains(b.Error, "{{.Subnet6}}") {
			t.Errorf("%s: error %q", name, b.Error)
		}
	}
}
