package foreign

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tare/result"
)

// row is one line of figures of iperf 2 or iperf3: of one stream or of all,
// over an interval or the whole run.
type row struct {
	id         string // of the stream; "SUM" for all, "" where the line has none
	role       string // "TX" or "RX" at this end, where a run goes both ways
	ofServer   bool   // with a role: it is the server's line
	decimals   int    // of its times
	start, end float64
	bits       float64 // bit/s
	carried    amount  // as it was printed
	nothing    bool    // a figure of it is nan or infinite: nothing was carried, or in no time
	tail       string  // what follows the rate
	csv        *csvLine
	omitted    bool // iperf3 -O: not part of the run
	sends      bool // followed by "sender"
	receives   bool // followed by "receiver"
}

var rowLine = expressionOf(`(?:\[\s*(\*?\s*\d+|SUM(?:-\d+)?|FD\d+)\s*\])?\s*(?:\[\s*([TR]X)-([CS])\s*\])?\s*` +
	`(\d+)\.(\d+)\s*-\s*(\d+\.\d+)\s*(?:sec|秒|s)\s*` +
	`([\d.]+)\s*([KMGT]?)(?:Bytes|Byte|字节|B)\s*` +
	`([\d.]+|-?nan|inf)\s*([KMGT]?)(bits?|Bytes?|b|B)\s*(?:/\s*(?:sec|秒|s)|ps)(.*)$`)

// parseRow reads a line of figures. Blanks between the columns may be missing.
func parseRow(line string) (row, bool) {
	if !strings.Contains(line, "-") || !strings.Contains(line, "/s") && !strings.Contains(line, "ps") && !strings.Contains(line, "/ s") && !strings.Contains(line, "秒") {
		return row{}, false // as most lines: quick
	}
	m := rowLine.FindStringSubmatch(line)
	if m == nil {
		return row{}, false
	}
	r := row{id: strings.ReplaceAll(m[1], " ", ""), role: m[2], ofServer: m[3] == "S", decimals: len(m[5]), tail: strings.TrimSpace(m[12])}
	if strings.HasPrefix(r.id, "SUM") {
		r.id = sum
	}
	start, okStart := parseNumber(m[4] + "." + m[5])
	end, okEnd := parseNumber(m[6])
	bits, okBits := parseNumber(m[9])
	r.nothing = strings.HasSuffix(m[9], "n") || m[9] == "inf"
	if !okStart || !okEnd || !okBits && !r.nothing || end < start {
		return row{}, false
	}
	if r.nothing {
		bits = 0
	}
	// The tools count bits in powers of 1000 and bytes in powers of 1024.
	unit := kilo(m[10])
	if strings.HasPrefix(m[11], "B") {
		unit = 8 * kibi(m[10])
	}
	r.carried = amount{
		bytes: count(m[7]) * kibi(m[8]), bytesOff: roundedBy(m[7]) * kibi(m[8]),
		seconds: end - start, secondsOff: 2 * roundedBy(m[6]), bits: bits * unit, bitsOff: roundedBy(m[9]) * unit,
	}
	r.start, r.end, r.bits = start, end, r.carried.best()
	r.omitted = omittedWord.MatchString(r.tail)
	r.sends, r.receives = senderWord.MatchString(r.tail), receiverWord.MatchString(r.tail)
	return r, sound(r.bits)
}

// sum is the id of a row of all streams.
const sum = "SUM"

var (
	omittedWord  = expressionOf(`\(omitted\)|\s\((?:o(?:m(?:i(?:t(?:t(?:e(?:d)?)?)?)?)?)?)?$`) // or cut
	senderWord   = expressionOf(`sender|\bs(?:e(?:n(?:d(?:e)?)?)?)?$|发送`)
	receiverWord = expressionOf(`receiver|\br(?:e(?:c(?:e(?:i(?:v(?:e)?)?)?)?)?)?$|接收`)
)

// datagrams is the end of a UDP receiver's row.
type datagrams struct {
	jitter      float64 // s
	lost, total float64
	negative    bool // iperf3 can print a loss below zero
	warnings    []string
}

var datagramTail = expressionOf(`^([\d.]+|-?nan)\s*ms\s*(-?\d+)\s*/\s*(\d+)`)

func parseDatagrams(tail string) (datagrams, bool) {
	m := datagramTail.FindStringSubmatch(tail)
	if m == nil {
		return datagrams{}, false
	}
	jitter, okJitter := parseNumber(m[1])
	if !okJitter {
		jitter = math.NaN() // of no datagram
	}
	lost, okLost := parseNumber(strings.TrimPrefix(m[2], "-"))
	total, okTotal := parseNumber(m[3])
	return datagrams{jitter: seconds(jitter, time.Millisecond), lost: lost, total: total, negative: strings.HasPrefix(m[2], "-")}, okLost && okTotal
}

