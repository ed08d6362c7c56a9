package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What sysfs shows of a virtual function, of a whole adapter, and of a function
// without a driver.
func TestVFDevice(t *testing.T) {
	devices := t.TempDir()
	for _, path := range []string{
		"0000:3b:02.0/physfn", "0000:3b:02.0/net/ens1v0",
		"0000:3b:00.0/net/ens1",
		"0000:3b:02.1/physfn",
		"0000:3b:02.2/physfn", "0000:3b:02.2/net/a", "0000:3b:02.2/net/b",
	} {
		if err := os.MkdirAll(filepath.Join(devices, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for pci, want := range map[string]string{
		"0000:3b:02.0": "ens1v0",
		"0000:3b:00.0": "not a virtual function",
		"0000:3b:02.1": "bind it to its kernel driver",
		"0000:3b:02.2": "it has 2",
		"0000:3b:02.7": "lspci -D",
		"ens1":         "give its PCI address",
		"../../../etc": "give its PCI address",
	} {
		device, err := vfDevice(devices, pci)
		if device != want && (err == nil || !strings.Contains(err.Error(), want) || device != "") {
			t.Errorf("VF %s is %q, %v; want %q", pci, device, err, want)
		}
	}
}

func testTakeFrom(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	c := create(t, cluster.Hosts[0])
	other := cluster.Hosts[1].Namespace
	must(t, AddVeth(End{other, "vf0", nil}, End{other, "vf0-peer", nil}, 1500))
	must(t, c.takeFrom(other.net, "vf0"), c.SetUp("vf0"))
	if got := linkOf(t, c.Namespace, "vf0"); !got.Up {
		t.Errorf("the device is %+v", got)
	}
	if err := c.takeFrom(other.net, "vf0"); err == nil || !strings.Contains(err.Error(), "find vf0") {
		t.Errorf("a device that is no longer there: %v", err)
	}
}
