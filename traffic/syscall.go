package traffic

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// blocking makes a system call that may block, and keeps the runtime's monitor
// out of it: the runtime does not learn that the thread is in the kernel, so
// the thread keeps its processor.
//
// With syscall.Syscall the monitor takes the processor away, and from then on
// polls every 20 us for as long as such calls go on: a goroutine that never
// leaves its thread looks to it like one that has run for too long
// (runtime/proc.go, retake, Go 1.26). On a CPU that the thread has to itself
// that cost a fourth of all round trips per second and set their 99th
// percentile. In return a garbage collection waits for the call's end; so every
// call is bounded, by a tick or by a guard, and nothing is collected during a
// window. send and recv do the same without this function.
//
//go:uintptrescapes
func blocking(trap, a1, a2, a3, a4, a5, a6 uintptr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	return counted(n, errno)
}

// sleep blocks the thread for at most a tick, without the runtime's timers. It
// may end early. It makes its call itself: what passes through blocking would
// move to the heap, at each call.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(min(d, tick)))
	// It fails only by a signal.
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// spins counts the empty tries of a thread that spins.
type spins int

// yieldEvery is how many empty tries, some 100 us, a spinning thread makes
// before it lets others run. A thread that has its CPU to itself comes back at
// once; one that shares it with its peer would wait for a time slice to end.
const yieldEvery = 512

// again is called after each empty try.
func (s *spins) again() {
	if *s++; *s%yieldEvery == 0 {
		// It succeeds always.
		_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}
