package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tare/result"
)

// readIperf3JSON reads iperf3 -J: a cell, and a second one where the server's
// document or text came with it.
func readIperf3JSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var d Iperf3Document
	if err := json.Unmarshal(doc, &d); err != nil || d.Start == nil {
		return nil, false
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(doc, &keys); err != nil {
		return nil, false
	}
	_, intervals := keys["intervals"]
	_, end := keys["end"]
	if !intervals && !end && !strings.HasPrefix(d.Start.Version, "iperf") {
		return nil, false
	}
	cells := []result.Cell{d.cell(cut, len(null().FindAllIndex(doc, -1)))}
	var more []result.Cell
	if d.Server != nil {
		more, _ = readIperf3JSON(d.Server, false)
	} else if d.ServerText != "" {
		more = readIperf3(clean([]byte(d.ServerText)))
	}
	for n := range more {
		agree(&cells[0], &more[n])
	}
	return append(cells, more...), true
}

// null is a number that was nan or infinite: newer versions write it so.
var null = expressionOf(`:\s*null\b`)

func (d *Iperf3Document) cell(cut bool, nothings int) result.Cell {
	b := newStream("iperf3", strings.ToLower(d.Start.Test.Protocol))
	d.params(b)
	if cut {
		b.warn("the document breaks off: what was whole of it is read")
	}
	for _, text := range nothingsLeftOut(nothings) {
		b.warn(text)
	}
	d.throughput(b)
	d.totals(b)
	d.series(b)
	if d.End.CPU != nil {
		b.counter("cpu_local", d.End.CPU.HostTotal/100)
		if d.Start.Accepted == nil { // a server does not receive it and writes 0
			b.counter("cpu_remote", d.End.CPU.RemoteTotal/100)
		}
	}
	switch {
	case len(d.Intervals) > 0 && (strings.Contains(d.Error, "interrupt") || strings.Contains(d.Error, "has terminated")):
		b.warn("interrupted: " + d.Error)
	case d.Error != "":
		b.fail(cmp.Or(strings.TrimPrefix(d.Error, "error - "), d.Error))
	}
	return b.done()
}

func (d *Iperf3Document) params(b *builder) {
	if version, ok := strings.CutPrefix(d.Start.Version, "iperf "); ok {
		b.param("tool_version", version)
	}
	test := d.Start.Test
	switch {
	case d.Start.ConnectingTo != nil:
		b.param("side", client)
	case d.Start.Accepted != nil:
		b.param("side", server)
	}
	switch {
	case test.Protocol == "":
	case d.bidir():
		b.param("direction", bidir)
	case test.Reverse != 0:
		b.param("direction", reverse)
	default:
		b.param("direction", forward)
	}
	b.known("flows", test.Streams)
	b.known("size", test.Size)
	b.known("rate", test.Target)
	b.known("cc", d.End.SenderCC)
	b.known("cc", d.End.ReceiverCC)
	last := 0.0
	for _, s := range []*Iperf3Span{d.End.Received, d.End.Sent} {
		if s != nil {
			last = max(last, s.End)
		}
	}
	if parts := d.parts(false); last == 0 && len(parts) > 0 {
		last = parts[len(parts)-1].End
	}
	b.known("duration", last)
}

// bidir reports whether a run went both ways; versions before 3.13 do not write it in
// its start.
func (d *Iperf3Document) bidir() bool {
	return d.Start.Test.Bidir != 0 || d.End.ReceivedReverse != nil || len(d.Intervals) > 0 && d.Intervals[0].Reverse != nil
}

// parts are the intervals of one direction, without those that -O omits.
func (d *Iperf3Document) parts(back bool) []Iperf3Span {
	var parts []Iperf3Span
	for _, interval := range d.Intervals {
		s := interval.Sum
		if back {
			s = interval.Reverse
		}
		if s == nil || s.Omitted != nil && *s.Omitted || s.BitsPerSecond == nil {
			continue
		}
		one := *s
		if len(interval.Streams) == 1 {
			one.SndCwnd, one.RTT = interval.Streams[0].SndCwnd, interval.Streams[0].RTT
		}
		parts = append(parts, one)
	}
	return parts
}

// throughput notes what each direction carried.
func (d *Iperf3Document) throughput(b *builder) {
	sends := d.sends()
	sent, received := d.End.Sent, d.End.Received
	if sent == nil && received == nil && sends != nil && d.End.Sum.amount().bits > 0 { // UDP, before 3.7
		if received = d.End.Sum; *sends {
			sent, received = d.End.Sum, nil
		}
	}
	if bits, warnings, ok := carried(sent, received, d.parts(false), sends); ok {
		b.metric("throughput", bits, warnings...)
	}
	if !d.bidir() {
		return
	}
	if sends != nil {
		other := !*sends
		sends = &other
	}
	if bits, warnings, ok := carried(d.End.SentReverse, d.End.ReceivedReverse, d.parts(true), sends); ok {
		b.counter("throughput_reverse", bits)
		for _, text := range warnings {
			b.warn(noted("throughput_reverse", text))
		}
	}
}

// sends reports whether this end sends in the first direction; nil where the
// document breaks off before that.
func (d *Iperf3Document) sends() *bool {
	sends := false
	switch {
	case d.Start.Test.Protocol == "":
		return nil
	case d.Start.ConnectingTo != nil:
		sends = d.Start.Test.Reverse == 0
	case d.Start.Accepted != nil:
		sends = d.Start.Test.Reverse != 0
	default:
		return nil
	}
	return &sends
}

// carried is a direction's throughput in bit/s. A server's document holds
// zeros for the end that is not its own: these are no figures.
func carried(sent, received *Iperf3Span, parts []Iperf3Span, sends *bool) (bits float64, warnings []string, ok bool) {
	var time float64
	for _, p := range parts {
		bits += *p.BitsPerSecond * (p.End - p.Start)
		time += p.End - p.Start
	}
	if time > 0 {
		bits /= time
	}
	from, to := sent.amount(), received.amount()
	switch {
	case to.bits > 0:
		warnings = notes(to.differs(), to.exceeds(from))
		if sends != nil && !*sends && time > 0 && apart(to.bits, to.seconds, bits, time) {
			warnings = append(warnings, fmt.Sprintf(intervalsDiffer, bits))
		}
		return to.bits, warnings, true
	case received != nil && received.BitsPerSecond != nil && sends != nil && !*sends:
		return 0, nil, true // this end counted what arrived
	case from.bits > 0:
		return from.bits, notes(sendersFigure), true
	case received != nil && received.BitsPerSecond != nil && bits == 0:
		return 0, nil, true
	case time == 0:
		return 0, nil, false
	}
	text := fmt.Sprintf("no summary: the mean of %d intervals", len(parts))
	if sends == nil || *sends {
		text += "; " + sendersFigure
	}
	return bits, notes(text), true
}

// amount is what a span carried; all is 0 where there is none.
func (s *Iperf3Span) amount() amount {
	if s == nil || s.BitsPerSecond == nil {
		return amount{}
	}
	return amount{bytes: s.Bytes, seconds: s.End - s.Start, bits: *s.BitsPerSecond}
}
