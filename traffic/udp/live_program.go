package udp

import (
	"encoding/binary"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// livePlan is what a generator and its program share, in the memory of both. The generator
// writes to it while it is shut and the program has passed by.
type livePlan struct {
	open    uint64 // 1: frames are sent
	turns   uint64 // of the program, empty ones included
	word    uint64 // of the header of the next frame: its kind, lane and sequence
	start   uint64 // ns, CLOCK_MONOTONIC
	due     uint64 // of the next frame, in fractions of a nanosecond since the start
	step    uint64 // from one frame to the next; 0: each is due at once
	late    uint64 // frames that were sent more than a step after their time
	skipped uint64 // frames that were given up, since they were later than catchUp
}

// fractionBits is how fine a plan counts: at a million datagrams a second a whole
// nanosecond is a thousandth of a step.
const fractionBits = 10

const (
	xdpDrop = 1 // linux/bpf.h, enum xdp_action

	// offsets within struct xdp_md (linux/bpf.h)
	mdData    = 0
	mdDataEnd = 4
)

// What the registers of the generator's program hold.
const (
	livePlanAt, liveData, liveEnd = asm.R6, asm.R7, asm.R8
	liveSome                      = asm.R4
)

// field is an offset in a structure that a program shares.
func field(offset uintptr) int16 { return int16(offset) }

// liveCode is the generator's program. Where the plan is open and the next frame due, it
// writes the frame and hands it to the device, the only one of a map; else the turn is
// empty. It writes all of the frame, since the kernel uses the memory again as the path
// left it, with addresses that a NAT translated.
func liveCode(shared, device *ebpf.Map, f frame) asm.Instructions {
	const word = asm.R5
	const size, some = asm.DWord, liveSome
	var p livePlan
	code := liveDue(shared)
	code = append(code,
		asm.Mov.Reg(some, liveData).WithSymbol("write"),
		asm.Add.Imm(some, int32(len(f.bytes))),
		asm.JGT.Reg(some, liveEnd, "empty"),
	)
	code = append(code, f.stores(liveData, some)...)
	return append(code,
		asm.LoadMem(some, livePlanAt, field(unsafe.Offsetof(p.word)), size),
		asm.Mov.Reg(word, some),
		asm.HostTo(asm.LE, word, size),
		asm.StoreMem(liveData, int16(f.word), word, size),
		asm.Xor.Imm(word, -1), // its complement keeps the checksum
		asm.StoreMem(liveData, int16(f.word+8), word, size),
		asm.Add.Imm(some, 1),
		asm.StoreMem(livePlanAt, field(unsafe.Offsetof(p.word)), some, size),
		asm.LoadMapPtr(asm.R1, device.FD()),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRedirectMap.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, xdpDrop).WithSymbol("empty"),
		asm.Return(),
	)
}

// liveDue is the beginning of the program, up to where the next frame is due. Frames that
// are later than catchUp are given up.
func liveDue(shared *ebpf.Map) asm.Instructions {
	const (
		gate           = asm.R9
		now, due, step = asm.R0, asm.R1, asm.R2
		plan, some     = livePlanAt, liveSome
		size           = asm.DWord
	)
	var p livePlan
	return asm.Instructions{
		asm.LoadMem(liveData, asm.R1, mdData, asm.Word),
		asm.LoadMem(liveEnd, asm.R1, mdDataEnd, asm.Word),
		asm.LoadMapValue(plan, shared.FD(), 0),
		asm.LoadMem(gate, plan, field(unsafe.Offsetof(p.open)), size),
		asm.Mov.Imm(some, 1),
		asm.FetchAdd.Mem(plan, some, size, field(unsafe.Offsetof(p.turns))), // orders what is before and after it
		asm.JEq.Imm(gate, 0, "empty"),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(some, plan, field(unsafe.Offsetof(p.start)), size),
		asm.Sub.Reg(now, some),
		asm.LSh.Imm(now, fractionBits),
		asm.LoadMem(due, plan, field(unsafe.Offsetof(p.due)), size),
		asm.LoadMem(step, plan, field(unsafe.Offsetof(p.step)), size),
		asm.JGT.Reg(due, now, "empty"),
		asm.JEq.Imm(step, 0, "write"),

		asm.Sub.Reg(now, due), // how late the frame is
		asm.JLE.Reg(now, step, "advance"),
		asm.LoadMem(some, plan, field(unsafe.Offsetof(p.late)), size),
		asm.Add.Imm(some, 1),
		asm.StoreMem(plan, field(unsafe.Offsetof(p.late)), some, size),
		asm.LoadImm(some, int64(catchUp)<<fractionBits, size),
		asm.JLE.Reg(now, some, "advance"),
		asm.Sub.Reg(now, some),
		asm.Div.Reg(now, step), // how many are given up
		asm.LoadMem(some, plan, field(unsafe.Offsetof(p.skipped)), size),
		asm.Add.Reg(some, now),
		asm.StoreMem(plan, field(unsafe.Offsetof(p.skipped)), some, size),
		asm.Mul.Reg(now, step),
		asm.Add.Reg(due, now),
		asm.Add.Reg(due, step).WithSymbol("advance"),
		asm.StoreMem(plan, field(unsafe.Offsetof(p.due)), due, size),
	}
}

// stores writes the frame to where data points, eight bytes at a time; the last eight may
// overlap those before them.
func (f frame) stores(data, scratch asm.Register) asm.Instructions {
	const each = 8
	var code asm.Instructions
	for at := 0; at < len(f.bytes); at += each {
		at := min(at, len(f.bytes)-each)
		value := binary.NativeEndian.Uint64(f.bytes[at:])
		code = append(code, asm.LoadImm(scratch, int64(value), asm.DWord), asm.StoreMem(data, int16(at), scratch, asm.DWord))
	}
	return code
}
