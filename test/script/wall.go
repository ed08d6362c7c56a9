package script

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// Where a filter of system calls finds what it asks for (seccomp_data, seccomp(2)): the
// call's number, and the low half of its first argument on machines that are little-endian.
const (
	callNumber    = 0
	firstArgument = 16
)

// Wall has the kernel refuse, until this process ends, what a lab is made by and what
// leads out of this process: other processes, namespaces, mounts, and all sockets but
// those of Unix that nobody is at. Such calls fail as they do for a user who may not, and
// root becomes an ordinary user. So what passes has built nothing, whoever runs it.
func Wall() error {
	if os.Geteuid() == 0 {
		if err := errors.Join(unix.Setgroups(nil), unix.Setgid(labtest.Nobody), unix.Setuid(labtest.Nobody)); err != nil {
			return fmt.Errorf("become an ordinary user: %w", err)
		}
	}
	program, err := bpf.Assemble(filter())
	if err != nil {
		return fmt.Errorf("assemble filter of system calls: %w", err)
	}
	instructions := make([]unix.SockFilter, len(program))
	for n, i := range program {
		instructions[n] = unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K}
	}
	runtime.LockOSThread() // both calls are of one thread, and the second is then of all
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	of := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	if _, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&of))); failed != 0 {
		return fmt.Errorf("filter system calls: %w", failed)
	}
	return nil
}

// filter refuses each call of a list, clone unless it starts a thread, and socket unless
// it is one of Unix.
func filter() []bpf.Instruction {
	refused := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	allowed := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	all := []bpf.Instruction{bpf.LoadAbsolute{Off: callNumber, Size: 4}}
	when := func(call uint32, do ...bpf.Instruction) {
		all = append(append(all, bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipFalse: uint8(len(do))}), do...)
	}
	argument := bpf.LoadAbsolute{Off: firstArgument, Size: 4}
	when(unix.SYS_CLONE, argument, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_THREAD, SkipFalse: 1}, allowed, refused)
	when(unix.SYS_CLONE3, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}) // clone is asked then
	when(unix.SYS_SOCKET, argument, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipFalse: 1}, allowed, refused)
	for _, call := range []uint32{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_CONNECT} {
		when(call, refused)
	}
	return append(all, allowed)
}
