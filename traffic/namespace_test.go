package traffic

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// place is a network namespace of a test.
type place struct{ ns *os.File }

// newPlace makes an empty namespace, which ends with the test.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{}
	onOwnThread(func() {
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			p.ns, err = os.Open("/proc/thread-self/ns/net")
		}
		if err != nil {
			t.Errorf("make a namespace: %v: run the tests as root", err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { p.ns.Close() })
	return p
}

// in runs f on its own thread in the namespace and waits for it.
func (p *place) in(t *testing.T, f func()) {
	onOwnThread(func() {
		if err := unix.Setns(int(p.ns.Fd()), unix.CLONE_NEWNET); err != nil {
			t.Errorf("enter a namespace: %v", err)
			return
		}
		f()
	})
}

// onOwnThread runs f on a thread that ends with it.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good
		f()
	}()
	<-done
}

// path is two namespaces joined by a veth pair.
type path struct {
	near, far *place
	to        netip.AddrPort // an address at the far end
}

const (
	nearLink, farLink = "near", "far"
	nearCIDR, farCIDR = "10.9.0.1/24", "10.9.0.2/24"
)

func newPath(t *testing.T) *path {
	t.Helper()
	p := &path{near: newPlace(t), far: newPlace(t), to: netip.MustParseAddrPort("10.9.0.2:0")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	up := func(name, cidr string) {
		link, err := netlink.LinkByName(name)
		must(err)
		addr, err := netlink.ParseAddr(cidr)
		must(err)
		must(netlink.AddrAdd(link, addr))
		must(netlink.LinkSetUp(link))
	}
	p.near.in(t, func() {
		must(netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: nearLink}, PeerName: farLink, PeerNamespace: netlink.NsFd(p.far.ns.Fd()),
		}))
		up(nearLink, nearCIDR)
	})
	p.far.in(t, func() {
		up(farLink, farCIDR)
		must(awaitUp(netlink.LinkByName, farLink))
	})
	p.near.in(t, func() { must(awaitUp(netlink.LinkByName, nearLink)) })
	if t.Failed() {
		t.FailNow()
	}
	return p
}

// awaitUp waits until a link carries packets: what is sent before is dropped, and sent again
// a second later.
func awaitUp(find func(string) (netlink.Link, error), name string) error {
	for limit := time.Now().Add(labtest.Generous); ; sleep(tick / 10) {
		link, err := find(name)
		if err != nil || link.Attrs().OperState == netlink.OperUp {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("link %s is %s", name, link.Attrs().OperState)
		}
	}
}

// cutLink takes the near end's link down.
func (p *path) cutLink(t *testing.T) {
	p.near.in(t, func() {
		link, err := netlink.LinkByName(nearLink)
		if err == nil {
			err = netlink.LinkSetDown(link)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// eatPackets makes the path swallow every packet: both ends send to addresses
// of the Ethernet that no device has.
func (p *path) eatPackets(t *testing.T) {
	eat := func(name, cidr string) {
		link, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.NeighSet(&netlink.Neigh{
				LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT,
				IP:           net.IP(netip.MustParsePrefix(cidr).Addr().AsSlice()),
				HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 99},
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
	p.near.in(t, func() { eat(nearLink, farCIDR) })
	p.far.in(t, func() { eat(farLink, nearCIDR) })
}
