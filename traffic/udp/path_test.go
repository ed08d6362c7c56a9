package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"tare/test/traffictest"
)

// machine is a network namespace with a thread inside.
type machine struct {
	t    testing.TB
	ns   netns.NsHandle
	link *netlink.Handle
	jobs chan func() error
	done chan error
}

// newMachine makes a namespace; it and its devices end with the test.
func newMachine(t testing.TB) *machine {
	t.Helper()
	m := &machine{t: t, jobs: make(chan func() error), done: make(chan error)}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		for job := range m.jobs {
			m.done <- job()
		}
	}()
	t.Cleanup(func() { close(m.jobs) })
	m.do(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w: this test needs root", err)
		}
		if m.ns, err = netns.Get(); err != nil {
			return err
		}
		m.link, err = netlink.NewHandleAt(m.ns)
		return errors.Join(err, traffictest.LoopbackUp())
	})
	t.Cleanup(func() {
		m.link.Close()
		if err := m.ns.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// do runs work in the namespace; what it opens stays there.
func (m *machine) do(work func() error) {
	m.t.Helper()
	m.jobs <- work
	if err := <-m.done; err != nil {
		m.t.Fatal(err)
	}
}

// device gives a device of the machine's.
func (m *machine) device(name string) netlink.Link {
	m.t.Helper()
	link, err := m.link.LinkByName(name)
	if err != nil {
		m.t.Fatal(err)
	}
	return link
}

// join makes a veth pair between two machines, each with its address.
func join(a, b *machine, nameA, nameB, addrA, addrB string) {
	a.t.Helper()
	traffictest.Try(a.t, a.link.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: nameA}, PeerName: nameB, PeerNamespace: netlink.NsFd(b.ns),
	}))
	for _, end := range []struct {
		m          *machine
		name, addr string
	}{{a, nameA, addrA}, {b, nameB, addrB}} {
		addr, err := netlink.ParseAddr(end.addr)
		traffictest.Try(a.t, err)
		link := end.m.device(end.name)
		traffictest.Try(a.t, end.m.link.AddrAdd(link, addr), end.m.link.LinkSetUp(link))
	}
	traffictest.Try(a.t, traffictest.AwaitUp(a.link.LinkByName, nameA), traffictest.AwaitUp(b.link.LinkByName, nameB))
}

// pair is two machines on one wire.
func pair(t testing.TB) (sender, receiver *machine) {
	t.Helper()
	sender, receiver = newMachine(t), newMachine(t)
	join(sender, receiver, "va", "vb", "10.9.0.1/24", "10.9.0.2/24")
	return sender, receiver
}

// chain is two machines with a router between them, which passes on so many
// bits per second towards the receiver and keeps at most limit bytes.
func chain(t testing.TB, bitsPerSecond uint64, limit uint32) (sender, receiver *machine) {
	t.Helper()
	sender, _, receiver = routed(t, bitsPerSecond, limit)
	return sender, receiver
}

// routed is chain with its router.
func routed(t testing.TB, bitsPerSecond uint64, limit uint32) (sender, router, receiver *machine) {
	t.Helper()
	sender, router, receiver = newMachine(t), newMachine(t), newMachine(t)
	join(sender, router, "va", "ra", "10.9.1.1/24", "10.9.1.254/24")
	join(receiver, router, "vb", "rb", "10.9.0.2/24", "10.9.0.254/24")
	router.do(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
	for m, via := range map[*machine]string{sender: "10.9.1.254", receiver: "10.9.0.254"} {
		gateway := netip.MustParseAddr(via).As4()
		traffictest.Try(t, m.link.RouteAdd(&netlink.Route{Gw: gateway[:]}))
	}
	throttle(router, "rb", bitsPerSecond, limit)
	return sender, router, receiver
}

// throttle lets a device send so many bits per second, and keep at most limit
// bytes.
func throttle(m *machine, device string, bitsPerSecond uint64, limit uint32) {
	m.t.Helper()
	const burst, clock = 2000, 15.625e6 // bytes; ticks of a second of 64 ns
	traffictest.Try(m.t, m.link.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: m.device(device).Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bitsPerSecond / 8, Limit: limit, Buffer: uint32(burst * 8 / float64(bitsPerSecond) * clock),
	}))
}

// misdirect makes all frames to an address carry a station that is not there.
func misdirect(m *machine, device, addr string) {
	m.t.Helper()
	traffictest.Try(m.t, m.link.NeighSet(&netlink.Neigh{
		LinkIndex: m.device(device).Attrs().Index, State: netlink.NUD_PERMANENT,
		IP: net.ParseIP(addr), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 1},
	}))
}

// listen listens on the machine. Who asks closes it, once.
func (m *machine) listen(addr string, sockets int) *Listener {
	m.t.Helper()
	var l *Listener
	m.do(func() (err error) {
		l, err = ListenGroup(netip.MustParseAddrPort(addr), sockets)
		return err
	})
	return l
}
