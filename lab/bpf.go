package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// bpfLicense is that of the programs: the kernel gives most helpers of the
// network only to programs that are free under the GPL too.
const bpfLicense = "Dual BSD/GPL"

// Verdicts of a program (linux/bpf.h, enum tcx_action_base): classifiers that
// act by themselves give the same.
const (
	tcxNext = -1 // not ours: to the next program, and into the stack
	tcxDrop = 2
)

// Offsets within struct __sk_buff (linux/bpf.h).
const (
	skbLen         = 0
	skbProtocol    = 16
	skbVLANPresent = 20
	skbVLANTCI     = 24
	skbVLANProto   = 28
	skbIfindex     = 40
)

// ethernetHeader is where a packet begins in what a program sees.
const ethernetHeader = 14

// redirectIngress hands a packet to a device as if it had arrived there
// (BPF_F_INGRESS).
const redirectIngress = 1

// errRoot says who may load programs.
var errRoot = errors.New("only the machine's root may load BPF programs (CAP_BPF outside user namespaces): run tare as root")

// attach loads a program and lets it see every packet that enters or leaves by
// a device, until an Undo is closed or the device is removed: by tcx (Linux 6.6), or as a
// classifier of the clsact queueing discipline; or what the other end of a netkit pair sends.
func (ns *Namespace) attach(until *Undo, device, name string, at ebpf.AttachType, code asm.Instructions) error {
	index, err := ns.index(device)
	if err != nil {
		return err
	}
	program, err := load(name, code)
	if err != nil {
		return fmt.Errorf("attach to %s in %s: %w", device, ns.Name, err)
	}
	err = ns.attachLink(until, index, at, program)
	if errors.Is(err, ebpf.ErrNotSupported) && at != ebpf.AttachNetkitPeer {
		err = ns.attachClassifier(index, at, program)
	}
	err = errors.Join(err, program.Close()) // what it is attached to holds it
	if err != nil {
		return fmt.Errorf("attach BPF program %s to %s in %s: %w", name, device, ns.Name, err)
	}
	return nil
}

func load(name string, code asm.Instructions) (*ebpf.Program, error) {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.SchedCLS, Instructions: code, License: bpfLicense})
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("load BPF program %s: %w: %w", name, err, errRoot)
	}
	if err != nil {
		return nil, fmt.Errorf("load BPF program %s: %w", name, err)
	}
	return program, nil
}

func (ns *Namespace) attachLink(until *Undo, index int, at ebpf.AttachType, program *ebpf.Program) error {
	return ns.Do(func() (err error) { // the index means the device of the thread's namespace
		var attached link.Link
		if at == ebpf.AttachNetkitPeer {
			attached, err = link.AttachNetkit(link.NetkitOptions{Interface: index, Program: program, Attach: at})
		} else {
			attached, err = link.AttachTCX(link.TCXOptions{Interface: index, Program: program, Attach: at})
		}
		if err == nil {
			until.Push(attached.Close)
		}
		return err
	})
}

func (ns *Namespace) attachClassifier(index int, at ebpf.AttachType, program *ebpf.Program) error {
	qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
	if err := ns.links.QdiscAdd(qdisc); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add clsact: %w", err)
	}
	parent := uint32(netlink.HANDLE_MIN_INGRESS)
	if at == ebpf.AttachTCXEgress {
		parent = netlink.HANDLE_MIN_EGRESS
	}
	return ns.links.FilterAdd(&netlink.BpfFilter{
		FilterAttrs:  netlink.FilterAttrs{LinkIndex: index, Parent: parent, Protocol: unix.ETH_P_ALL},
		Fd:           program.FD(),
		Name:         "tare",
		DirectAction: true,
	})
}

// networkOrder is a 16-bit number as a program of this machine reads it from a
// packet.
func networkOrder(n uint16) int32 {
	return int32(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n)))
}

// addrOrder is an IPv4 address as a program of this machine reads it.
func addrOrder(addr netip.Addr) int32 {
	b := addr.As4()
	return int32(binary.NativeEndian.Uint32(b[:]))
}

// arrive is the end of a program that takes packets: a packet that reaches it
// arrives at the device, "next" passes it on unchanged, "drop" drops it.
func arrive(device int) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, int32(device)),
		asm.Mov.Imm(asm.R2, redirectIngress),
		asm.FnRedirect.Call(),
		asm.Return(),

		asm.Mov.Imm(asm.R0, tcxNext).WithSymbol("next"),
		asm.Return(),
		asm.Mov.Imm(asm.R0, tcxDrop).WithSymbol("drop"),
		asm.Return(),
	}
}
