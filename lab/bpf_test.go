package lab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// refused reports whether the kernel lacks the device and this user may load no
// program in its place. The error must include this reason.
func refused(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if IsRoot() || !errors.Is(err, errRoot) {
		t.Fatal(err)
	}
	return true
}

// tunnel makes a container on each host, and IPIP between the hosts. It is
// false where this user may not.
func tunnel(t *testing.T, cluster *Cluster, peers func(h *Host) []netip.Addr) bool {
	t.Helper()
	for _, h := range cluster.Hosts {
		_, err := h.AddIPIP(IPIP{Name: "ipip0", Local: h.Addr, Device: Device, MTU: cluster.Spec.MTU - 20, Peers: peers(h)})
		if refused(t, err) {
			return false
		}
		c := create(t, h)
		c.Addr = h.ContainerAddr(1)
		must(t, AddVeth(End{h.Namespace, "veth-c1", nil}, End{c.Namespace, Device, nil}, cluster.Spec.MTU-20))
		must(t, h.SetUp("veth-c1"), c.SetUp(Device))
		must(t, c.AddAddress(Device, netip.PrefixFrom(c.Addr, 32)))
		must(t, c.AddRoute(Route{To: Default(), Via: h.Addr, Device: Device, OnLink: true}))
		must(t, h.AddRoute(Route{To: netip.PrefixFrom(c.Addr, 32), Device: "veth-c1"}))
		for _, other := range cluster.Hosts {
			if other != h {
				must(t, h.AddRoute(Route{To: other.Subnet(), Via: other.Addr, Device: "ipip0", OnLink: true}))
			}
		}
	}
	return true
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// others are the addresses of all hosts but h.
func others(h *Host) []netip.Addr {
	var addrs []netip.Addr
	for _, other := range h.cluster.Hosts {
		if other != h {
			addrs = append(addrs, other.Addr)
		}
	}
	return addrs
}

// Each NIC model and each host: small and large messages go both ways between
// containers, and on the wire each packet has an outer header.
func testIPIP(t *testing.T) {
	for _, nic := range []NIC{NICFull, NICTSO, NICFrames, NICPlain} {
		l := open(t)
		spec := pairOf("x")
		spec.NIC, spec.Hosts = nic, 3
		cluster := setUp(t, l, spec)
		if !tunnel(t, cluster, others) {
			return
		}
		for _, far := range cluster.Hosts[1:] {
			from, to := cluster.Hosts[0].Containers()[0], far.Containers()[0]
			for _, size := range []int{1, 1452, 1 << 20} {
				echo(t, from.Namespace, to.Namespace, to.Addr, size)
			}
			seen := capture(t, far.Namespace, func() { datagram(t, from.Namespace, to.Namespace, to.Addr, 1452) })
			checkOuter(t, seen, cluster.Hosts[0].Addr, far.Addr, 1452+28)
		}
		before := linkOf(t, cluster.Hosts[0].Namespace, Device)
		echo(t, cluster.Hosts[0].Containers()[0].Namespace, cluster.Hosts[1].Containers()[0].Namespace, cluster.Hosts[1].Containers()[0].Addr, 1<<20)
		after := linkOf(t, cluster.Hosts[0].Namespace, Device)
		each := float64(after.TxBytes-before.TxBytes) / float64(after.TxPackets-before.TxPackets)
		if segments := each > 1514; segments != (nic == NICFull) {
			t.Errorf("NIC %s: a packet leaves with %.0f bytes", nic, each)
		}
		must(t, l.Remove(cluster))
	}
}

// Packets of a host that is not a peer are dropped.
func testIPIPUnknownSender(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	none := func(h *Host) []netip.Addr {
		if h == cluster.Hosts[1] {
			return nil
		}
		return others(h)
	}
	if !tunnel(t, cluster, none) {
		return
	}
	from, to := cluster.Hosts[0].Containers()[0], cluster.Hosts[1].Containers()[0]
	kind := linkOf(t, cluster.Hosts[1].Namespace, "ipip0").Kind
	patience := 200 * time.Millisecond // for an answer that should not come
	if kind == "ipip" {
		patience = echoWait
	}
	err := from.Do(func() error {
		conn, err := net.DialTimeout("tcp4", netip.AddrPortFrom(to.Addr, 9).String(), patience)
		if err == nil {
			conn.Close()
		}
		return err
	})
	timeout := net.Error(nil)
	if received := !errors.As(err, &timeout) || !timeout.Timeout(); received != (kind == "ipip") {
		t.Errorf("%s: a packet of a host that is not a peer: %v", kind, err)
	}
}

// echoWait is more than an answer takes on a machine that is not stuck.
const echoWait = time.Minute

// echo sends bytes over TCP to a place that sends them back.
func echo(t *testing.T, from, to *Namespace, addr netip.Addr, size int) {
	t.Helper()
	var listener net.Listener
	must(t, to.Do(func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(addr, 7).String())
		return err
	}))
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			// Hidden what they are: else Go splices, and keeps the pipe for the next time.
			_, err = io.CopyN(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}, int64(size))
			err = errors.Join(err, conn.Close())
		}
		ended <- err
	}()
	sent, got := bytes.Repeat([]byte{0xa5, 0x3c, 1}, size/3+1)[:size], make([]byte, size)
	err := from.Do(func() error {
		conn, err := net.DialTimeout("tcp4", netip.AddrPortFrom(addr, 7).String(), echoWait)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(echoWait)); err != nil {
			return err
		}
		wrote := make(chan error, 1)
		go func() { _, err := conn.Write(sent); wrote <- err }()
		_, err = io.ReadFull(conn, got)
		return errors.Join(err, <-wrote)
	})
	listener.Close()
	if err = errors.Join(err, <-ended); err != nil {
		t.Fatalf("%d bytes from %s to %s and back: %v", size, from.Name, to.Name, err)
	}
	if !bytes.Equal(sent, got) {
		t.Errorf("%d bytes came back from %s changed", size, to.Name)
	}
}