// addUp is the loss over streams and intervals, and the jitter at their end,
// which is a running mean (RFC 3550). It is that of SUM, which may lack the columns
// of its streams, unless the streams contradict it.
func addUp(rows []row) (all datagrams, ok bool) {
	isSum := func(r row) bool { return r.id == sum }
	all, ok = counted(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !isSum(r) }))
	each, known := counted(slices.DeleteFunc(slices.Clone(rows), isSum))
	switch {
	case !ok:
		return each, known
	case known:
		if math.IsNaN(all.jitter) || all.jitter == 0 { // iperf 2 prints 0.000 there
			all.jitter = each.jitter
		}
		return all.or(each), true
	}
	return all, true
}

// or is a sum, unless its streams lost another number: then it is what they make.
func (sum datagrams) or(each datagrams) datagrams {
	if each.total == 0 || math.Abs(each.lost-sum.lost) <= 1+0.01*each.total {
		return sum
	}
	each.warnings = append(each.warnings, fmt.Sprintf(twoFigures+"the sum says %.0f of %.0f datagrams lost, its streams %.0f of %.0f: the loss is that of the streams", sum.lost, sum.total, each.lost, each.total))
	return each
}

// counted are the datagrams of rows of which all count them.
func counted(rows []row) (all datagrams, ok bool) {
	last, count := 0.0, 0.0
	for _, r := range rows {
		last = max(last, r.end)
	}
	for _, r := range rows {
		d, has := parseDatagrams(r.tail)
		if !has {
			return datagrams{}, false
		}
		all.lost, all.total, all.negative, ok = all.lost+d.lost, all.total+d.total, all.negative || d.negative, true
		if near(r.end, last) {
			all.jitter, count = all.jitter+d.jitter, count+1
		}
	}
	if count > 0 {
		all.jitter /= count
	}
	return all, ok
}

// datagramSeries notes jitter and loss per interval.
func (b *builder) datagramSeries(parts []row) {
	b.series("jitter", column(parts, func(r row) (float64, bool) {
		d, ok := parseDatagrams(r.tail)
		return d.jitter, ok && d.jitter < r.end
	}))
	b.series("lost", column(parts, func(r row) (float64, bool) {
		d, ok := parseDatagrams(r.tail)
		return d.lost, ok && !d.negative
	}))
}

// whole are the rows of all streams together in each interval: those of SUM
// where there are any, else one stream's, else the streams added up.
func whole(rows []row) []row {
	if sums := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.id != sum }); len(sums) > 0 {
		return sums
	}
	var all []row
	for _, r := range rows {
		recent := latest(all)
		at := slices.IndexFunc(recent, func(a row) bool { return near(a.start, r.start) && near(a.end, r.end) })
		if at < 0 {
			all = append(all, r)
		} else {
			recent[at].bits += r.bits
			recent[at].carried.add(r.carried)
			recent[at].id, recent[at].tail = sum, ""
		}
	}
	return all
}

// latest are the last rows, among which one of the same interval is found: a
// run of days has too many to look through all for each.
func latest(rows []row) []row {
	const streams = 256 // at most, of iperf3
	return rows[max(0, len(rows)-2*streams):]
}

// near reports whether two times are of the same interval: streams end some
// milliseconds apart.
func near(a, b float64) bool { return math.Abs(a-b) < 0.1 }

// mean is the rate over several intervals, in bit/s.
func mean(rows []row) float64 {
	var bits, time float64
	for _, r := range rows {
		bits += r.bits * (r.end - r.start)
		time += r.end - r.start
	}
	if time == 0 && len(rows) > 0 {
		return rows[0].bits
	}
	return bits / time
}

// rates notes the rows' throughputs, and when each ended. What an engine flushes
// after its last full interval, in next to no time, is no interval.
func (b *builder) rates(name string, rows []row) {
	b.series(name, column(rows, func(r row) (float64, bool) { return r.bits, true }))
	b.series(result.StepEnds, column(rows, func(r row) (float64, bool) { return r.end - rows[0].start, true }))
}

func flush(r row, rows []row) bool {
	return len(rows) > 1 && r.end-r.start < 0.05*(rows[0].end-rows[0].start)
}

// streams counts the streams of rows; 0 where they have no ids.
func streams(rows []row) int {
	ids := map[string]bool{}
	for _, r := range rows {
		if r.id != sum && r.id != "" {
			ids[r.id] = true
		}
	}
	return len(ids)
}

// column returns a value per row, nil where a row lacks it.
func column(rows []row, of func(row) (float64, bool)) []float64 {
	var points []float64
	for _, r := range rows {
		if flush(r, rows) {
			continue
		}
		v, ok := of(r)
		if !ok {
			return nil
		}
		points = append(points, v)
	}
	return points
}
