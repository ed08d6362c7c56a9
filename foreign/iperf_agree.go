package foreign

import (
	"fmt"
	"math"

	"tare/result"
)

// twoFigures begins the warning on a number that another of the same output contradicts.
const twoFigures = "two-figures: "

// amount is what passed in some time, as a line of an output gives it, or an object.
type amount struct {
	bytes, seconds, bits float64
	// By how much rounding may have changed each.
	bytesOff, secondsOff, bitsOff float64
}

// fewDigits is by how much rounding may have changed a rate before that is said.
const fewDigits = 0.1

// roundedBy is half of the last digit of a printed number.
func roundedBy(text string) float64 {
	for n := len(text) - 1; n >= 0; n-- {
		if text[n] == '.' {
			return 0.5 * math.Pow(10, -float64(len(text)-1-n))
		}
	}
	return 0.5
}

// shortest is the time in s below which a rate is not held against its amount: the
// tools print the time to a tenth or a hundredth.
const shortest = 0.3

// mean is the rate that amount and time make, in bit/s, with its rounding; not known
// where one of them is not.
func (a amount) mean() (bits, off float64, known bool) {
	if a.bytes <= 0 || a.seconds < shortest {
		return 0, 0, false
	}
	bits = 8 * a.bytes / a.seconds
	return bits, bits * (a.bytesOff/a.bytes + a.secondsOff/a.seconds), true
}

// add adds what another stream carried in the same time.
func (a *amount) add(other amount) {
	a.bytes, a.bytesOff = a.bytes+other.bytes, a.bytesOff+other.bytesOff
	a.bits, a.bitsOff = a.bits+other.bits, a.bitsOff+other.bitsOff
	a.seconds, a.secondsOff = max(a.seconds, other.seconds), max(a.secondsOff, other.secondsOff)
}

// best is the rate: the one that was printed, or what amount and time make where it
// was printed to fewer digits, as -f G does with a slow link.
func (a amount) best() float64 {
	if bits, off, known := a.mean(); known && a.bitsOff > 0.01*a.bits && off < a.bitsOff && math.Abs(bits-a.bits) <= off+a.bitsOff {
		return bits
	}
	return a.bits
}

// differsFrom reports whether another amount is of other bytes.
func (a amount) differsFrom(b amount) bool { return math.Abs(a.bytes-b.bytes) > a.bytesOff+b.bytesOff }

// differs is a warning where rate, amount and time of one line can't all be true.
func (a amount) differs() string {
	const allowed = 0.02
	bits, off, known := a.mean()
	if known && min(off, a.bitsOff) > fewDigits*a.bits {
		return fmt.Sprintf("printed with so few digits that it may be up to %.0f %% more or less", 100*min(off, a.bitsOff)/a.bits)
	}
	if !known || math.Abs(bits-a.bits) <= off+a.bitsOff+allowed*max(bits, a.bits) {
		return ""
	}
	return fmt.Sprintf(twoFigures+"%.4g bytes in %.4g s are %.3g bit/s, and the same line says %.3g bit/s", a.bytes, a.seconds, bits, a.bits)
}

// exceeds is a warning where more was received than sent.
func (a amount) exceeds(sent amount) string {
	const allowed = 0.05
	if sent.bytes <= 0 || a.bytes-a.bytesOff <= (sent.bytes+sent.bytesOff)*(1+allowed) {
		return ""
	}
	return fmt.Sprintf(twoFigures+"%.4g bytes were received of %.4g sent", a.bytes, sent.bytes)
}

// lostOf is the share of what was sent that this amount lacks; not known where one of the
// two was not counted.
func (a amount) lostOf(sent amount) (share, off float64, known bool) {
	if a.bytes <= 0 || sent.bytes <= 0 {
		return 0, 0, false
	}
	share = 1 - a.bytes/sent.bytes
	return max(share, 0), (1 - share) * (a.bytesOff/a.bytes + sent.bytesOff/sent.bytes), true
}