// datagram sends one, and waits for it.
func datagram(t *testing.T, from, to *Namespace, addr netip.Addr, size int) {
	t.Helper()
	at := net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 7))
	var in *net.UDPConn
	must(t, to.Do(func() (err error) { in, err = net.ListenUDP("udp4", at); return err }))
	defer in.Close()
	must(t, in.SetReadDeadline(time.Now().Add(echoWait)))
	must(t, from.Do(func() error {
		out, err := net.DialUDP("udp4", nil, at)
		if err != nil {
			return err
		}
		defer out.Close()
		_, err = out.Write(make([]byte, size))
		return err
	}))
	if n, err := in.Read(make([]byte, 2*size)); err != nil || n != size {
		t.Fatalf("%d bytes of %d arrive: %v", n, size, err)
	}
}

// frame is one as it came off the wire, and the tag that the kernel has taken
// out of it (0: none).
type frame struct {
	bytes []byte
	tag   uint16
}

// capture gives the frames that arrive at the host's interface meanwhile.
func capture(t *testing.T, ns *Namespace, meanwhile func()) []frame {
	t.Helper()
	var fd int
	must(t, ns.Do(func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	}))
	defer unix.Close(fd)
	index, err := ns.index(Device)
	must(t, err, unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1))
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	must(t, unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}))
	meanwhile()
	var frames []frame
	for {
		buf, oob := make([]byte, 64<<10), make([]byte, 256)
		n, oobn, _, from, err := unix.Recvmsg(fd, buf, oob, 0)
		if errors.Is(err, unix.EAGAIN) {
			return frames
		}
		must(t, err)
		if from.(*unix.SockaddrLinklayer).Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		frames = append(frames, frame{buf[:n], tagOf(t, oob[:oobn])})
	}
}

// tagOf reads struct tpacket_auxdata (linux/if_packet.h).
func tagOf(t *testing.T, oob []byte) uint16 {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(oob)
	must(t, err)
	for _, m := range messages {
		if m.Header.Type == unix.PACKET_AUXDATA && binary.NativeEndian.Uint32(m.Data)&unix.TP_STATUS_VLAN_VALID != 0 {
			return binary.NativeEndian.Uint16(m.Data[16:]) & vlanMask
		}
	}
	return 0
}

