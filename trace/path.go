package trace

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/cilium/ebpf"
)

// Point is a place on a packet's way at which the time is taken.
type Point uint32

// The points, as in bpf/path.bpf.c.
const (
	pointSend     Point = 1
	pointQueue    Point = 2
	pointTransmit Point = 3
	pointArrive   Point = 4
	pointPoll     Point = 5
	pointReceive  Point = 6
	pointReady    Point = 7
	pointReturn   Point = 8
	pointWhole    Point = 9
)

// Stop is a point at a device; sockets have none.
type Stop struct {
	Point  Point
	At     string // "h1/c1"; empty: a namespace that is none of the lab's
	Device Device
}

// Leg is the way between two stops that follow each other.
type Leg struct {
	Response bool // towards the client
	From, To Stop
}

// Span is what a leg took: on all ways, and on the middle fifth of them by how
// long the whole way took. What interrupts a way now and then is in the former
// alone.
type Span struct {
	All  Times
	Like Middle
}

// Middle is what a leg took on the middle fifth of a pass's ways, counted as often as if all
// had been like these: so a pass counts by its ways, and not by how many of them share a
// bucket with the median.
type Middle struct{ Count, Sum float64 } // ns

// Path is what one or several passes saw of the ways of packets.
type Path struct {
	Legs    map[Leg]*Span
	Whole   Span   // from the first stop to the last
	Began   uint64 // packets that were sent
	Arrived uint64 // ways that were followed to their end
	Joined  uint64 // packets that ended as parts of others
	Lost    map[Loss]uint64
}

// Add adds another pass.
func (p *Path) Add(q Path) {
	if p.Legs == nil {
		p.Legs, p.Lost = map[Leg]*Span{}, map[Loss]uint64{}
	}
	for leg, span := range q.Legs {
		if p.Legs[leg] == nil {
			p.Legs[leg] = new(Span)
		}
		p.Legs[leg].add(span)
	}
	for loss, packets := range q.Lost {
		p.Lost[loss] += packets
	}
	p.Whole.add(&q.Whole)
	p.Began += q.Began
	p.Arrived += q.Arrived
	p.Joined += q.Joined
}

func (s *Span) add(other *Span) {
	s.All.add(&other.All)
	s.Like.Count += other.Like.Count
	s.Like.Sum += other.Like.Sum
}

// wayLeg is a leg of those ways whose whole took a time of this bucket.
type wayLeg struct {
	bucket int
	leg    Leg
}

// typical joins the legs of ways however long they took, and those of the
// middle fifth.
func typical(ways map[wayLeg]*Times) Path {
	p := Path{Legs: map[Leg]*Span{}}
	for way, times := range ways {
		if way.leg.To.Point == pointWhole {
			p.Whole.All.add(times)
		}
	}
	from, to := p.Whole.All.middle()
	scale := p.Whole.All.scaleOf(from, to)
	for way, times := range ways {
		span := &p.Whole
		if way.leg.To.Point != pointWhole {
			if p.Legs[way.leg] == nil {
				p.Legs[way.leg] = new(Span)
			}
			span = p.Legs[way.leg]
			span.All.add(times)
		}
		if way.bucket >= from && way.bucket <= to {
			span.Like.Count += scale * float64(times.Count)
			span.Like.Sum += scale * float64(times.Sum)
		}
	}
	return p
}

// edge is a key of the map hops.
type edge struct {
	Whole, Response                    uint32
	FromPoint, FromDevice, FromNetwork uint32
	ToPoint, ToDevice, ToNetwork       uint32
}

// The counts of bpf/path.bpf.c.
const (
	countBegan uint32 = iota
	countArrived
	_ // lost: the ledger has them
	countJoined
)

// Pass is what to follow.
type Pass struct {
	Networks []Network
	Port     uint16 // where the workload's server listens
	Rounds   bool   // each request is answered by one message: a way is there and back
	Closed   bool   // a client that has its answer sends at once: what it does between is part of the way
}

// Follow follows the workload's packets while run runs. It needs tier Packets.
func (t *Tracer) Follow(pass Pass, run func() error) (p Path, err error) {
	err = errors.Join(
		t.forget(), t.within(t.path, pass.Networks),
		t.path.Variables["port"].Set(pass.Port), t.path.Variables["rounds"].Set(number(pass.Rounds)),
		t.path.Variables["closed"].Set(number(pass.Closed)),
	)
	if err != nil {
		return p, fmt.Errorf("prepare tracing: %w", err)
	}
	detach, err := attachAll(t.path)
	if err != nil {
		return p, err
	}
	err = errors.Join(during(t.path, func() error { return errors.Join(run(), t.settle()) }), detach())
	if err != nil {
		return p, err
	}
	return t.readPath()
}

