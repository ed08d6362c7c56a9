package lab

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// VLAN is a device whose packets travel on another with a tag (IEEE 802.1Q).
type VLAN struct {
	Name   string
	ID     int // 1 to 4094
	Device string
	MTU    int // that of the device below is fit: the tag lengthens the frame
}

// vlanMask is the identifier within a tag.
const vlanMask = 0xfff

// AddVLAN adds a VLAN device, up: the kernel's where it has one, else one made
// by BPF programs that push and pop the tag. kernel reports which.
func (ns *Namespace) AddVLAN(v VLAN) (kernel bool, err error) {
	lower, err := ns.index(v.Device)
	if err != nil {
		return false, err
	}
	a := attrs(v.Name, v.MTU, nil)
	a.ParentIndex = lower
	err = ns.add(&netlink.Vlan{LinkAttrs: a, VlanId: v.ID, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q})
	if err == nil {
		return true, ns.SetUp(v.Name)
	}
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return false, err
	}
	return false, ns.addVLANByBPF(v)
}

// addVLANByBPF makes the device out of a veth pair's end. What is sent by it
// gets its tag and leaves by the lower device; what arrives there with the tag
// loses it and arrives at this device.
func (ns *Namespace) addVLANByBPF(v VLAN) error {
	lower, err := ns.addBPFDevice(v.Name, v.Device, v.MTU)
	if err != nil {
		return err
	}
	device, err := ns.index(v.Name)
	if err != nil {
		return err
	}
	if err := ns.attach(&ns.Undo, v.Name, "vlan_out", ebpf.AttachTCXEgress, pushTag(v.ID, lower)); err != nil {
		return err
	}
	return ns.attach(&ns.Undo, v.Device, "vlan_in", ebpf.AttachTCXIngress, popTag(v.ID, device))
}

// pushTag tags every packet and sends it by the lower device.
func pushTag(id, lower int) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R2, networkOrder(unix.ETH_P_8021Q)),
		asm.Mov.Imm(asm.R3, int32(id)),
		asm.FnSkbVlanPush.Call(),
		asm.JNE.Imm(asm.R0, 0, "drop"),
		asm.Mov.Imm(asm.R1, int32(lower)),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, tcxDrop).WithSymbol("drop"),
		asm.Return(),
	}
}

// popTag takes the tag off packets that have it, and lets them arrive at the
// device. All others pass on.
func popTag(id, device int) asm.Instructions {
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, skbVLANPresent, asm.Word),
		asm.JEq.Imm(asm.R2, 0, "next"),
		asm.LoadMem(asm.R2, asm.R6, skbVLANProto, asm.Word),
		asm.JNE.Imm(asm.R2, networkOrder(unix.ETH_P_8021Q), "next"),
		asm.LoadMem(asm.R2, asm.R6, skbVLANTCI, asm.Word),
		asm.And.Imm(asm.R2, vlanMask),
		asm.JNE.Imm(asm.R2, int32(id), "next"),
		asm.FnSkbVlanPop.Call(), // R1 is still the packet
		asm.JNE.Imm(asm.R0, 0, "drop"),
	}
	return append(code, arrive(device)...)
}