// checkOuter looks for a frame with an outer header from one host to another,
// around a packet of that length.
func checkOuter(t *testing.T, frames []frame, from, to netip.Addr, inner int) {
	t.Helper()
	var seen []string
	for _, f := range frames {
		if len(f.bytes) < ethernetHeader+2*ipv4Header {
			continue
		}
		ip := f.bytes[ethernetHeader:]
		src, _ := netip.AddrFromSlice(ip[ipSource:ipDest])
		dst, _ := netip.AddrFromSlice(ip[ipDest : ipDest+4])
		seen = append(seen, fmt.Sprintf("%s -> %s protocol %d", src, dst, ip[ipProtocol]))
		if src != from || dst != to || ip[ipProtocol] != protocolIPIP || ip[ipv4Header+ipProtocol] != unix.IPPROTO_UDP {
			continue // perhaps a late segment of the stream before
		}
		if length := int(binary.BigEndian.Uint16(ip[ipLength:])); length != inner+ipv4Header || len(ip) != length {
			t.Errorf("the outer header has a length of %d bytes, the packet has %d, want %d", length, len(ip), inner+ipv4Header)
		}
		sum := 0
		for n := 0; n < ipv4Header; n += 2 {
			sum += int(binary.BigEndian.Uint16(ip[n:]))
		}
		if sum = sum&0xffff + sum>>16; sum != 0xffff {
			t.Errorf("the outer header's checksum is wrong: % x", ip[:ipv4Header])
		}
		if ip[ipVersion] != ipv4NoOptions || ip[ipTTL] != tunnelTTL || binary.BigEndian.Uint16(ip[ipFragment:]) != dontFragment {
			t.Errorf("the outer header is % x", ip[:ipv4Header])
		}
		return
	}
	t.Errorf("no IPIP from %s to %s among %q", from, to, seen)
}

// Two VLANs on one interface: each one's packets arrive at its own device, with
// their tag on the wire.
func testVLAN(t *testing.T) {
	for _, nic := range []NIC{NICFull, NICFrames, NICPlain} {
		l := open(t)
		spec := pairOf("x")
		spec.NIC = nic
		cluster := setUp(t, l, spec)
		for n, h := range cluster.Hosts {
			for _, id := range []int{701, 702} {
				name := fmt.Sprintf("eth0.%d", id)
				if _, err := h.AddVLAN(VLAN{Name: name, ID: id, Device: Device, MTU: 1500}); refused(t, err) {
					return
				}
				must(t, h.AddAddress(name, vlanAddr(id, n)))
			}
		}
		from, to := cluster.Hosts[0].Namespace, cluster.Hosts[1].Namespace
		for _, id := range []int{701, 702} {
			addr := vlanAddr(id, 1).Addr()
			for _, size := range []int{1, 1472, 1 << 20} {
				echo(t, from, to, addr, size)
			}
			frames := capture(t, to, func() { datagram(t, from, to, addr, 1472) })
			if len(frames) == 0 {
				t.Error("nothing is seen on the wire")
			}
			for _, f := range frames {
				if f.tag != uint16(id) {
					t.Errorf("a frame of VLAN %d has the tag %d: % x", id, f.tag, f.bytes[:34])
				}
			}
			if got := linkOf(t, to, fmt.Sprintf("eth0.%d", 701+702-id)); got.RxBytes > 0 && id == 701 {
				t.Errorf("%s took %d bytes of VLAN %d", got.Name, got.RxBytes, id)
			}
		}
		must(t, l.Remove(cluster))
	}
}

func vlanAddr(id, host int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(id - 700), 0, byte(host + 1)}), 24)
}

// Before Linux 6.6 there is no tcx: the same programs as classifiers.
func testClassifier(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	for n, h := range cluster.Hosts {
		lower, err := h.addBPFDevice("tagged", Device, 1500)
		if refused(t, err) {
			return
		}
		device, err := h.index("tagged")
		must(t, err)
		push, err := load("push", pushTag(701, lower))
		must(t, err)
		pop, err := load("pop", popTag(701, device))
		must(t, err)
		must(t, h.attachClassifier(device, ebpf.AttachTCXEgress, push), h.attachClassifier(lower, ebpf.AttachTCXIngress, pop))
		must(t, push.Close(), pop.Close())
		must(t, h.AddAddress("tagged", vlanAddr(701, n)))
	}
	echo(t, cluster.Hosts[0].Namespace, cluster.Hosts[1].Namespace, vlanAddr(701, 1).Addr(), 1<<20)
}
