package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pinWithin is how long QEMU may take to start the threads of its CPUs.
const pinWithin = 5 * time.Second

// pin keeps each CPU of a pinned guest on the CPU of this machine that has its number. Those
// of an emulated guest are one thread, which stays where the first is. ctx ends with QEMU.
func (m Machine) pin(ctx context.Context, pid int) error {
	if !m.Pinned {
		return nil
	}
	for end := time.Now().Add(pinWithin); ; time.Sleep(10 * time.Millisecond) {
		threads, complete, err := cpuThreads(pid, m.CPUs)
		switch {
		case ctx.Err() != nil, errors.Is(err, os.ErrNotExist): // a thread, or QEMU, has ended
			return nil
		case err != nil:
			return fmt.Errorf("pin the guest's CPUs: %w", err)
		case complete:
			return pinThreads(threads)
		case time.Now().After(end):
			return fmt.Errorf("pin the guest's CPUs: QEMU has started %d of %d threads", len(threads), m.CPUs)
		}
	}
}

func pinThreads(threads map[int]int) error {
	for thread, cpu := range threads {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(thread, &set); err != nil {
			return fmt.Errorf("pin CPU %d of the guest: %w", cpu, err)
		}
	}
	return nil
}

// cpuThreads finds the threads of QEMU that run the guest's CPUs, by the names that it gives
// them (softmmu: accel/kvm/kvm-accel-ops.c, accel/tcg/tcg-accel-ops-rr.c), with the number of
// each CPU. complete: there are all of them.
func cpuThreads(pid, cpus int) (threads map[int]int, complete bool, err error) {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	if err != nil {
		return nil, false, err
	}
	threads = map[int]int{}
	for _, file := range names {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, false, err
		}
		thread, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, false, err
		}
		name, _, _ := strings.Cut(strings.TrimSpace(string(text)), "/")
		if name == "ALL CPUs" {
			return map[int]int{thread: 0}, true, nil
		}
		if number, is := strings.CutPrefix(name, "CPU "); is {
			if cpu, err := strconv.Atoi(number); err == nil {
				threads[thread] = cpu
			}
		}
	}
	return threads, len(threads) == cpus, nil
}