// loss notes loss and jitter of a run of so many seconds. What was sent and received in
// bytes is held against it: a client of iperf3 3.18 or 3.22 prints 0 beside an older
// server, whatever was lost.
func (b *builder) loss(d datagrams, sent, received amount, seconds float64) {
	d.inTime(b, seconds)
	if d.negative || d.lost > d.total || d.total == math.MaxInt32 {
		b.warn("the tool printed a loss that can't be: it is left out")
	} else if d.total > 0 {
		share, warnings := d.lost/d.total, d.warnings
		if missing, off, known := received.lostOf(sent); known {
			allowed := off + 0.002 + endOfRun/d.total
			if d.lost > 0 { // a receiver that can't keep up leaves some in its buffer
				allowed = off + 0.02 + unread/d.total
			}
			if math.Abs(missing-share) > allowed {
				text := fmt.Sprintf(twoFigures+"%.0f of %.0f datagrams lost are %.3g %%, but %.4g of %.4g bytes did not arrive", d.lost, d.total, 100*share, sent.bytes-received.bytes, sent.bytes)
				if d.lost == 0 {
					share, text = missing, text+": the loss is that of the bytes"
					d.lost = math.Round(share * d.total)
				}
				warnings = append(warnings, text)
			}
		}
		b.metric("loss", share, warnings...)
		b.counter("lost", d.lost)
		b.counter("datagrams", d.total)
	}
	if d.total > d.lost {
		b.metric("jitter", d.jitter)
	}
}

const (
	endOfRun = 16  // datagrams that are under way when a run ends
	unread   = 256 // datagrams that a default receive buffer holds
)

// inTime takes out a jitter that is no shorter than its run: it is a mean of differences
// between times within the run.
func (d *datagrams) inTime(b *builder, seconds float64) {
	if d.jitter >= seconds && seconds > 0 {
		b.warn(fmt.Sprintf("a jitter of %.4g s in %.4g s can't be: it is left out", d.jitter, seconds))
		d.jitter = math.NaN()
	}
}

// agree holds the two ends of one run against each other. Where they differ in what was
// received, the end that received counted it: the other takes its figure, with a warning.
func agree(local, remote *result.Cell) {
	from, to := local, remote
	switch {
	case local.Params["side"] == remote.Params["side"], local.Params["direction"] != remote.Params["direction"]:
		return // not two ends of one run
	case (local.Params["side"] == client) == (local.Params["direction"] == reverse):
		from, to = remote, local
	}
	for _, what := range []struct {
		metric  string
		allowed float64 // of 1, and of the value
	}{{"loss", 0.005}, {"throughput", 0}} {
		sent, received := metricOf(from, what.metric), metricOf(to, what.metric)
		if sent == nil || received == nil || math.Abs(sent.Value-received.Value) <= what.allowed+0.05*received.Value {
			continue
		}
		sent.Warnings = append(sent.Warnings, fmt.Sprintf(twoFigures+"the %v says %.3g, and the %v, which counted what arrived, %.3g: this is the %[3]v's",
			from.Params["side"], sent.Value, to.Params["side"], received.Value))
		sent.Value = received.Value
		for n := range from.Samples {
			from.Samples[n].Metrics[what.metric] = received.Value
		}
	}
}

// metricOf is a cell's metric of a name, nil where it has none.
func metricOf(cell *result.Cell, name string) *result.Metric {
	for n := range cell.Metrics {
		if cell.Metrics[n].Name == name {
			return &cell.Metrics[n]
		}
	}
	return nil
}

// contradicts is a warning where the intervals of an end make another rate than its summary.
func contradicts(total row, parts []row) string {
	if len(parts) == 0 || !apart(total.bits, total.end, mean(parts), parts[len(parts)-1].end-parts[0].start) {
		return ""
	}
	return fmt.Sprintf(intervalsDiffer, mean(parts))
}

// apart reports whether a rate over some time is another than what the intervals in it make. The
// time that they leave out may have carried anything.
func apart(total, time, mean, within float64) bool {
	const allowed = 0.05 // the figures have three digits
	return math.Abs(mean-total) > (allowed+max(0, 1-within/time))*max(total, mean)
}
