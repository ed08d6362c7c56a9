package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tare/result"
)

// readIperf3JSON reads iperf3 -J: a cell, and a second one where the server's
// document came with it.
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
	cells := []result.Cell{d.cell(cut)}
	if d.Server != nil {
		if more, mine := readIperf3JSON(d.Server, false); mine {
			cells = append(cells, more...)
		}
	}
	return cells, true
}

func (d *Iperf3Document) cell(cut bool) result.Cell {
	b := newStream("iperf3", strings.ToLower(d.Start.Test.Protocol))
	d.params(b)
	if cut {
		b.warn("the document breaks off: what was whole of it is read")
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
	case strings.Contains(d.Error, "interrupt"), strings.Contains(d.Error, "has terminated"):
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
	if bits, warning, ok := carried(d.End.Sent, d.End.Received, d.parts(false), sends); ok {
		b.metric("throughput", bits, notes(warning)...)
	}
	if !d.bidir() {
		return
	}
	if sends != nil {
		other := !*sends
		sends = &other
	}
	if bits, warning, ok := carried(d.End.SentReverse, d.End.ReceivedReverse, d.parts(true), sends); ok {
		b.counter("throughput_reverse", bits)
		b.warn(noted("throughput_reverse", warning))
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
func carried(sent, received *Iperf3Span, parts []Iperf3Span, sends *bool) (bits float64, warning string, ok bool) {
	var time float64
	for _, p := range parts {
		bits += *p.BitsPerSecond * (p.End - p.Start)
		time += p.End - p.Start
	}
	if time > 0 {
		bits /= time
	}
	value := func(s *Iperf3Span) float64 {
		if s == nil || s.BitsPerSecond == nil {
			return 0
		}
		return *s.BitsPerSecond
	}
	switch {
	case value(received) > 0:
		return value(received), "", true
	case received != nil && received.BitsPerSecond != nil && sends != nil && !*sends:
		return 0, "", true // this end counted what arrived
	case value(sent) > 0:
		return value(sent), sendersFigure, true
	case received != nil && received.BitsPerSecond != nil && bits == 0:
		return 0, "", true
	case time == 0:
		return 0, "", false
	}
	warning = fmt.Sprintf("no summary: the mean of %d intervals", len(parts))
	if sends == nil || *sends {
		warning += "; " + sendersFigure
	}
	return bits, warning, true
}
