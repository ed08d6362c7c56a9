package foreign

import (
	"time"

	"tare/result"
)

// totals notes what the sums and streams of the end hold in addition to the
// throughput.
func (d *Iperf3Document) totals(b *builder) {
	switch {
	case d.Start.Test.Protocol == "UDP":
		d.datagrams(b)
	case d.End.Sent != nil && d.End.Sent.Retransmits != nil:
		b.metric("retransmits", *d.End.Sent.Retransmits)
	case d.End.Sent == nil:
		if again, ok := sumOf(d.parts(false), func(s Iperf3Span) *float64 { return s.Retransmits }); ok {
			b.metric("retransmits", again)
		}
	}
	var mean, least, most, reorder, unordered float64
	counted, reordered := 0, false
	for _, s := range d.End.Streams {
		if s.UDP != nil {
			unordered += orZero(s.UDP.OutOfOrder)
		}
		if s.Sender == nil {
			continue
		}
		if s.Sender.Reorder != nil {
			reorder, reordered = reorder+*s.Sender.Reorder, true
		}
		if rtt := orZero(s.Sender.MeanRTT); s.Sender.Sender && rtt > 0 {
			if lowest := orZero(s.Sender.MinRTT); counted == 0 || lowest < least {
				least = lowest
			}
			mean, most, counted = mean+rtt, max(most, orZero(s.Sender.MaxRTT)), counted+1
		}
	}
	if counted > 0 { // TCP's smoothed round trip under this load: no metric of a workload
		b.counter("tcp_rtt_mean", seconds(mean/float64(counted), time.Microsecond))
		b.counter("tcp_rtt_min", seconds(least, time.Microsecond))
		b.counter("tcp_rtt_max", seconds(most, time.Microsecond))
	}
	if reordered {
		b.counter("reordering", reorder)
	}
	if unordered > 0 {
		b.counter("out_of_order", unordered)
	}
}

// orZero is the value of a field, and 0 where the document lacks it.
func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// datagrams notes loss and jitter: the receiver's, where it counted. A server that
// sends does not have them, and writes 0.
func (d *Iperf3Document) datagrams(b *builder) {
	if sends := d.sends(); sends != nil && *sends && d.Start.Accepted != nil {
		b.warn(lossNotKnown)
		return
	}
	parts, last := d.parts(false), 0.0
	if len(parts) > 0 {
		last = parts[len(parts)-1].End
	}
	for _, s := range []*Iperf3Span{d.End.Received, d.End.Sum} {
		if s != nil && s.Packets != nil && *s.Packets > 0 && s.Lost != nil && s.JitterMS != nil {
			b.loss(d.ofStreams(s.arrived()), d.End.Sent.amount(), d.End.Received.amount(), max(last, s.End))
			return
		}
	}
	lost, okLost := sumOf(parts, func(s Iperf3Span) *float64 { return s.Lost })
	packets, okPackets := sumOf(parts, func(s Iperf3Span) *float64 { return s.Packets })
	if okLost && okPackets && parts[len(parts)-1].JitterMS != nil {
		all := parts[len(parts)-1].arrived()
		all.lost, all.total = lost, packets
		b.loss(all, amount{}, amount{}, last)
	}
}

// ofStreams is the loss of a sum, unless its streams contradict it: then it is theirs.
func (d *Iperf3Document) ofStreams(sum datagrams) datagrams {
	each := datagrams{jitter: sum.jitter}
	for _, s := range d.End.Streams {
		if s.UDP == nil || s.UDP.Lost == nil || s.UDP.Packets == nil || d.bidir() {
			return sum // in a run that goes both ways they are those of both
		}
		each.lost, each.total = each.lost+*s.UDP.Lost, each.total+*s.UDP.Packets
	}
	return sum.or(each)
}

// arrived is the loss and jitter of a sum that has both.
func (s *Iperf3Span) arrived() datagrams {
	return datagrams{jitter: seconds(*s.JitterMS, time.Millisecond), lost: *s.Lost, total: *s.Packets, negative: *s.Lost < 0}
}

// sumOf adds up a column, where every interval has it.
func sumOf(parts []Iperf3Span, of func(Iperf3Span) *float64) (float64, bool) {
	total := 0.0
	for _, p := range parts {
		v := of(p)
		if v == nil {
			return 0, false
		}
		total += *v
	}
	return total, len(parts) > 0
}

// series notes what the intervals hold.
func (d *Iperf3Document) series(b *builder) {
	whole := func(parts []Iperf3Span) []Iperf3Span {
		var kept []Iperf3Span
		for _, p := range parts {
			if first := parts[0]; p.End-p.Start >= 0.05*(first.End-first.Start) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	parts := whole(d.parts(false))
	for _, c := range []struct {
		name  string
		scale float64
		of    func(Iperf3Span) *float64
	}{
		{"throughput", 1, func(s Iperf3Span) *float64 { return s.BitsPerSecond }},
		{"retransmits", 1, func(s Iperf3Span) *float64 { return s.Retransmits }},
		{"cwnd", 1, func(s Iperf3Span) *float64 { return s.SndCwnd }},
		{"rtt", 1e6, func(s Iperf3Span) *float64 { return s.RTT }},
		{"jitter", 1e3, func(s Iperf3Span) *float64 { return s.JitterMS }},
		{"lost", 1, func(s Iperf3Span) *float64 { return s.Lost }},
		{"datagrams", 1, func(s Iperf3Span) *float64 { return s.Packets }},
	} {
		b.series(c.name, columnOf(parts, c.scale, c.of))
	}
	b.series(result.StepEnds, columnOf(parts, 1, func(s Iperf3Span) *float64 {
		end := s.End - parts[0].Start
		return &end
	}))
	b.series("throughput_reverse", columnOf(whole(d.parts(true)), 1, func(s Iperf3Span) *float64 { return s.BitsPerSecond }))
}

// columnOf returns a value per interval, so many of which make one in the SI
// unit; nil where an interval lacks it.
func columnOf(parts []Iperf3Span, perUnit float64, of func(Iperf3Span) *float64) []float64 {
	var points []float64
	for _, p := range parts {
		v := of(p)
		if v == nil {
			return nil
		}
		points = append(points, *v/perUnit)
	}
	return points
}
