package foreign

import (
	"fmt"
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
	b.known("side", run.sideIs())
	if !run.bounce {
		run.direction(b)
	}
	if flows := max(len(run.connected), streams(run.rows)); flows > 0 && !run.both() {
		b.param("flows", flows)
	}
	b.param("size", run.size)
	b.param("size", run.command.size("-l", "--len"))
	b.param("rate", run.command.rate("-b", "--bandwidth"))
	b.param("cc", run.command.word("-Z", "--tcp-congestion"))
	b.known("duration", lastEnd(run.rows, run.reported))
	return b
}

func (run *iperf2Run) direction(b *builder) {
	ahead, back := run.ways()
	switch {
	case ahead && back:
		b.param("direction", bidir)
	case back:
		b.param("direction", reverse)
	case run.sideIs() != "" || run.isCSV():
		b.param("direction", forward)
	}
}

// ways reports in which directions the run went.
func (run *iperf2Run) ways() (ahead, back bool) {
	for id, c := range run.connected {
		toBack := run.goesBack(id)
		ahead, back = ahead || !toBack || c.full, back || toBack || c.full
	}
	for _, rows := range [][]row{run.rows, run.reported} {
		for _, r := range rows {
			if r.id != sum {
				ahead, back = ahead || !run.goesBack(r.id), back || run.goesBack(r.id)
			}
		}
	}
	return ahead || run.full, back || run.full
}

// both reports whether the run went both ways.
func (run *iperf2Run) both() bool {
	ahead, back := run.ways()
	return ahead && back
}

// goesBack reports whether what a row of this id counts went from server to client: it
// has a star, at both ends, or its connection shows it.
func (run *iperf2Run) goesBack(id string) bool {
	c := run.connected[strings.TrimPrefix(id, "*")]
	return strings.HasPrefix(id, "*") || c.back || c.known && c.accepted == (run.sideIs() == client)
}

// oneWay are the rows of one direction. In a run that goes both ways a sum is that of neither.
func (run *iperf2Run) oneWay(rows []row, back bool) []row {
	both := run.both()
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		if r.id == sum || run.strange(r) {
			return both
		}
		return run.goesBack(r.id) != back
	})
}

// strange reports whether the line of a row's connection is missing, where those of others are there.
func (run *iperf2Run) strange(r row) bool {
	_, known := run.connected[strings.TrimPrefix(r.id, "*")]
	return !known && r.id != sum && len(run.connected) > 0 && !strings.HasPrefix(r.id, "*")
}

// oneForBoth reports whether the rows of connections that go both ways are not parted.
func (run *iperf2Run) oneForBoth() bool {
	full := run.full
	for _, c := range run.connected {
		full = full || c.full
	}
	stars := slices.ContainsFunc(run.rows, func(r row) bool { return strings.HasPrefix(r.id, "*") })
	return full && !run.isCSV() && len(run.rows) > 0 && !stars
}

// transfer notes a bulk transfer: the direction from client to server, or the only one.
func (run *iperf2Run) transfer(b *builder) {
	ahead, back := run.ways()
	if run.oneForBoth() {
		b.warn("both directions in one figure, as 2.0.14 gives them: neither is known")
		b.counter("throughput_both_ways", sumOfRows(overAll(run.rows)))
		return
	}
	if ahead && back && run.timeless() {
		b.warn("this version's CSV has no times: the directions were measured at the same time (-d) or one after the other (-r)")
	}
	if len(run.connected) == 0 && streams(run.rows) > 1 && !slices.ContainsFunc(run.rows, func(r row) bool { return r.id == sum }) {
		b.warn("several streams without a sum, which this tool prints: they may be of several runs")
	}
	if n := slices.IndexFunc(run.rows, run.strange); n >= 0 && ahead && back {
		b.warn("stream " + run.rows[n].id + " is in no direction: the line of its connection is missing")
	}
	bits, warnings, ok := run.carried(back && !ahead)
	if ok {
		b.metric("throughput", bits, warnings...)
	}
	if ahead && back {
		if bits, warnings, ok := run.carried(true); ok {
			b.counter("throughput_reverse", bits)
			for _, text := range warnings {
				b.warn(noted("throughput_reverse", text))
			}
		}
	}
	rows, reported := run.oneWay(run.rows, back && !ahead), run.oneWay(run.reported, back && !ahead)
	totals := overAll(rows)
	parts := whole(intervals(rows, totals))
	if totals == nil && len(parts) > 0 {
		b.warn(fmt.Sprintf("no summary: the mean of %d intervals", len(parts)))
	}
	b.rates("throughput", parts)
	run.datagrams(b, rows, totals, reported)
	b.datagramSeries(parts)
	run.latency(b, append(slices.Clone(reported), totals...))
	run.resent(b, totals, parts)
}

