package lab

import (
	"net/netip"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Flags of bpf_skb_adjust_room, and its mode that makes room behind the
// Ethernet header (linux/bpf.h).
const (
	roomBehindMAC  = 1
	roomFixedGSO   = 1 << 0 // the device's MTU has left room already
	roomEncapIPv4  = 1 << 1 // segments get the outer header too
	roomKeepChecks = 1 << 5 // what has been verified stays so
)

// struct bpf_fib_lookup (linux/bpf.h).
const (
	fibSize     = 64
	fibFamily   = 0
	fibIfindex  = 8
	fibSource   = 16
	fibNextHop  = 32
	fibOutput   = 2 // BPF_FIB_LOOKUP_OUTPUT: as the device's sender sees it
	fibFound    = 0 // BPF_FIB_LKUP_RET_SUCCESS
	fibNoNeigh  = 7 // BPF_FIB_LKUP_RET_NO_NEIGH: found, and never asked for its MAC address
	headerStack = -ipv4Header - 4
	fibStack    = headerStack - fibSize
)

// Offsets within an IPv4 header (RFC 791).
const (
	ipVersion  = 0
	ipTOS      = 1
	ipLength   = 2
	ipID       = 4
	ipFragment = 6
	ipTTL      = 8
	ipProtocol = 9
	ipChecksum = 10
	ipSource   = 12
	ipDest     = 16

	ipv4NoOptions = 0x45
	ecnMask       = 3
)

// encapsulateIPIP puts an outer header before every IPv4 packet and sends it by
// the lower device. The outer destination is the next hop of the route to the
// inner one, as with the kernel's device; the outer header takes the inner's
// ECN bits (RFC 6040) and is not to be fragmented. Anything else is dropped.
func encapsulateIPIP(local netip.Addr, lower int) asm.Instructions {
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, skbProtocol, asm.Word),
		asm.JNE.Imm(asm.R2, networkOrder(unix.ETH_P_IP), "drop"),
	}
	code = append(code, loadHeader("drop")...)
	code = append(code, askNextHop()...)
	code = append(code, outerHeader(local)...)
	code = append(code, sumHeader()...)
	return append(code,
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ipv4Header),
		asm.Mov.Imm(asm.R3, roomBehindMAC),
		asm.Mov.Imm(asm.R4, roomFixedGSO|roomEncapIPv4|roomKeepChecks),
		asm.FnSkbAdjustRoom.Call(),
		asm.JNE.Imm(asm.R0, 0, "drop"),

		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ethernetHeader),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, headerStack),
		asm.Mov.Imm(asm.R4, ipv4Header),
		asm.Mov.Imm(asm.R5, 0),
		asm.FnSkbStoreBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "drop"),

		asm.Mov.Imm(asm.R1, int32(lower)),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Imm(asm.R3, 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnRedirectNeigh.Call(),
		asm.Return(),

		asm.Mov.Imm(asm.R0, tcxDrop).WithSymbol("drop"),
		asm.Return(),
	)
}

// loadHeader reads the IPv4 header of the packet in R6 to the stack.
func loadHeader(otherwise string) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ethernetHeader),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, headerStack),
		asm.Mov.Imm(asm.R4, ipv4Header),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, otherwise),
	}
}

// askNextHop looks up the route that leads the packet into this device, and
// leaves its next hop in R7. The header is on the stack.
func askNextHop() asm.Instructions {
	code := asm.Instructions{asm.Mov.Imm(asm.R2, 0)}
	for at := int16(0); at < fibSize; at += 8 {
		code = append(code, asm.StoreMem(asm.R10, fibStack+at, asm.R2, asm.DWord))
	}
	return append(code,
		asm.StoreImm(asm.R10, fibStack+fibFamily, unix.AF_INET, asm.Byte),
		asm.LoadMem(asm.R2, asm.R6, skbIfindex, asm.Word),
		asm.StoreMem(asm.R10, fibStack+fibIfindex, asm.R2, asm.Word),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipSource, asm.Word),
		asm.StoreMem(asm.R10, fibStack+fibSource, asm.R2, asm.Word),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipDest, asm.Word),
		asm.StoreMem(asm.R10, fibStack+fibNextHop, asm.R2, asm.Word),

		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, fibStack),
		asm.Mov.Imm(asm.R3, fibSize),
		asm.Mov.Imm(asm.R4, fibOutput),
		asm.FnFibLookup.Call(),
		asm.JEq.Imm(asm.R0, fibFound, "nexthop"),
		asm.JNE.Imm(asm.R0, fibNoNeigh, "drop"),
		asm.LoadMem(asm.R7, asm.R10, fibStack+fibNextHop, asm.Word).WithSymbol("nexthop"),
	)
}

