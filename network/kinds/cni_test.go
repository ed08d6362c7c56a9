package kinds_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/site"
	"tare/test/labtest"
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

// The plugins of the CNI project, by several lists, beside lists that fail.
func TestRealCNI(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all := clusters("cni")
	for _, list := range []string{"ptp", "macvlan", "bandwidth", "firewall"} {
		all = append(all, onCNI(t, list))
	}
	all = append(all, withOwnPlugin(t), with("tables", "cni", catalog.Backend, catalog.ByNftables))
	absent, none := onCNI(t, "unknown"), with("none", "cni", "cni", filepath.Join(t.TempDir(), "no.conflist"))
	without, unlike := overVersion6(onCNI(t, "ptp")), overVersion6(with("unlike", "cni", "cni", otherRange(t)))
	without.Name = "without"
	l := tryBuild(t, append(all, absent, none, without, unlike)...)
	for _, spec := range all {
		if why := built(t, l, spec.Name).Error; why != "" {
			t.Fatalf("%s: %s", spec.Name, why)
		}
	}
	keepPromises(t, l)
	t.Run("a list that fails says what is missing", func(t *testing.T) {
		if b := built(t, l, absent.Name); b.Missing != "CNI plugin sidewinder" || !strings.Contains(b.Get, "--cni-bin") {
			t.Errorf("missing %q, get %q, error %q", b.Missing, b.Get, b.Error)
		}
		if b := built(t, l, none.Name); b.Missing != "CNI configuration list" || !strings.Contains(b.Error, "no such file") {
			t.Errorf("error %q", b.Error)
		}
	})
	// A list without IPv6, or with other addresses of it than belong to those of IPv4, is refused.
	t.Run("a list needs the range of IPv6", func(t *testing.T) {
		for name, want := range map[string]string{without.Name: "it has no IPv6 address beside 10.101.", unlike.Name: "it has the IPv6 address fd00:1::"} {
			if b := built(t, l, name); !strings.Contains(b.Error, want) || !strings.Contains(b.Error, "{{.Subnet6}}") {
				t.Errorf("%s: error %q", name, b.Error)
			}
		}
	})
	t.Run("a published port is no longer the host's own", func(t *testing.T) {
		for _, b := range l.Topology.Clusters {
			for _, path := range []string{catalog.PublishedPort, catalog.ContainerToPublishedPort, catalog.ContainerToOwnHost} {
				publishes := b.Name == "cni" || b.Name == "cni6" || b.Name == "tables"
				if want := publishes == catalog.ByPublishedPort(path); b.Error == "" && slices.Contains(b.Unserved, path) == want {
					t.Errorf("%s does not serve %v", b.Name, b.Unserved)
				}
			}
		}
	})
	t.Run("portmap publishes", func(t *testing.T) {
		if got := seenAs(t, l, "cni.h1/c1", publishedAddress, "cni.h2/c1", containerAddress); got != "10.101.0.2" {
			t.Errorf("the server sees h1/c1 as %s", got)
		}
	})
	t.Run("portmap publishes by nftables", func(t *testing.T) {
		if got := seenAs(t, l, "tables.h1/c1", publishedAddress, "tables.h2/c1", containerAddress); got != "10.101.0.2" {
			t.Errorf("the server sees h1/c1 as %s", got)
		}
		labtest.Contains(t, "tables", shell(t, l, "tables.h2", "nft list ruleset"), "cni_hostport")
		labtest.Equal(t, "rules of iptables", shell(t, l, "tables.h2", "iptables-save | grep CNI || true"), "")
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
			labtest.NotEqual(t, "kind of "+link.Name, link.Kind, "bridge")
		}
	})
	// The list asks for 100 Mbit/s, which TestDeepRatesAreFilled holds it to.
	t.Run("bandwidth limits the rate", func(t *testing.T) {
		labtest.Contains(t, "the qdiscs", shell(t, l, "cni-bandwidth.h1", "tc qdisc show"), "rate 100Mbit")
	})
	t.Run("firewall accepts by address", func(t *testing.T) {
		rules := shell(t, l, "cni-firewall.h1", "iptables -S CNI-FORWARD")
		labtest.Contains(t, "chain CNI-FORWARD", rules, "-s 10.101.0.2/32 -j ACCEPT")
		labtest.Contains(t, "chain CNI-FORWARD", rules, "-d 10.101.0.2/32")
	})
	t.Run("iproute2 knows the containers", func(t *testing.T) {
		labtest.Contains(t, "addresses", shell(t, l, "cni.h1", "ip -n c1 -o -4 addr show dev eth0"), "10.101.0.2/16")
	})
}

// withOwnPlugin is a cluster whose plugin is found in the folder of --cni-bin.
func withOwnPlugin(t *testing.T) site.ClusterSpec {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink("/usr/lib/cni/ptp", filepath.Join(folder, "own")); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "own.conflist")
	text := `{"cniVersion": "1.0.0", "name": "own", "plugins": [{"type": "own", "ipam": {"type": "host-local", "subnet": "{{.Subnet}}", "routes": [{"dst": "0.0.0.0/0"}]}}]}`
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := with("own", "cni", "cni", list)
	spec.Params["cni_bin"] = folder
	return spec
}

// otherRange is a list with a range of IPv6 that is not the lab's.
func otherRange(t *testing.T) string {
	t.Helper()
	four, err := os.ReadFile("testdata/cni/ptp.conflist")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.conflist")
	list := strings.Replace(string(four), `"subnet": "{{.Subnet}}"`, `"ranges": [[{"subnet": "{{.Subnet}}"}], [{"subnet": "fd00:1::/64"}]]`, 1)
	if err := os.WriteFile(other, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return other
}
