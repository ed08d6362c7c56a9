package traffic

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SharpenSleep makes the thread's sleeps end within a nanosecond of their time
// instead of the default 50 us (PR_SET_TIMERSLACK), and gives what undoes it.
func SharpenSleep() (restore func() error, err error) {
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if errors.Is(err, unix.EINVAL) { // gVisor's kernel has no slack
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read timer slack: %w", err)
	}
	set := func(slack int) error {
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
			return fmt.Errorf("set timer slack: %w", err)
		}
		return nil
	}
	return func() error { return set(before) }, set(1)
}

// Syscall makes a system call that may block, and keeps the runtime's monitor
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
// window. Send and Receive do the same without this function.
//
//go:uintptrescapes
func Syscall(trap, a1, a2, a3, a4, a5, a6 uintptr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	return Result(n, errno)
}

// Sleep blocks the thread for at most a tick, without the runtime's timers. It
// may end early. It makes its call itself: what passes through Syscall would
// move to the heap, at each call.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(min(d, Tick)))
	// It fails only by a signal.
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// Spins counts the empty tries of a thread that spins.
type Spins int

// yieldEvery is how many empty tries, some 100 us, a spinning thread makes
// before it lets others run. A thread that has its CPU to itself comes back at
// once; one that shares it with its peer would wait for a time slice to end.
const yieldEvery = 512

// Again is called after each empty try.
func (s *Spins) Again() {
	if *s++; *s%yieldEvery == 0 {
		// It succeeds always.
		_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}
