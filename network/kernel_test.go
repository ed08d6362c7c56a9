package network_test

import (
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
)

// modules are the networks that a kernel may lack, how iproute2 asks for the
// same, and how to get it.
func modules() map[string]struct{ ask, get string } {
	return map[string]struct{ ask, get string }{
		"ipvlan":    {"ip link add try link eth0 type ipvlan mode l2", "modprobe ipvlan"},
		"gre":       {"ip link add try type gre local 10.0.0.1 remote 10.0.0.9", "modprobe ip_gre"},
		"geneve":    {"ip link add try type geneve id 7 remote 10.0.0.9", "modprobe geneve"},
		"wireguard": {"ip link add try type wireguard", "modprobe wireguard"},
		"ipsec": {"ip xfrm state add src 10.0.0.8 dst 10.0.0.9 proto esp spi 9 mode tunnel aead 'rfc4106(gcm(aes))' " +
			"0x0102030405060708090a0b0c0d0e0f1011121314 128", "modprobe esp4"},
	}
}

// Each runs where iproute2 can make the same, and carries traffic; elsewhere it
// names what is missing and how to get it.
func TestLabNetworksOfModules(t *testing.T) {
	all := []site.ClusterSpec{on("veth")}
	for name := range modules() {
		all = append(all, on(name))
	}
	l := tryBuild(t, all...)
	for name, module := range modules() {
		n, _ := network.Find(name)
		b := built(t, l, name)
		printed, status, err := exec(t.Context(), l, "veth.h1", "sh", "-c", module.ask+" 2>&1")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case status == 0 && b.Error != "":
			t.Errorf("%s: %s, but %q works", name, b.Error, module.ask)
		case status == 0:
			for _, path := range n.Paths {
				carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
			}
			if got := link(t, l, name+".h1/c1", lab.Device).MTU; got != wire.InnerMTU(1500, n.Stack) {
				t.Errorf("%s: MTU is %d", name, got)
			}
		case b.Missing != n.Missing || b.Get != module.get || !strings.Contains(b.Error, "try") && !strings.Contains(b.Error, "trial"):
			t.Errorf("%s is missing (%s): %q, %q: %s", name, printed, b.Missing, b.Get, b.Error)
		}
	}
}

func TestLabSRIOVTakesWhatIsNamed(t *testing.T) {
	for vf, want := range map[string]string{
		"":                          "--vf",
		"0000:3b:02.0":              "fewer virtual functions than hosts",
		"eth0,eth1":                 "give its PCI address",
		"ffff:ff:1f.7,ffff:ff:1f.6": "no such PCI device",
	} {
		spec := on("sr-iov")
		spec.Params = map[string]string{"vf": vf}
		if got := built(t, tryBuild(t, spec), "sr-iov").Error; !strings.Contains(got, want) {
			t.Errorf("--vf %q: %q, want %q", vf, got, want)
		}
	}
}

func TestLabHAVSCannotBeHad(t *testing.T) {
	b := built(t, tryBuild(t, on("havs")), "havs")
	if b.Missing != "HAVS" || !strings.Contains(b.Error, "closed source") || !strings.Contains(b.Get, "docs/networks/havs.md") {
		t.Errorf("havs: %+v", b)
	}
}
