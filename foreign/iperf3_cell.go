package foreign

import (
	"fmt"
	"slices"

	"tare/result"
)

// cell makes the run that was read a cell.
func (run *iperf3Run) cell() result.Cell {
	b := newStream("iperf3", run.protocol())
	ahead, back := run.directions()
	run.params(b, len(back.intervals)+len(back.totals) > 0)
	run.rates(b, ahead, "throughput")
	if len(back.intervals)+len(back.totals) > 0 {
		run.rates(b, back, "throughput_reverse")
	}
	run.columns(b, ahead)
	for name, value := range run.counters {
		b.counter(name, value)
	}
	if len(run.intervals)+len(run.totals) == 0 && run.failure == "" {
		b.warn("no figures: the text breaks off before them")
	}
	b.warn(run.missing(ahead))
	for _, text := range nothingsLeftOut(run.nothings) {
		b.warn(text)
	}
	carried := func(r row) bool { return r.bits > 0 }
	switch {
	case run.interrupt == "":
	case slices.ContainsFunc(run.intervals, carried) || slices.ContainsFunc(run.totals, carried):
		b.warn("interrupted: " + run.interrupt)
	default:
		b.fail("interrupted before anything was carried: " + run.interrupt)
	}
	b.fail(run.failure)
	return b.done()
}

// missing is a warning where the figures are of some streams only; empty: they are of all.
func (run *iperf3Run) missing(f flow) string {
	isSum := func(r row) bool { return r.id == sum }
	if slices.ContainsFunc(f.totals, isSum) || slices.ContainsFunc(f.intervals, isSum) {
		return ""
	}
	seen := max(streams(f.totals), streams(f.intervals))
	if received := streams(slices.DeleteFunc(slices.Clone(f.totals), func(r row) bool { return !r.receives })); received > 0 {
		seen = received
	}
	all, _ := run.command.number("-P", "--parallel").(int)
	if all = max(all, streams(f.totals)); seen == 0 || seen >= all {
		return ""
	}
	return fmt.Sprintf("the text has no sum, and the figures of %d of %d streams: these alone are added up", seen, all)
}

// flow is what one direction carried.
type flow struct {
	intervals, totals []row
	local             string // what this end does in it: "TX", "RX", or "" where that is unknown
}

// directions parts the rows of a run that goes both ways. The first is the one
// from client to server there, and the only one elsewhere.
func (run *iperf3Run) directions() (ahead, back flow) {
	part := func(rows []row, role string, server bool) []row {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.role != role || r.ofServer != server })
	}
	for _, rows := range [][]row{run.intervals, run.totals} {
		for _, r := range rows {
			if r.role == "" {
				continue
			}
			mine, theirs := "TX", "RX"
			if r.ofServer {
				mine, theirs = theirs, mine
			}
			ahead = flow{part(run.intervals, mine, r.ofServer), part(run.totals, mine, r.ofServer), mine}
			back = flow{part(run.intervals, theirs, r.ofServer), part(run.totals, theirs, r.ofServer), theirs}
			return ahead, back
		}
	}
	return flow{run.intervals, run.totals, run.local()}, flow{}
}

// local is what this end does where all goes one way.
func (run *iperf3Run) local() string {
	switch {
	case run.sideIs() == server && slices.ContainsFunc(run.totals, func(r row) bool { return r.receives }):
		return "RX"
	case run.sideIs() == server && slices.ContainsFunc(run.totals, func(r row) bool { return r.sends }):
		return "TX"
	case run.opened && !run.reverse:
		return "TX"
	case run.reverse:
		return "RX"
	}
	for _, r := range run.intervals {
		if _, window := retransmits(r); window != nil || run.isUDP() && r.countsDatagrams() {
			return "TX"
		}
		if _, ok := parseDatagrams(r.tail); ok {
			return "RX"
		}
	}
	if run.sideIs() == server && run.headed && !run.sending {
		return "RX"
	}
	return ""
}

// sideIs is the end whose output this is, "" where that is unknown.
func (run *iperf3Run) sideIs() string {
	for _, rows := range [][]row{run.intervals, run.totals} {
		for _, r := range rows {
			if r.role != "" && r.ofServer {
				return server
			}
			if r.role != "" {
				return client
			}
		}
	}
	switch {
	case run.side != "":
		return run.side
	case run.finished || run.opened:
		return client
	case run.server:
		return server
	}
	return ""
}

// protocol is "tcp", "udp" or "sctp", and "" for a run that broke off before it named it.
func (run *iperf3Run) protocol() string {
	switch {
	case run.isUDP():
		return "udp"
	case run.sctp:
		return "sctp"
	case run.named || len(run.intervals)+len(run.totals) > 0 || len(run.command.args) > 0:
		return "tcp"
	}
	return ""
}

// isUDP reports whether the run is UDP; without a heading the columns show it.
func (run *iperf3Run) isUDP() bool {
	if run.udp || run.named {
		return run.udp
	}
	if run.command.has("-u", "--udp") {
		return true
	}
	// A row of sent datagrams ends in their number, a TCP sender's in its window.
	return slices.ContainsFunc(run.intervals, func(r row) bool { return r.id != sum && r.countsDatagrams() })
}

// countsDatagrams reports whether a row ends in a number by which its bytes make datagrams: where the
// columns after it were cut off, that of a TCP sender is of what it sent again.
func (r row) countsDatagrams() bool {
	const largest = 65507 // bytes of data
	return loneNumber.MatchString(r.tail) && r.carried.bytes-r.carried.bytesOff <= largest*count(r.tail)
}