// How long packets are waited for that are under way when a run has ended: at most, and
// while none of them arrives. How often they are looked for.
const (
	settleMost  = 200 * time.Millisecond
	settleStill = 30 * time.Millisecond
	settleStep  = 2 * time.Millisecond
)

// trip is a value of the map trips.
type trip struct {
	Began, Last     uint64
	Steps, Response uint32
	Step            [64]struct{ Point, Device, Network, Took uint32 }
}

// settle waits until no packet is under way: on a busy machine some still wait in a
// CPU's backlog when the run has ended, and may be lost there. Of TCP's packets some
// seem to be under way for ever, since they were joined to others in the socket.
func (t *Tracer) settle() error {
	begun := time.Now()
	for before, since := -1, begun; time.Since(begun) < settleMost && time.Since(since) < settleStill; time.Sleep(settleStep) {
		under, err := t.underWay()
		if err != nil || under == 0 {
			return err
		}
		if under != before {
			before, since = under, time.Now()
		}
	}
	return nil
}

// underWay counts the packets between two points of their way: not yet in a socket.
func (t *Tracer) underWay() (packets int, err error) {
	var packet uint64
	var on trip
	entries := t.path.Maps["trips"].Iterate()
	for entries.Next(&packet, &on) {
		if n := on.Steps; n > 0 && n <= uint32(len(on.Step)) && Point(on.Step[n-1].Point) < pointReady {
			packets++
		}
	}
	switch err := entries.Err(); {
	case errors.Is(err, ebpf.ErrIterationAborted): // entries came and went
		return packets + 1, nil
	case err != nil:
		return packets, fmt.Errorf("read which packets are under way: %w", err)
	}
	return packets, nil
}

func number(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// forget empties what the last pass left.
func (t *Tracer) forget() error {
	for _, name := range []string{"hops", "losses", "trips", "calls", "ready", "held", "returns"} {
		if err := empty(t.path.Maps[name]); err != nil {
			return fmt.Errorf("empty map %s: %w", name, err)
		}
	}
	zero := make([]uint64, ebpf.MustPossibleCPU())
	for _, n := range []uint32{countBegan, countArrived, countJoined} {
		if err := t.path.Maps["counts"].Put(n, zero); err != nil {
			return fmt.Errorf("empty map counts: %w", err)
		}
	}
	return nil
}

// empty deletes every entry of a map.
func empty(m *ebpf.Map) error {
	key := make([]byte, m.KeySize())
	for {
		err := m.NextKey(nil, &key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err == nil {
			err = m.Delete(key)
		}
		if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return err
		}
	}
}

func (t *Tracer) readPath() (Path, error) {
	ways := map[wayLeg]*Times{}
	var e edge
	var times Times
	entries := t.path.Maps["hops"].Iterate()
	for entries.Next(&e, &times) {
		way := wayLeg{int(e.Whole), Leg{
			Response: e.Response == 1,
			From:     t.stop(e.FromPoint, e.FromNetwork, e.FromDevice),
			To:       t.stop(e.ToPoint, e.ToNetwork, e.ToDevice),
		}}
		if ways[way] == nil {
			ways[way] = new(Times)
		}
		ways[way].add(&times)
	}
	p := typical(ways)
	err := entries.Err()
	for n, into := range map[uint32]*uint64{countBegan: &p.Began, countArrived: &p.Arrived, countJoined: &p.Joined} {
		var onCPU []uint64
		err = errors.Join(err, t.path.Maps["counts"].Lookup(n, &onCPU))
		for _, count := range onCPU {
			*into += count
		}
	}
	lost, errLost := t.readLosses()
	p.Lost = maps.Clone(lost)
	if err = errors.Join(err, errLost); err != nil {
		return p, fmt.Errorf("read what was traced: %w", err)
	}
	return p, nil
}

func (t *Tracer) stop(point, inode, device uint32) Stop {
	network := t.networks[inode]
	return Stop{Point: Point(point), At: network.At, Device: network.Devices[device]}
}
