package udp

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// volley sends several datagrams of one flow, the way a mode does.
type volley struct {
	mode  Mode
	batch *batch
}

// newVolley is for datagrams of size bytes on the flows given.
func newVolley(mode Mode, size int, flows []outflow) (*volley, error) {
	if mode != GSO {
		return &volley{mode, newBatch(batchSize(size), size, false)}, nil
	}
	for _, f := range flows {
		if err := unix.SetsockoptInt(f.fd, unix.SOL_UDP, unix.UDP_SEGMENT, size); err != nil {
			return nil, fmt.Errorf("segment datagrams (UDP_SEGMENT, Linux 4.18): %w; use mode %s", err, Mmsg)
		}
	}
	return &volley{mode, newBatch(max(min(mostSegments, traffic.MaxDatagram/size), 1), size, false)}, nil
}

// most is how many datagrams one volley has at most.
func (v *volley) most() int { return len(v.batch.messages) }

// send sends count datagrams of a flow. One that could not be sent keeps its
// number for the next volley, so that it is not counted as lost on the way.
func (v *volley) send(u *sendThread, f *outflow, count int) (sent int64, err error) {
	for i := range count {
		traffic.Header{Kind: traffic.KindData, Lane: f.lane, Sequence: f.next + int64(i)}.Put(v.batch.buffer(i), &u.token)
	}
	switch v.mode {
	case Msg:
		sent, err = v.each(u, f, count)
	case GSO:
		sent, err = v.joined(u, f, count)
	default:
		sent, err = v.together(u, f, count)
	}
	f.next += sent
	return sent, err
}

// each makes a call for each datagram.
func (v *volley) each(u *sendThread, f *outflow, count int) (int64, error) {
	for i := range count {
		if _, errno := traffic.Send(f.fd, v.batch.buffer(i), 0); errno != 0 {
			return int64(i), u.refused(errno, 1)
		}
	}
	return int64(count), nil
}

// together makes one call for all datagrams, of which each is a packet.
func (v *volley) together(u *sendThread, f *outflow, count int) (int64, error) {
	n, errno := v.batch.send(f.fd, count)
	switch {
	case errno != 0:
		return 0, u.refused(errno, 1)
	case n < count: // the one after the last did not go
		return int64(n), u.refused(unix.ENOBUFS, 1)
	}
	return int64(n), nil
}

// joined gives all datagrams to the kernel as one packet.
func (v *volley) joined(u *sendThread, f *outflow, count int) (int64, error) {
	_, errno := traffic.Send(f.fd, v.batch.memory[:count*v.batch.size], 0)
	switch errno {
	case 0:
		return int64(count), nil
	case unix.EINVAL, unix.EIO, unix.EMSGSIZE:
		return 0, fmt.Errorf("send %d datagrams of %d bytes at once (UDP_SEGMENT): %w; the path's MTU or its device does not carry them so: use mode %s", count, v.batch.size, errno, Mmsg)
	}
	return 0, u.refused(errno, int64(count))
}

// flood sends volley after volley, on each flow in turn.
type flood struct{ *volley }

func (p flood) pass(u *sendThread) (sum int64, now time.Duration, err error) {
	for i := range u.flow {
		n, err := p.send(u, &u.flow[i], p.most())
		sum += n
		if err != nil {
			return sum, u.run.Now(), err
		}
	}
	return sum, u.run.Now(), nil
}

// rounds sends a few datagrams on each flow in every slot of a schedule.
type rounds struct {
	*volley
	pacer
	count int // datagrams of each flow in a round
}

// newRounds is for a rate of datagrams per second of each flow.
func newRounds(v *volley, rate float64, spin bool) rounds {
	each := float64(time.Second) / rate
	count := min(max(int(float64(round)/each), 1), v.most())
	slot := each * float64(count)
	burst := max(int64(float64(catchUp)/slot), 1)
	return rounds{volley: v, pacer: newPacer(slot, burst, spin), count: count}
}

func (p *rounds) pass(u *sendThread) (sum int64, now time.Duration, err error) {
	now, due := p.next(u.run, u.meter.Opened())
	if !due {
		return 0, now, nil
	}
	for i := range u.flow {
		n, err := p.send(u, &u.flow[i], p.count)
		sum += n
		if err != nil {
			return sum, u.run.Now(), err
		}
	}
	return sum, u.run.Now(), nil
}
