package traffictest

import (
	"errors"
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
	"tare/traffic"
)

// Place is a network namespace of a test.
type Place struct{ ns *os.File }

// NewPlace makes an empty namespace, which ends with the test.
func NewPlace(t *testing.T) *Place {
	t.Helper()
	p := &Place{}
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

// In runs f on its own thread in the namespace and waits for it.
func (p *Place) In(t *testing.T, f func()) {
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

// Path is two namespaces joined by a veth pair.
type Path struct {
	Near, Far *Place
	To        netip.AddrPort // an address at the far end
}

const (
	nearLink, farLink = "near", "far"
	nearCIDR, farCIDR = "10.9.0.1/24", "10.9.0.2/24"
)

// NewPath makes both namespaces, which end with the test.
func NewPath(t *testing.T) *Path {
	t.Helper()
	p := &Path{Near: NewPlace(t), Far: NewPlace(t), To: netip.MustParseAddrPort("10.9.0.2:0")}
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
	p.Near.In(t, func() {
		must(netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: nearLink}, PeerName: farLink, PeerNamespace: netlink.NsFd(p.Far.ns.Fd()),
		}))
		up(nearLink, nearCIDR)
	})
	p.Far.In(t, func() {
		up(farLink, farCIDR)
		must(AwaitUp(netlink.LinkByName, farLink))
	})
	p.Near.In(t, func() { must(AwaitUp(netlink.LinkByName, nearLink)) })
	if t.Failed() {
		t.FailNow()
	}
	return p
}

// AwaitUp waits until a link carries packets: what is sent before is dropped, and sent again
// a second later.
func AwaitUp(find func(string) (netlink.Link, error), name string) error {
	for limit := time.Now().Add(labtest.Generous); ; traffic.Sleep(traffic.Tick / 10) {
		link, err := find(name)
		if err != nil || link.Attrs().OperState == netlink.OperUp {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("link %s is %s", name, link.Attrs().OperState)
		}
	}
}

// CutLink takes the near end's link down.
func (p *Path) CutLink(t *testing.T) {
	p.Near.In(t, func() {
		link, err := netlink.LinkByName(nearLink)
		if err == nil {
			err = netlink.LinkSetDown(link)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// EatPackets makes the path swallow every packet: both ends send to addresses
// of the Ethernet that no device has.
func (p *Path) EatPackets(t *testing.T) {
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
	p.Near.In(t, func() { eat(nearLink, farCIDR) })
	p.Far.In(t, func() { eat(farLink, nearCIDR) })
}

// Try fails the test for an error that setting up met.
func Try(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