var (
	loneNumber = expressionOf(`^\d+$`)
	tcpSender  = expressionOf(`^(\d+)(?:\s+([\d.]+)\s*([KMG]?)Bytes)?(?:\s*s[ender]*|\s*)$`)
)

// retransmits are those of a TCP sender's row, and its window in bytes. The
// blank between them must be there: else one cannot see where the first ends.
func retransmits(r row) (again, window *float64) {
	m := tcpSender.FindStringSubmatch(r.tail)
	if m == nil {
		return nil, nil
	}
	value := count(m[1])
	if m[2] == "" {
		return &value, nil
	}
	bytes := count(m[2]) * kibi(m[3])
	return &value, &bytes
}

func (run *iperf3Run) params(b *builder, both bool) {
	b.known("tool_version", run.version)
	side := run.sideIs()
	b.known("side", side)
	flows := max(run.connected, streams(run.intervals), streams(run.totals))
	switch {
	case both || run.command.has("--bidir", "--bidir"):
		b.param("direction", bidir)
		flows = (flows + 1) / 2
	case run.opened && !run.reverse, side == server && run.local() == "RX":
		b.param("direction", forward)
	case run.reverse, side == server && run.local() == "TX":
		b.param("direction", reverse)
	}
	b.param("flows", run.command.number("-P", "--parallel"))
	if flows > 1 || !slices.ContainsFunc(run.totals, func(r row) bool { return r.id == sum }) { // one stream has no sum
		b.known("flows", flows)
	}
	b.param("size", run.size)
	b.param("size", run.command.size("-l", "--length"))
	if target, ok := run.target.(float64); ok && target > 0 {
		b.param("rate", target)
	}
	b.param("rate", run.command.rate("-b", "--bitrate"))
	b.known("cc", run.cc)
	b.param("cc", run.command.word("-C", "--congestion"))
	b.known("duration", lastEnd(run.intervals, run.totals))
}

// rates notes the throughput of a direction: the receiver's where it is there.
func (run *iperf3Run) rates(b *builder, f flow, name string) {
	value, warnings, ok := run.throughput(f)
	if ok && name == "throughput" {
		b.metric(name, value, warnings...)
	} else if ok {
		b.counter(name, value)
		for _, text := range warnings {
			b.warn(noted(name, text))
		}
	}
	b.rates(name, whole(f.intervals))
}

// columns notes what else the rows of a direction hold.
func (run *iperf3Run) columns(b *builder, f flow) {
	parts := whole(f.intervals)
	if run.isUDP() {
		run.datagrams(b, f, parts)
		return
	}
	senders := whole(slices.DeleteFunc(slices.Clone(f.totals), func(r row) bool { return !r.sends }))
	again, known := added(f.totals, senders)
	if !known && (len(f.totals) == 0 || covers(parts, lastEnd(f.totals))) {
		again, known = added(f.intervals, parts)
	}
	if known {
		b.metric("retransmits", again)
	}
	b.series("retransmits", column(parts, func(r row) (float64, bool) {
		v, _ := retransmits(r)
		return deref(v)
	}))
	b.series("cwnd", column(parts, func(r row) (float64, bool) {
		_, window := retransmits(r)
		return deref(window)
	}))
}

// covers reports whether intervals are all of a run of some seconds.
func covers(parts []row, seconds float64) bool {
	sum := 0.0
	for _, r := range parts {
		sum += r.end - r.start
	}
	return sum > 0.95*seconds
}

func deref(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

// added is the sum of the rows' retransmits. Rows that were added up from
// several streams have lost theirs: then those of the streams count.
func added(rows, all []row) (again float64, known bool) {
	from := all
	if !slices.ContainsFunc(rows, func(r row) bool { return r.id == sum }) {
		from = rows
	}
	for _, r := range from {
		if r.receives {
			continue
		}
		v, _ := retransmits(r)
		if v == nil {
			if flush(r, from) {
				continue
			}
			return 0, false
		}
		again, known = again+*v, true
	}
	return again, known
}

// datagrams notes loss and jitter: the receiver's, which in older versions
// are in the only total. A server that sends does not have them, and prints 0.
func (run *iperf3Run) datagrams(b *builder, f flow, parts []row) {
	if f.local == "TX" && run.sideIs() == server {
		b.warn(lossNotKnown)
		return
	}
	received := slices.DeleteFunc(slices.Clone(f.totals), func(r row) bool { return r.sends })
	d, ok := addUp(received)
	if !ok {
		d, ok = addUp(f.intervals)
	}
	if ok {
		receiver, sender, _ := f.ends()
		b.loss(d, amountOf(sender), amountOf(receiver), lastEnd(f.intervals, f.totals))
	}
	b.datagramSeries(parts)
}

// lossNotKnown is the warning of a server that sends.
const lossNotKnown = "the loss is not known: this end sent, and the receiver's count is not in its output"

// amountOf is what the first of the rows carried.
func amountOf(rows []row) amount {
	if len(rows) == 0 {
		return amount{}
	}
	return rows[0].carried
}

// lastEnd is when the last of the rows ends.
func lastEnd(groups ...[]row) float64 {
	last := 0.0
	for _, rows := range groups {
		for _, r := range rows {
			last = max(last, r.end)
		}
	}
	return last
}
