package foreign

import (
	"slices"
	"strings"
	"time"
)

// begin makes the run's cell with its params.
func (run *iperf2Run) begin() *builder {
	var b *builder
	switch {
	case run.bounce:
		b = newPair("iperf", "tcp_rr")
	case run.udp:
		b = newStream("iperf", "udp")
	default:
		b = newStream("iperf", "tcp")
	}
	b.known("tool_version", run.version)
	b.known("side", run.side)
	if !run.bounce {
		run.direction(b)
	}
	if flows := max(len(run.connected), streams(run.rows)); flows > 0 && !run.both {
		b.param("flows", flows)
	}
	b.param("size", run.size)
	b.param("size", run.command.size("-l", "--len"))
	b.param("rate", run.command.rate("-b", "--bandwidth"))
	b.param("cc", run.command.word("-Z", "--tcp-congestion"))
	last := 0.0
	for _, r := range append(slices.Clone(run.rows), run.reported...) {
		last = max(last, r.end)
	}
	b.known("duration", last)
	return b
}

func (run *iperf2Run) direction(b *builder) {
	switch {
	case run.both:
		b.param("direction", bidir)
	case run.back:
		b.param("direction", reverse)
	case run.side != "":
		b.param("direction", forward)
	}
}

// receives reports whether this end's rows count what arrived; known is false
// where the text does not show which end this is.
func (run *iperf2Run) receives() (here, known bool) {
	return run.side == server != run.back, run.side != ""
}

// transfer notes a bulk transfer.
func (run *iperf2Run) transfer(b *builder, totals, parts []row) {
	ahead, back := run.parted(totals)
	here, known := run.receives()
	switch {
	case len(run.reported) > 0:
		b.metric("throughput", sumOfRows(run.reported))
	case len(ahead) > 0 && here && known:
		b.metric("throughput", sumOfRows(ahead))
	case len(ahead) > 0:
		b.metric("throughput", sumOfRows(ahead), sendersFigure)
	case len(parts) > 0 && here && known:
		b.metric("throughput", mean(parts))
	case len(parts) > 0:
		b.metric("throughput", mean(parts), sendersFigure)
	}
	if len(back) > 0 {
		b.counter("throughput_reverse", sumOfRows(back))
	}
	if !run.both {
		b.rates("throughput", parts)
	}
	if d, ok := addUp(run.reported); ok {
		b.addDatagrams(d)
	} else if d, ok := addUp(totals); ok {
		b.addDatagrams(d)
	} else if d, ok := addUp(run.intervals()); ok && totals == nil {
		b.addDatagrams(d)
	}
	b.datagramSeries(parts)
	run.oneWay(b, append(slices.Clone(run.reported), totals...))
	run.resent(b, totals, parts)
}

// parted divides the rows over the run by direction, client to server first. In
// a run that goes both ways a star marks the streams that the server sends; a
// sum over both is that of neither.
func (run *iperf2Run) parted(totals []row) (ahead, back []row) {
	if !run.both {
		return totals, nil
	}
	for _, r := range totals {
		switch {
		case r.id == sum:
		case strings.HasPrefix(r.id, "*") != (run.side == server):
			back = append(back, r)
		default:
			ahead = append(ahead, r)
		}
	}
	return ahead, back
}

// sumOfRows is the rate of all streams: the SUM row's, else added up.
func sumOfRows(rows []row) float64 {
	for _, r := range rows {
		if r.id == sum {
			return r.bits
		}
	}
	bits := 0.0
	for _, r := range rows {
		bits += r.bits
	}
	return bits
}

// enhanced is the end of a TCP sender's row under -e: writes and their errors,
// retransmits, window and round trip.
var (
	enhanced    = expressionOf(`^\d+/\d+\s+(\d+)(?:\s+(\d+)K/(\d+)(?:\(\d+\))?\s*us|\s*$)`)
	oneWayTail  = expressionOf(`\)\s*([\d.]+)/\s*([\d.]+)/\s*([\d.]+)/\s*([\d.]+)\s*ms`)
	burstTail   = expressionOf(`^([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+)\s*ms\s*\(\d+/\d+\)`)
	bouncedTail = expressionOf(`^(\d+)=([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+)\s*ms\s*(\d+)`)
)

// resent notes retransmits, window and round trip of -e.
func (run *iperf2Run) resent(b *builder, totals, parts []row) {
	of := func(group int, factor float64) func(row) (float64, bool) {
		return func(r row) (float64, bool) {
			m := enhanced.FindStringSubmatch(r.tail)
			if m == nil || m[group] == "" {
				return 0, false
			}
			return count(m[group]) * factor, true
		}
	}
	sums := slices.DeleteFunc(slices.Clone(totals), func(r row) bool { return r.id != sum })
	if len(sums) == 0 {
		sums = totals
	}
	if len(sums) == 0 {
		sums = parts
	}
	total, ok := 0.0, len(sums) > 0
	for _, r := range sums {
		v, has := of(1, 1)(r)
		total, ok = total+v, ok && has
	}
	if ok && !run.udp {
		b.metric("retransmits", total)
	}
	if !run.udp {
		b.series("retransmits", column(parts, of(1, 1)))
		b.series("cwnd", column(parts, of(2, 1024)))
		b.series("rtt", column(parts, of(3, 1e-6)))
	}
}

// oneWay notes the latency that the receiver of -e sees. It is one clock's
// only where both ends share it, which the text does not show.
func (run *iperf2Run) oneWay(b *builder, rows []row) {
	for _, r := range rows {
		m := oneWayTail.FindStringSubmatch(r.tail)
		if m == nil {
			m = burstTail.FindStringSubmatch(r.tail)
		}
		if m == nil || len(rows) > 1 && r.id != sum && streams(rows) > 1 {
			continue
		}
		b.metric("latency_one_way", seconds(count(m[1]), time.Millisecond), "between the clocks of two ends: true where both are the same or synchronised")
		b.counter("latency_one_way_min", seconds(count(m[2]), time.Millisecond))
		b.counter("latency_one_way_max", seconds(count(m[3]), time.Millisecond))
		b.counter("latency_one_way_stdev", seconds(count(m[4]), time.Millisecond))
		return
	}
}

// roundTrips notes a bounce-back test: full round trips.
func (run *iperf2Run) roundTrips(b *builder, totals []row) {
	for _, r := range totals {
		m := bouncedTail.FindStringSubmatch(r.tail)
		if m == nil {
			continue
		}
		b.metric("rtt_mean", seconds(count(m[2]), time.Millisecond))
		b.metric("retransmits", count(m[6]))
		b.counter("rtt_min", seconds(count(m[3]), time.Millisecond))
		b.counter("rtt_max", seconds(count(m[4]), time.Millisecond))
		b.counter("rtt_stdev", seconds(count(m[5]), time.Millisecond))
		b.counter("round_trips", count(m[1]))
		b.metric("rate", count(m[1])/r.end) // from 0 on
	}
	if len(b.cell.Metrics) == 0 && len(totals) > 0 {
		b.counter("throughput", sumOfRows(totals)) // the server's rows hold no round trips
	}
}
