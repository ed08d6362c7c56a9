package kinds

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// TunnelVerb is the hidden command that runs a Tunnel: TunnelVerb SPEC, a JSON
// object.
const TunnelVerb = "tunnel"

const (
	tunnelDevice = "tun0"
	tunUDPPort   = 8285 // as flannel's udp backend
)

// tunUDP is a bridge on each host, and between hosts a process that sends each
// packet in a UDP datagram.
func tunUDP() network.Network {
	return network.Network{
		Needs: []engine.Need{tunNeed()},
		SetUp: setUpTunnel,
	}
}

func setUpTunnel(cluster *lab.Cluster, setup *network.Setup) error {
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.UDP())
	b := network.OwnSubnet(mtu)
	err := network.EachHost(cluster, func(h *lab.Host) error {
		if err := b.SetUp(h); err != nil {
			return err
		}
		t := Tunnel{Device: tunnelDevice, MTU: mtu, Listen: netip.AddrPortFrom(h.Addr, tunUDPPort)}
		for _, other := range network.Others(cluster, h) {
			t.Peers = append(t.Peers, TunnelPeer{Subnet: other.Subnet(), Host: netip.AddrPortFrom(other.Addr, tunUDPPort)})
		}
		if err := startTunnel(cluster, h, t); err != nil {
			return err
		}
		for _, peer := range t.Peers {
			// From the bridge's address: replies to the host's first address would not
			// come back through the tunnel.
			if err := h.AddRoute(lab.Route{To: peer.Subnet, Device: tunnelDevice, From: b.Gateway(h).Addr()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return setup.Populate(cluster, b.Plug)
}

// startTunnel starts the process and brings its device up.
func startTunnel(cluster *lab.Cluster, h *lab.Host, t Tunnel) error {
	spec, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("describe tunnel: %w", err)
	}
	if err := h.StartSelf(&cluster.Undo, TunnelVerb, string(spec)); err != nil {
		return err
	}
	return h.SetUp(t.Device)
}

// Tunnel is a TUN device whose packets travel in UDP datagrams, one in each, as with
// flannel's udp backend and weave's sleeve.
type Tunnel struct {
	Device string // to make, in the network namespace that it runs in
	MTU    int    // of the device, bytes
	Listen netip.AddrPort
	Peers  []TunnelPeer
}

// TunnelPeer is the other end of the packets to a subnet.
type TunnelPeer struct {
	Subnet netip.Prefix
	Host   netip.AddrPort
}

// tunDevice is the file by which TUN devices are made.
const tunDevice = "/dev/net/tun"

// RunTunnel does the work of TunnelVerb, and writes a line once the tunnel carries
// packets.
func RunTunnel(ctx context.Context, text string, w io.Writer) error {
	var t Tunnel
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("run tunnel: read its description: %w", err)
	}
	return t.run(ctx, func() error {
		_, err := fmt.Fprintln(w)
		return err
	})
}

// run makes the device, calls ready, and carries packets until the context ends.
// Its threads are blocked in system calls then: the process must exit.
func (t Tunnel) run(ctx context.Context, ready func() error) error {
	tun, err := t.openDevice()
	if err != nil {
		return err
	}
	socket, err := t.openSocket()
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- t.send(tun, socket) }()
	go func() { ended <- t.receive(socket, tun) }()
	if err := ready(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// openDevice makes the TUN device without the extra header on each packet
// (IFF_NO_PI) and sets its MTU. The device is down.
func (t Tunnel) openDevice() (int, error) {
	tun, err := unix.Open(tunDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", tunDevice, err)
	}
	request, err := unix.NewIfreq(t.Device)
	if err != nil {
		return 0, fmt.Errorf("make TUN device %s: %w", t.Device, err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(tun, unix.TUNSETIFF, request); err != nil {
		return 0, fmt.Errorf("make TUN device %s: %w", t.Device, err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open socket: %w", err)
	}
	request.SetUint32(uint32(t.MTU))
	if err := errors.Join(unix.IoctlIfreq(socket, unix.SIOCSIFMTU, request), unix.Close(socket)); err != nil {
		return 0, fmt.Errorf("set MTU of %s to %d: %w", t.Device, t.MTU, err)
	}
	return tun, nil
}

func (t Tunnel) openSocket() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open socket: %w", err)
	}
	if err := unix.Bind(socket, sockaddr(t.Listen)); err != nil {
		return 0, fmt.Errorf("listen at %s: %w", t.Listen, err)
	}
	return socket, nil
}

func sockaddr(a netip.AddrPort) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
}

// way is a peer in the form that the loop compares and sends to.
type way struct {
	subnet, mask uint32
	to           unix.Sockaddr
}

func (t Tunnel) ways() []way {
	ways := make([]way, len(t.Peers))
	for n, p := range t.Peers {
		subnet := p.Subnet.Masked().Addr().As4()
		ways[n] = way{binary.BigEndian.Uint32(subnet[:]), ^uint32(0) << (32 - p.Subnet.Bits()), sockaddr(p.Host)}
	}
	return ways
}

// Where the header has the destination: of IPv4 (RFC 791), and of IPv6 (RFC 8200) the last four
// bytes, in which a lab's address has its owner's of IPv4 (lab.IPv6Of).
const (
	destination     = 16
	destinationIPv6 = 24 + 12
)

// send sends what is routed into the device.
func (t Tunnel) send(tun, socket int) error {
	runtime.LockOSThread()
	ways, packet := t.ways(), make([]byte, t.MTU)
	for {
		n, err := unix.Read(tun, packet)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read from %s: %w", t.Device, err)
		}
		if err := forward(socket, packet[:n], ways); errors.Is(err, unix.EBADF) {
			return fmt.Errorf("send datagram: %w", err)
		}
	}
}

// forward sends a packet to the peer of its subnet. A packet for no subnet, or
// one that the kernel can't send, is lost, as on every path.
func forward(socket int, packet []byte, ways []way) error {
	at := destination
	if len(packet) > 0 && packet[0]>>4 == 6 {
		at = destinationIPv6
	}
	if len(packet) < at+4 {
		return nil
	}
	to := binary.BigEndian.Uint32(packet[at:])
	for i := range ways {
		if to&ways[i].mask == ways[i].subnet {
			return unix.Sendto(socket, packet, 0, ways[i].to)
		}
	}
	return nil
}

// receive writes what arrives in datagrams to the device. The kernel drops what is
// no IP packet.
func (t Tunnel) receive(socket, tun int) error {
	runtime.LockOSThread()
	packet := make([]byte, t.MTU)
	for {
		n, err := unix.Read(socket, packet)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("receive datagram: %w", err)
		}
		if _, err := unix.Write(tun, packet[:n]); errors.Is(err, unix.EBADF) {
			return fmt.Errorf("write to %s: %w", t.Device, err)
		}
	}
}

// tunNeed is the kernel's TUN, and the right to use it.
func tunNeed() engine.Need {
	return engine.Need{What: tunDevice, Get: "modprobe tun; as an ordinary user also chmod 666 " + tunDevice, Find: func() (string, error) {
		file, err := os.OpenFile(tunDevice, os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		return tunDevice, file.Close()
	}}
}