// intervals are the rows within a run; a run of one row has none.
func intervals(rows, totals []row) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return slices.ContainsFunc(totals, func(t row) bool { return t.start == r.start && t.end == r.end && t.id == r.id })
	})
}

// carried is what a direction carried, in bit/s: what its receiver counted, where the text
// has that.
func (run *iperf2Run) carried(back bool) (bits float64, warnings []string, ok bool) {
	rows, reported := run.oneWay(run.rows, back), run.oneWay(run.reported, back)
	counts := slices.ContainsFunc(rows, func(r row) bool { _, ok := parseDatagrams(r.tail); return ok })
	here := run.sideIs() != "" && back == (run.sideIs() == client) || counts
	totals := overAll(rows)
	switch parts := whole(intervals(rows, totals)); {
	case len(reported) > 0:
		return sumOfRows(reported), notes(together(reported).differs(), together(reported).exceeds(together(totals))), true
	case len(totals) > 0:
		bits, warnings = sumOfRows(totals), notes(together(totals).differs())
	case len(parts) > 0:
		bits = mean(parts)
	default:
		return 0, nil, false
	}
	switch {
	case here:
	case run.sideIs() == "" && !run.udp:
		warnings = append(warnings, eitherEnd)
	default:
		warnings = append(warnings, sendersFigure)
	}
	return bits, warnings, true
}

// datagrams notes loss and jitter as the receiver counted them.
func (run *iperf2Run) datagrams(b *builder, rows, totals, reported []row) {
	from := reported
	if len(from) == 0 {
		if from = totals; totals == nil {
			from = intervals(rows, nil)
		}
	}
	if d, ok := addUp(from); ok {
		sent := amount{}
		if run.sent > 0 && d.total > farMore*run.sent {
			d.lost, d.negative = 0, true // 2.0.13 can print a number of 2^31
		}
		if len(reported) > 0 {
			sent = together(totals)
		}
		b.loss(d, sent, together(reported), lastEnd(rows, reported))
	}
}

// farMore is by how much more datagrams than were sent a server can't have seen: its count has overflowed.
const farMore = 2

// together is what all rows carried: the SUM row's, else added up.
func together(rows []row) amount {
	var all amount
	for _, r := range rows {
		if r.id == sum {
			return r.carried
		}
		all.add(r.carried)
	}
	return all
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
// retransmits, from 2.2 on what is in flight, window and round trip.
var (
	enhanced    = expressionOf(`^\d+/\d+\s+(\d+)(?:\s+(?:\d+K?\(\d+\)/)?(-?\d+)K(?:\(\d+\))?/(\d+)(?:\(\d+\))?\s*us|\s*$)`)
	inFlight    = expressionOf(`^\d+/\d+\s+\d+\s+\d+K?\(\d+\)/`) // from 2.2 on
	readsTail   = expressionOf(`^\d+=\d+:`)
	oneWayTail  = expressionOf(`\)\s*([\d.]+)/\s*([\d.]+)/\s*([\d.]+)/\s*([\d.]+)\s*ms`)
	burstTail   = expressionOf(`^([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+)\s*ms\s*\(\d+/\d+\)`)
	bouncedTail = expressionOf(`^(\d+)=([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+)\s*ms\s*(\d+)`)
)

// resent notes retransmits, window and round trip of -e.
func (run *iperf2Run) resent(b *builder, totals, parts []row) {
	of := func(group int, factor float64) func(row) (float64, bool) {
		return func(r row) (float64, bool) {
			m := enhanced.FindStringSubmatch(r.tail)
			if m == nil || m[group] == "" || group > 1 && count(m[group]) <= 0 { // 2.2.1 prints a window it did not read as 0
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
	unread := len(parts) == 0 && slices.ContainsFunc(sums, func(r row) bool { return inFlight.MatchString(r.tail) })
	if ok && !run.udp && (total > 0 || !unread) { // 2.2.1 without -i says 0, whatever was sent again
		b.metric("retransmits", total)
	}
	if !run.udp && len(totals) == 1 {
		if window, known := of(2, 1024)(totals[0]); known {
			b.counter("cwnd_last", window)
		}
		if rtt, known := of(3, 1e-6)(totals[0]); known {
			b.counter("tcp_rtt_last", rtt)
		}
	}
	if !run.udp {
		b.series("retransmits", column(parts, of(1, 1)))
		b.series("cwnd", column(parts, of(2, 1024)))
		b.series("rtt", column(parts, of(3, 1e-6)))
	}
}

// latency notes the latency that the receiver of -e sees. It is one clock's
// only where both ends share it, which the text does not show.
func (run *iperf2Run) latency(b *builder, rows []row) {
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
