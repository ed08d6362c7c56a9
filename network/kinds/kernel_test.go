package kinds_test

import (
	"strconv"
	"strings"
	"testing"

	"tare/network/kinds"
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

// virtualFunctions are what may be named by --vf on a machine without such a card, and what is
// said of it.
func virtualFunctions() map[string]string {
	return map[string]string{
		"":                          "--vf",
		"0000:3b:02.0":              "fewer virtual functions than hosts",
		"eth0,eth1":                 "give its PCI address",
		"ffff:ff:1f.7,ffff:ff:1f.6": "no such PCI device",
	}
}

// The networks that each need something else. Those that this machine has keep what
// networks promise, the others name what they lack.
func TestRealOtherNetworks(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all := append(clusters("other"), on("veth"), on("ptp"))
	for vf := range virtualFunctions() {
		all = append(all, with("vf-"+strconv.Itoa(len(vf)), "sr-iov", "vf", vf))
	}
	l := tryBuild(t, all...)
	t.Run("each runs or says what is missing", func(t *testing.T) {
		for _, b := range l.Topology.Clusters {
			runsOrSays(t, l, b)
		}
	})
	keepPromises(t, l)
	t.Run("virtual functions are those that are named", func(t *testing.T) {
		for vf, want := range virtualFunctions() {
			if got := built(t, l, "vf-"+strconv.Itoa(len(vf))).Error; !strings.Contains(got, want) {
				t.Errorf("--vf %q: %q, want %q", vf, got, want)
			}
		}
	})
	t.Run("HAVS cannot be had", func(t *testing.T) {
		b := built(t, l, "havs")
		if b.Missing != "HAVS" || !strings.Contains(b.Error, "closed source") || !strings.Contains(b.Get, "docs/networks/havs.md") {
			t.Errorf("havs: %+v", b)
		}
	})
	t.Run("redirected packets pass no stack", func(t *testing.T) { passesNoStack(t, l) })
	t.Run("wireguard-go encapsulates", func(t *testing.T) { encapsulates(t, l, built(t, l, "wireguard-go"), "wg0", wire.Wireguard()) })
}

// runsOrSays holds that a network of a module runs where iproute2 can make the same, and
// elsewhere names what is missing and how to get it; and that of the others only netkit may be
// missing, and what needs a card or somebody's closed source.
func runsOrSays(t *testing.T, l *site.Lab, b site.Built) {
	n, _ := kinds.Find(b.Network)
	module, known := modules()[b.Network]
	if !known {
		says := b.Network == "netkit" && b.Missing != "" && b.Get != ""
		if b.Error != "" && !says && b.Network != "sr-iov" && b.Network != "havs" {
			t.Errorf("%s: %s", b.Name, b.Error)
		}
		return
	}
	printed, status, err := exec(t.Context(), l, "veth.h1", "sh", "-c", module.ask+" 2>&1")
	if err != nil {
		t.Fatal(err)
	}
	if status == 0 {
		shell(t, l, "veth.h1", "ip link del try 2>/dev/null || ip xfrm state flush")
	}
	switch {
	case status == 0 && b.Error != "":
		t.Errorf("%s: %s, but %q works", b.Name, b.Error, module.ask)
	case status != 0 && (b.Missing != n.Missing || b.Get != module.get || !strings.Contains(b.Error, "try") && !strings.Contains(b.Error, "trial")):
		t.Errorf("%s is missing (%s): %q, %q: %s", b.Name, printed, b.Missing, b.Get, b.Error)
	}
}
