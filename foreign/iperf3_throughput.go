package foreign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// notes are the warnings that say something.
func notes(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// The warnings of a throughput.
const (
	intervalsDiffer = twoFigures + "the summary and the intervals disagree: their mean is %.3g bit/s"
	eitherEnd       = "the sender's figure or the receiver's: the text does not show which end printed it"
	sendersFigure   = "the sender's figure: the text has none of the receiver"
	zeroReceived    = "the receiver's line says 0: nothing arrived, or the run was stopped before the receiver reported"
	sentSummary     = "the summary has what was sent, as iperf3 3.1 and before print it: without what was lost"
	brokenOff       = "broken off by the other end: the mean of %d intervals, for the summary has more time's bytes than it says"
)

// ends are the totals of a direction: of its receiver, of its sender, and those that name
// no end; none where the run has no such line.
func (f flow) ends() (receiver, sender, open []row) {
	of := func(receives, sends bool) []row {
		return whole(slices.DeleteFunc(slices.Clone(f.totals), func(r row) bool { return r.receives != receives || r.sends != sends }))
	}
	return of(true, false), of(false, true), of(false, false)
}

// brokenOff reports whether the other end ended the run: the last interval is printed again, and the summary has
// what was carried until the end, over the time of that interval.
func (run *iperf3Run) brokenOff(f flow, parts []row) bool {
	return run.brokeOff && len(parts) > 0 && slices.ContainsFunc(whole(f.totals), func(r row) bool { return contradicts(r, parts) != "" })
}

// throughput is what a direction carried, in bit/s.
func (run *iperf3Run) throughput(f flow) (bits float64, warnings []string, ok bool) {
	receiver, sender, open := f.ends()
	parts := whole(f.intervals)
	switch {
	case run.brokenOff(f, parts):
		return mean(parts), notes(fmt.Sprintf(brokenOff, len(parts))), true
	case len(receiver) > 0 && receiver[0].bits == 0 && len(sender) > 0 && sender[0].bits > 0 && (run.interrupt != "" || run.sideIs() == server): // a server that sends is not sent the count
		return sender[0].bits, notes(sendersFigure), true
	case len(receiver) > 0 && receiver[0].bits == 0 && len(sender) > 0 && sender[0].bits > 0:
		return 0, notes(zeroReceived), true
	case len(receiver) > 0 && receiver[0].bits == 0 && len(sender)+len(parts) == 0 && !run.isUDP():
		return 0, notes(zeroReceived), true
	case len(receiver) > 0 && (receiver[0].bits > 0 || len(sender) > 0 || f.local == "RX" || !(mean(parts) > 0)):
		warnings = notes(receiver[0].carried.differs())
		if len(sender) > 0 {
			warnings = append(warnings, notes(receiver[0].carried.exceeds(sender[0].carried))...)
		}
		if f.local == "RX" {
			warnings = append(warnings, notes(contradicts(receiver[0], parts))...)
		}
		return receiver[0].bits, warnings, true
	case len(sender) > 0:
		warnings = notes(sendersFigure, sender[0].carried.differs())
		if f.local == "TX" {
			warnings = append(warnings, notes(contradicts(sender[0], parts))...)
		}
		return sender[0].bits, warnings, true
	case len(open) > 0 && f.local == "RX" && run.countsSent(open[0]):
		d, _ := parseDatagrams(open[0].tail)
		return open[0].bits * (1 - d.lost/d.total), notes(sentSummary), true
	case len(open) > 0 && (open[0].bits > 0 || len(parts) == 0 || mean(parts) == 0):
		warnings = notes(open[0].carried.differs(), contradicts(open[0], parts))
		if f.local != "RX" {
			warnings = append(warnings, sendersFigure)
		}
		return open[0].bits, warnings, true
	case len(parts) == 0:
		return 0, nil, false
	}
	text := fmt.Sprintf("no summary: the mean of %d intervals", len(parts))
	if f.local != "RX" {
		text += "; " + sendersFigure
	}
	return mean(parts), notes(text), true
}

// countsSent reports whether a summary of UDP has the bytes of all its datagrams, with those that were lost.
func (run *iperf3Run) countsSent(r row) bool {
	d, known := parseDatagrams(r.tail)
	size := cmp.Or(run.size, run.command.size("-l", "--length"))
	bytes, err := strconv.ParseFloat(fmt.Sprint(size), 64)
	return known && err == nil && !d.negative && d.lost > 0 && d.lost < d.total && math.Abs(d.total*bytes-r.carried.bytes) <= r.carried.bytesOff+0.001*r.carried.bytes
}

// noted puts a name before a warning, and is empty where there is none.
func noted(name, warning string) string {
	if warning == "" {
		return ""
	}
	return name + ": " + warning
}
