package tcpstream

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// threads is how many send: one for each CPU, as far as there are flows. A
// flow that is paced, or sent from a file, has its own: its calls wait.
func (w *streamSender) threads() int {
	if w.paces[0].slot > 0 || w.source.file >= 0 {
		return len(w.fds)
	}
	return min(len(w.fds), traffic.CPUs())
}

// send is the thread of some flows.
func (w *streamSender) send(flows []int) error {
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return err
	}
	t, err := traffic.TakeTurns(w.run, w.window.Slots)
	switch {
	case err != nil:
	case len(flows) > 1:
		err = w.fillMany(flows, t)
	default:
		err = w.fill(flows[0], t)
	}
	return errors.Join(err, restore())
}

// fillMany writes to flows in turn, as much as each takes, until no window
// needs them, and then ends them.
func (w *streamSender) fillMany(flows []int, t *traffic.Turns) error {
	waits := make([]unix.PollFd, len(flows))
	for n, i := range flows {
		waits[n] = unix.PollFd{Fd: int32(w.fds[i]), Events: unix.POLLOUT}
	}
	out := w.source.writer()
	for w.wanted() && t.Await(w.run) {
		took := false
		block := int(w.block.Load())
		for _, i := range flows {
			n, errno := out.write(w.fds[i], block, unix.MSG_DONTWAIT)
			if errno != 0 && !traffic.Waited(errno) {
				return fmt.Errorf("send flow %d after %d bytes: %w; see what the receiver reported", i+1, w.counters[i].bytes.Load(), errno)
			}
			if n > 0 {
				took = true
				w.counters[i].bytes.Add(int64(n))
			}
		}
		if !took {
			timeout := unix.NsecToTimespec(int64(traffic.Tick))
			// What has room, or a signal, is found by sending.
			_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&waits[0])), uintptr(len(waits)), uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
		}
	}
	if w.run.Stopped() {
		return nil
	}
	for _, i := range flows {
		if err := unix.Shutdown(w.fds[i], unix.SHUT_WR); err != nil {
			return fmt.Errorf("end flow %d: %w; see what the receiver reported", i+1, err)
		}
	}
	w.awaitEnough()
	limit := w.run.Now() + traffic.DrainLimit + traffic.DrainLimit/4
	for _, i := range flows {
		traffic.AwaitClose(w.run, w.fds[i], limit)
	}
	return nil
}

// fill writes to flow i until no window needs it, and then ends it.
func (w *streamSender) fill(i int, t *traffic.Turns) error {
	fd, counter, p, out := w.fds[i], &w.counters[i].bytes, &w.paces[i], w.source.writer()
	var sum int64
	if t != nil {
		before := int64(0)
		t.OnClose(func() {
			t.MakeRoom(fd, sum-before)
			before = sum
		})
	}
	for left := 0; w.wanted() && t.Await(w.run); {
		if left == 0 && !p.due(w.run) {
			continue
		}
		if left == 0 {
			left = int(w.block.Load())
		}
		n, errno := out.write(fd, left, 0)
		if errno == 0 {
			left -= n
			sum += int64(n)
			counter.Store(sum)
		} else if !traffic.Waited(errno) {
			return fmt.Errorf("send flow %d after %d bytes: %w; see what the receiver reported", i+1, sum, errno)
		}
	}
	if w.run.Stopped() {
		return nil
	}
	if err := unix.Shutdown(fd, unix.SHUT_WR); err != nil {
		return fmt.Errorf("end flow %d: %w; see what the receiver reported", i+1, err)
	}
	w.awaitEnough()
	traffic.AwaitClose(w.run, fd, w.run.Now()+traffic.DrainLimit+traffic.DrainLimit/4)
	return nil
}

// awaitEnough waits for the receiver's signal after the last slot. The watch reads
// it, so nothing else may read until then.
func (w *streamSender) awaitEnough() {
	for w.window.Slots != nil && w.wanted() {
		traffic.Sleep(traffic.Tick / 10)
	}
}