// outerHeader makes the outer header on the stack, out of the inner one there
// and of R7, the outer destination.
func outerHeader(local netip.Addr) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.R10, headerStack+ipVersion, ipv4NoOptions, asm.Byte),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipTOS, asm.Byte),
		asm.And.Imm(asm.R2, ecnMask),
		asm.StoreMem(asm.R10, headerStack+ipTOS, asm.R2, asm.Byte),
		asm.LoadMem(asm.R2, asm.R6, skbLen, asm.Word),
		asm.Add.Imm(asm.R2, ipv4Header-ethernetHeader),
		asm.HostTo(asm.BE, asm.R2, asm.Half),
		asm.StoreMem(asm.R10, headerStack+ipLength, asm.R2, asm.Half),
		asm.StoreImm(asm.R10, headerStack+ipID, 0, asm.Half),
		asm.StoreImm(asm.R10, headerStack+ipFragment, int64(networkOrder(dontFragment)), asm.Half),
		asm.StoreImm(asm.R10, headerStack+ipTTL, tunnelTTL, asm.Byte),
		asm.StoreImm(asm.R10, headerStack+ipProtocol, protocolIPIP, asm.Byte),
		asm.StoreImm(asm.R10, headerStack+ipChecksum, 0, asm.Half),
		asm.StoreImm(asm.R10, headerStack+ipSource, int64(addrOrder(local)), asm.Word),
		asm.StoreMem(asm.R10, headerStack+ipDest, asm.R7, asm.Word),
	}
}

// sumHeader writes the checksum into the header on the stack (RFC 1071).
func sumHeader() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, headerStack),
		asm.Mov.Imm(asm.R4, ipv4Header),
		asm.Mov.Imm(asm.R5, 0),
		asm.FnCsumDiff.Call(),
		asm.Mov.Reg32(asm.R1, asm.R0), // 32 bits of sum are folded into 16, the carry twice
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, 16),
		asm.And.Imm(asm.R1, 0xffff),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, 16),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.Xor.Imm(asm.R1, 0xffff),
		asm.StoreMem(asm.R10, headerStack+ipChecksum, asm.R1, asm.Half),
	}
}

// decapsulateIPIP takes the outer header off packets of the peers, and lets
// them arrive at the device. All others pass on.
func decapsulateIPIP(local netip.Addr, peers *ebpf.Map, device int) asm.Instructions {
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, skbProtocol, asm.Word),
		asm.JNE.Imm(asm.R2, networkOrder(unix.ETH_P_IP), "next"),
	}
	code = append(code, loadHeader("next")...)
	code = append(code,
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipVersion, asm.Byte),
		asm.JNE.Imm(asm.R2, ipv4NoOptions, "next"),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipProtocol, asm.Byte),
		asm.JNE.Imm(asm.R2, protocolIPIP, "next"),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipFragment, asm.Half),
		asm.And.Imm(asm.R2, networkOrder(moreOrFragment)),
		asm.JNE.Imm(asm.R2, 0, "next"),
		asm.LoadMem(asm.R2, asm.R10, headerStack+ipDest, asm.Word),
		asm.Mov.Imm32(asm.R3, addrOrder(local)),
		asm.JNE.Reg(asm.R2, asm.R3, "next"),
		asm.LoadMapPtr(asm.R1, peers.FD()),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, headerStack+ipSource),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "next"),

		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, -ipv4Header),
		asm.Mov.Imm(asm.R3, roomBehindMAC),
		asm.Mov.Imm(asm.R4, roomFixedGSO|roomKeepChecks),
		asm.FnSkbAdjustRoom.Call(),
		asm.JNE.Imm(asm.R0, 0, "drop"),
	)
	return append(code, arrive(device)...)
}
