package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"tare/catalog"
)

// Shortcut lets packets to and from containers pass a host without its stack: no routing
// table, no netfilter, no queue of the pair between. BPF programs hand a packet over
// (bpf_redirect_peer and bpf_redirect_neigh, Linux 5.10), as Cilium's host routing does. It
// needs the machine's root.
type Shortcut struct {
	host   *Host
	pair   Pair      // that joins each container to the host
	ports  *ebpf.Map // the index of a container's port, by its address
	device int       // towards the other hosts
}

// mostShortcuts bounds the containers of a host that have one.
const mostShortcuts = catalog.MaxContainers

// AddShortcut makes a host hand what arrives on its device for a container to that
// container, which a pair of a kind joins to the host.
func (h *Host) AddShortcut(device string, pair Pair) (*Shortcut, error) {
	index, err := h.index(device)
	if err != nil {
		return nil, err
	}
	ports, err := ebpf.NewMap(&ebpf.MapSpec{Name: "ports", Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: mostShortcuts})
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w: %w", err, errRoot)
	}
	if err != nil {
		return nil, fmt.Errorf("make BPF map of ports in %s: %w", h.Name, err)
	}
	h.Push(ports.Close)
	s := &Shortcut{host: h, pair: pair, ports: ports, device: index}
	return s, h.attach(&h.Undo, device, "to_container", ebpf.AttachTCXIngress, s.toContainer())
}

// Add takes what a container sends straight to another container of the host, or to the
// next hop; what is to the host itself goes to its stack. port is the host's end of the
// container's pair. It ends with the container.
func (s *Shortcut) Add(c *Container, port string) error {
	index, err := s.host.index(port)
	if err != nil {
		return err
	}
	key := c.Addr.As4()
	if err := s.ports.Put(key[:], uint32(index)); err != nil {
		return fmt.Errorf("add %s to the shortcuts of %s: %w", c.Addr, s.host.Name, err)
	}
	c.Detach.Push(func() error { return s.drop(c.Addr) })
	at := ebpf.AttachTCXIngress
	if s.pair != Veth {
		at = ebpf.AttachNetkitPeer
	}
	return s.host.attach(&c.Undo, port, "from_container", at, s.fromContainer())
}

// drop forgets a container.
func (s *Shortcut) drop(addr netip.Addr) error {
	key := addr.As4()
	if err := s.ports.Delete(key[:]); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("drop %s from the shortcuts of %s: %w", addr, s.host.Name, err)
	}
	return nil
}

// toContainer hands a packet to a container's end of its pair, where one has its address.
func (s *Shortcut) toContainer() asm.Instructions {
	return slices.Concat(s.lookUp("next"), toPeer(), unchanged())
}

// fromContainer is the same, and sends what is to no container of the host, nor to the host,
// by the host's device, to the next hop of its route.
func (s *Shortcut) fromContainer() asm.Instructions {
	return slices.Concat(s.lookUp("elsewhere"), s.toNeighbour(), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, destinationAt, asm.Word).WithSymbol("elsewhere"),
		asm.JEq.Imm32(asm.R1, addrOrder(s.host.Addr), "next"),
		asm.Mov.Imm(asm.R1, int32(s.device)),
		asm.Mov.Imm(asm.R2, 0), // the next hop of the packet's own route
		asm.Mov.Imm(asm.R3, 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnRedirectNeigh.Call(),
		asm.Return(),
	}, unchanged())
}

// toNeighbour hands a packet of a container to another of the host. bpf_redirect_peer works
// only where a packet arrives, and a program of netkit runs where one is sent: it sends the
// packet by the other's port, as Cilium does. In layer 2 the other end looks at its MAC address.
func (s *Shortcut) toNeighbour() asm.Instructions {
	send := asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
	}
	switch s.pair {
	case NetkitL3:
		return send
	case NetkitL2:
		return append(addressedTo(), send...)
	}
	return toPeer()
}

// toPeer hands a packet to the container's end of the pair whose port R7 has.
func toPeer() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirectPeer.Call(),
		asm.Return(),
	}
}

// addressedTo gives a packet the MAC address of the container that has its destination (MAC).
func addressedTo() asm.Instructions {
	const macAt = destinationAt - 2
	mac := MAC(netip.IPv4Unspecified())
	return asm.Instructions{
		asm.StoreImm(asm.RFP, macAt, int64(mac[0]), asm.Byte),
		asm.StoreImm(asm.RFP, macAt+1, int64(mac[1]), asm.Byte),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, macAt),
		asm.Mov.Imm(asm.R4, int32(len(mac))),
		asm.Mov.Imm(asm.R5, 0),
		asm.FnSkbStoreBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"),
	}
}

// destinationAt is where on its stack a program has the packet's destination.
const destinationAt = -4

// lookUp finds the port that a packet's destination has, for R7, and goes on at a symbol if
// there is none. A lab's address of IPv6 has its owner's of IPv4 in its last four bytes
// (IPv6Of). Of IPv6 what is neither TCP nor UDP goes on unchanged, as does all that is not IP:
// hosts and containers find each other by ICMPv6 (RFC 4861).
func (s *Shortcut) lookUp(none string) asm.Instructions {
	const nextHeader, destinationIPv6 = ethernetHeader + 6, ethernetHeader + 24 + 12
	return slices.Concat(asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.Mov.Imm(asm.R8, ethernetHeader+ipDest),
		asm.LoadMem(asm.R2, asm.R1, skbProtocol, asm.Word),
		asm.JEq.Imm(asm.R2, networkOrder(unix.ETH_P_IP), "find"),
		asm.JNE.Imm(asm.R2, networkOrder(unix.ETH_P_IPV6), "next"),
		asm.Mov.Imm(asm.R8, destinationIPv6),
		asm.Mov.Imm(asm.R2, nextHeader),
	}, loadAtDestination(1), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, destinationAt, asm.Byte),
		asm.JEq.Imm(asm.R1, unix.IPPROTO_TCP, "find"),
		asm.JNE.Imm(asm.R1, unix.IPPROTO_UDP, "next"),
		asm.Mov.Reg(asm.R2, asm.R8).WithSymbol("find"),
	}, loadAtDestination(4), asm.Instructions{
		asm.LoadMapPtr(asm.R1, s.ports.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, destinationAt),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, none),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
	})
}

// loadAtDestination copies bytes of the packet of R6, from the offset in R2 on, to destinationAt.
func loadAtDestination(bytes int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, destinationAt),
		asm.Mov.Imm(asm.R4, bytes),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"),
	}
}

// unchanged is the end of a program: "next" leaves a packet to the host's stack.
func unchanged() asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, tcxNext).WithSymbol("next"), asm.Return()}
}
