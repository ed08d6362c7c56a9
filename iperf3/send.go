package iperf3

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// sendStream sends one TCP flow until the test is over or nothing is left.
func (t *transfer) sendStream(f *flow) error {
	schedule := newPace(t.p)
	defer func() { f.skipped = schedule.skipped }()
	var sum int64
	var rest []byte // of a block that the kernel took in part
	for !t.resting.Load() {
		if len(rest) == 0 {
			if !t.await(schedule) {
				return nil
			}
			if rest = t.payload[:t.allot()]; len(rest) == 0 {
				return nil
			}
		}
		n, errno := traffic.Send(f.socket, rest, 0)
		switch {
		case errno == 0:
			rest = rest[n:]
			sum += int64(n)
			f.count.bytes.Store(sum)
		case traffic.Waited(errno):
		case t.resting.Load():
			return nil
		default:
			return fmt.Errorf("send flow %d after %d bytes: %w", f.id, sum, errno)
		}
	}
	return nil
}

// sendDatagrams sends one UDP flow. A datagram that this machine drops at once
// is counted apart and leaves no gap in the numbers.
func (t *transfer) sendDatagrams(f *flow) (err error) {
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	schedule := newPace(t.p)
	defer func() { f.skipped = schedule.skipped }()
	packet, wide := slices.Clone(t.payload), t.p.WideCounters != 0
	if len(packet) < wideHeader {
		packet = append(packet, make([]byte, wideHeader-len(packet))...)
	}
	size := int64(t.p.Len)
	var sum int64
	for t.await(schedule) {
		if t.allot() == 0 {
			return nil
		}
		// The stamp is the last thing before the call.
		header{sent: time.Now().UnixMicro(), number: sum + 1}.put(packet, wide)
		_, errno := traffic.Send(f.socket, packet[:size], 0)
		switch {
		case errno == 0:
			sum++
			f.count.bytes.Store(sum * size)
			f.count.datagrams.Store(sum)
		case traffic.Waited(errno):
		case errors.Is(errno, unix.ENOBUFS):
			f.drops++
		case t.resting.Load():
			return nil
		case errors.Is(errno, unix.EMSGSIZE):
			return fmt.Errorf("send a datagram of %d bytes: %w; choose a smaller size", size, errno)
		case errors.Is(errno, unix.ECONNREFUSED):
			return fmt.Errorf("send flow %d after %d datagrams: the peer's UDP port is closed; see what it reported", f.id, sum)
		default:
			return fmt.Errorf("send flow %d after %d datagrams: %w", f.id, sum, errno)
		}
	}
	return nil
}
