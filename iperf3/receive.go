package iperf3

import (
	"errors"
	"fmt"
	"time"

	"tare/traffic"
	"tare/traffic/udp"
)

// receiveStream receives one TCP flow until it is stopped. Its block does
// not follow that of the sender.
func (t *transfer) receiveStream(f *flow) error {
	buffer := traffic.Buffer(max(int(t.p.Len), defaultBlock))
	var sum int64
	for !t.over.Load() {
		n, errno := traffic.Receive(f.socket, buffer, 0)
		switch {
		case errno == 0 && n > 0:
			sum += int64(n)
			f.count.bytes.Store(sum)
			t.arrived(n)
		case traffic.Waited(errno):
		case t.resting.Load():
			return nil
		case errno == 0:
			return fmt.Errorf("receive flow %d after %d bytes: the peer closed it; see what it reported", f.id, sum)
		default:
			return fmt.Errorf("receive flow %d after %d bytes: %w; see what the peer reported", f.id, sum, errno)
		}
	}
	return nil
}

// udpReceiver is a UDP flow's receiving thread.
type udpReceiver struct {
	*transfer
	flow   *flow
	wide   bool
	batch  *udp.Datagrams
	jitter jitter
	opened bool  // the omitted time is over
	sum    int64 // bytes
	frozen counts
}

// counts are what the sequence numbers showed up to the end of the omitted time.
type counts struct{ lost, duplicates, reordered int64 }

// receiveDatagrams receives one UDP flow until it is stopped.
func (t *transfer) receiveDatagrams(f *flow) error {
	batch, err := udp.NewDatagrams(f.socket, int(t.p.Len))
	if err != nil {
		return err
	}
	u := &udpReceiver{transfer: t, flow: f, wide: t.p.WideCounters != 0, batch: batch, opened: t.omit == 0}
	for !t.over.Load() {
		n, errno := batch.Receive(f.socket)
		if errno != 0 && !traffic.Waited(errno) {
			if t.resting.Load() {
				return nil
			}
			return fmt.Errorf("receive flow %d after %d bytes: %w; see what the peer reported", f.id, u.sum, errno)
		}
		if !u.opened && t.now() >= t.omit {
			u.open()
		}
		if errno == 0 {
			if err := u.take(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// open begins the count after the omitted time. The running totals go on.
func (u *udpReceiver) open() {
	u.opened, u.jitter.value = true, 0
	u.frozen = counts{u.flow.count.lost.Load(), u.flow.arrivals.Duplicates(), u.flow.arrivals.Reordered()}
	u.flow.arrivals.Reopen()
}

// take accounts for the n datagrams that the batch holds.
func (u *udpReceiver) take(n int) error {
	arrivals, count := u.flow.arrivals, &u.flow.count
	before := u.sum
	for i := range n {
		packet := u.batch.Packet(i)
		h, ok := parseHeader(packet, u.wide)
		if !ok {
			continue
		}
		u.sum += int64(len(packet))
		if !arrivals.See(h.number - 1) {
			continue
		}
		stamp, ok := u.batch.Arrived(i)
		if !ok {
			return errors.New("receive datagram: the kernel gave it no receive stamp")
		}
		u.jitter.take(stamp, h.sent)
	}
	highest := arrivals.Highest()
	count.bytes.Store(u.sum)
	count.datagrams.Store(highest + 1)
	count.lost.Store(max(count.lost.Load(), u.frozen.lost+arrivals.Lost(highest)))
	count.duplicates.Store(u.frozen.duplicates + arrivals.Duplicates())
	count.reordered.Store(u.frozen.reordered + arrivals.Reordered())
	count.jitter.Store(int64(u.jitter.duration()))
	u.arrived(int(u.sum - before))
	return nil
}

// missing returns how many of the datagrams after the omitted time never came,
// of those that the sender reports to have sent, or else up to the highest number.
// Valid once the flow's thread has ended.
func (f *flow) missing(sent number) int64 {
	return f.arrivals.Lost(max(int64(sent), f.arrivals.Highest()+1) - 1)
}

// quietTime is how long a path with this round trip may be silent before it
// is empty.
func quietTime(rtt time.Duration) time.Duration {
	return min(50*time.Millisecond+2*rtt, time.Second)
}
