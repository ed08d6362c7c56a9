package udp

import (
	"encoding/binary"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"tare/traffic"
)

// tagBytes is the size of what a sieve's program remembers of a sequence: of which lane and
// which round through its memory the last one at that place was.
const tagBytes = 4

// What the registers of a sieve's program hold.
const (
	sieveCounts, sieveSequence, sieveLane = asm.R6, asm.R7, asm.R8
	sieveSome                             = asm.R3
)

// sieveCode is a sieve's program: it keeps data out of the socket's queue, and passes all
// else. What it sees begins with the UDP header.
func sieveCode(counts, seen *ebpf.Map, token *traffic.Token, size int) asm.Instructions {
	const whole = -1 // all of the datagram's bytes
	code := append(sieveData(token, size), sieveCounting(counts)...)
	code = append(code, sieveSorting(seen)...)
	return append(code,
		asm.Mov.Imm(asm.R0, 0).WithSymbol("drop"),
		asm.Return(),
		asm.Mov.Imm(asm.R0, whole).WithSymbol("pass"),
		asm.Return(),
	)
}

// sieveData reads the header of data of the run: its lane and its sequence.
func sieveData(token *traffic.Token, size int) asm.Instructions {
	const (
		skbLen = 0                  // linux/bpf.h, struct __sk_buff
		read   = traffic.WordAt + 8 // of the datagram's header
		some   = sieveSome
	)
	code := asm.Instructions{
		asm.LoadMem(some, asm.R1, skbLen, asm.Word),
		asm.JNE.Imm(some, int32(udpBytes+size), "pass"),
		asm.Mov.Imm(asm.R2, udpBytes),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -read),
		asm.Mov.Imm(asm.R4, read),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"),
	}
	for at := 0; at < len(token); at += 8 {
		code = append(code,
			asm.LoadImm(some, int64(binary.NativeEndian.Uint64(token[at:])), asm.DWord),
			asm.LoadMem(asm.R2, asm.RFP, int16(at-read), asm.DWord),
			asm.JNE.Reg(some, asm.R2, "pass"),
		)
	}
	return append(code,
		asm.LoadMem(sieveSequence, asm.RFP, traffic.WordAt-read, asm.DWord),
		asm.HostTo(asm.LE, sieveSequence, asm.DWord),
		asm.Mov.Reg(some, sieveSequence),
		asm.RSh.Imm(some, 56),
		asm.JNE.Imm(some, int32(traffic.KindData), "pass"),
		asm.Mov.Reg(sieveLane, sieveSequence),
		asm.RSh.Imm(sieveLane, 40),
		asm.And.Imm(sieveLane, 0xffff),
		asm.LSh.Imm(sieveSequence, 24),
		asm.RSh.Imm(sieveSequence, 24),
	)
}

// sieveCounting begins to count anew with the first datagram of a later lane, and leaves out
// those of an earlier one, a trial that is over.
func sieveCounting(counts *ebpf.Map) asm.Instructions {
	var c liveCounts
	const now, none = asm.R0, sieveSome
	store := func(offset uintptr, from asm.Register) asm.Instruction {
		return asm.StoreMem(sieveCounts, field(offset), from, asm.DWord)
	}
	return asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.LoadMapValue(sieveCounts, counts.FD(), 0),
		asm.LoadMem(sieveSome, sieveCounts, field(unsafe.Offsetof(c.lane)), asm.DWord),
		asm.JLT.Reg(sieveLane, sieveSome, "drop"),
		asm.JEq.Reg(sieveLane, sieveSome, "known"),
		asm.Mov.Imm(none, 0),
		store(unsafe.Offsetof(c.next), none),
		store(unsafe.Offsetof(c.unique), none),
		store(unsafe.Offsetof(c.duplicates), none),
		store(unsafe.Offsetof(c.reordered), none),
		store(unsafe.Offsetof(c.first), now),
		store(unsafe.Offsetof(c.lane), sieveLane),
		store(unsafe.Offsetof(c.last), now).WithSymbol("known"),
	}
}

// sieveSorting counts a datagram as the first of its sequence, as one that came after a
// later one, or as one that came before.
func sieveSorting(seen *ebpf.Map) asm.Instructions {
	var c liveCounts
	const place, tag, some = asm.R1, asm.R2, sieveSome
	one := func(offset uintptr, symbol string) asm.Instructions {
		return asm.Instructions{
			asm.LoadMem(some, sieveCounts, field(offset), asm.DWord).WithSymbol(symbol),
			asm.Add.Imm(some, 1),
			asm.StoreMem(sieveCounts, field(offset), some, asm.DWord),
		}
	}
	code := asm.Instructions{
		asm.Mov.Reg(some, sieveSequence),
		asm.And.Imm(some, span-1),
		asm.Mul.Imm(some, tagBytes),
		asm.LoadMapValue(place, seen.FD(), 0),
		asm.Add.Reg(place, some),
		asm.Mov.Reg(tag, sieveSequence),
		asm.Div.Imm(tag, span),
		asm.LSh.Imm(sieveLane, 16),
		asm.Add.Reg(tag, sieveLane),
		asm.Add.Imm(tag, 1), // nothing was seen where it is zero
		asm.LoadMem(some, place, 0, asm.Word),
		asm.JEq.Reg(some, tag, "again"),
		asm.StoreMem(place, 0, tag, asm.Word),
	}
	code = append(code, one(unsafe.Offsetof(c.unique), "first")...)
	code = append(code,
		asm.LoadMem(some, sieveCounts, field(unsafe.Offsetof(c.next)), asm.DWord),
		asm.JLT.Reg(sieveSequence, some, "reordered"),
		asm.Add.Imm(sieveSequence, 1),
		asm.StoreMem(sieveCounts, field(unsafe.Offsetof(c.next)), sieveSequence, asm.DWord),
		asm.Ja.Label("drop"),
	)
	code = append(code, one(unsafe.Offsetof(c.reordered), "reordered")...)
	code = append(code, asm.Ja.Label("drop"))
	return append(code, one(unsafe.Offsetof(c.duplicates), "again")...)
}
