package foreign

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// csvLine is where a line of iperf 2's CSV (-y C) comes from.
type csvLine struct {
	from, to         string // hosts; of the data, not of the connection
	fromPort, toPort int
	at               time.Time // zero where the version does not know it
}

var (
	csvStart = expressionOf(`^(?:[+-]\d{4}:)?(\d{14})(?:\.\d+)?,([0-9A-Fa-f.:%\w]*),(\d+),([0-9A-Fa-f.:%\w]*),(\d+),(-?\d+),(\d+\.\d+)[-,](\d+\.\d+),(\d+),(\d+)((?:,[-\w.]+)*)$`)
	csvHead  = expressionOf(`^time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,(.+)$`)
)

// parseCSV reads a line of iperf 2's CSV. What follows the rate is left as it is.
func parseCSV(line string) (row, bool) {
	m := csvStart.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return row{}, false
	}
	fromPort, errFrom := strconv.Atoi(m[3])
	toPort, errTo := strconv.Atoi(m[5])
	start, okStart := parseNumber(m[7])
	end, okEnd := parseNumber(m[8])
	bits, okBits := parseNumber(m[10])
	if errFrom != nil || errTo != nil || !okStart || !okEnd || !okBits || end < start {
		return row{}, false
	}
	from := &csvLine{from: m[2], to: m[4], fromPort: fromPort, toPort: toPort}
	if at, err := time.Parse("20060102150405", m[1]); err == nil && at.Unix() > 0 {
		from.at = at
	}
	r := row{id: fmt.Sprintf("%s:%d>%s:%d", m[2], fromPort, m[4], toPort), start: start, end: end, bits: bits, tail: strings.TrimPrefix(m[11], ","), csv: from}
	r.carried = amount{bytes: count(m[9]), seconds: end - start, secondsOff: 0.1, bits: bits}
	if m[6] == "-1" {
		r.id = sum
	}
	return r, true
}

// columns are the names of what follows the rate: those of the heading, or of the
// short form.
func (run *iperf2Run) columns(fields []string) []string {
	names := run.heading
	if len(names) == 0 {
		names = []string{"jitter", "errors", "datagrams", "errpercent", "outoforder"}
	}
	if len(fields) != len(names) {
		return nil
	}
	return names
}

// readCSV takes a line of CSV, whose columns it writes as the text has them.
func (run *iperf2Run) readCSV(r row) {
	fields := strings.Split(r.tail, ",")
	of := map[string]string{}
	for n, name := range run.columns(fields) {
		of[name] = fields[n]
	}
	r.tail = ""
	if total, isUDP := of["datagrams"]; isUDP {
		run.udp = true
		run.blind = run.blind || strings.HasPrefix(total, "-")
		if !run.blind {
			r.tail = fmt.Sprintf("%s ms %s/%s", strings.TrimPrefix(of["jitter"], "-"), of["errors"], total)
		}
		if r.id != sum {
			run.unordered += count(of["outoforder"])
		}
	} else if again, isSender := of["tcpretry"]; isSender {
		r.tail = fmt.Sprintf("%s/%s %s %sK/%s us", of["writecnt"], of["writeerr"], again, of["tcpcwnd"], of["tcprtt"])
	}
	if n := run.mirror(r); n >= 0 {
		r.id = run.rows[n].id
		run.reported = append(run.reported, r)
		return
	}
	if r.id != sum {
		run.connect(r.id, run.csvStream(*r.csv))
	}
	if !run.sumOfTwo(r) {
		run.rows = append(run.rows, r)
	}
}

// mirror is the row of the sender whose receiver's report a row of UDP is: the same connection from the other end; -1: it
// is none. Where the test goes back, each end prints what it received.
func (run *iperf2Run) mirror(r row) int {
	return slices.IndexFunc(run.rows, func(sent row) bool {
		return r.tail != "" && sent.tail == "" && sent.csv != nil && sent.csv.from == r.csv.to && sent.csv.to == r.csv.from &&
			sent.csv.fromPort == r.csv.toPort && sent.csv.toPort == r.csv.fromPort
	})
}

// isCSV reports whether the run is printed as CSV, which shows no end.
func (run *iperf2Run) isCSV() bool { return len(run.rows) > 0 && run.rows[0].csv != nil }

// between reports whether a line is of the two hosts of the run, as the test back of -r is.
func (run *iperf2Run) between(l *csvLine) bool {
	known := run.rows[0].csv
	return l.from == known.from && l.to == known.to || l.from == known.to && (l.to == known.from || l.toPort == 0)
}

// timeless reports whether a CSV has no times, as that of some versions: then it does
// not show what was at the same time.
func (run *iperf2Run) timeless() bool { return run.isCSV() && run.rows[0].csv.at.IsZero() }

// csvStream is the stream of a line. The server's is the end that has the smaller port in
// the first line.
func (run *iperf2Run) csvStream(l csvLine) stream {
	if run.port == "" {
		run.port, run.host = strconv.Itoa(min(l.fromPort, l.toPort)), l.to
		if l.fromPort < l.toPort {
			run.host = l.from
		}
	}
	back := l.from == run.host
	if len(run.reported) > 0 && run.port == strconv.Itoa(l.fromPort) { // of -d: what this end received
		back = true
	}
	if l.from == l.to {
		back = run.port == strconv.Itoa(l.fromPort)
	}
	return stream{back: back, full: back && l.toPort == 0}
}

// endsBefore reports whether a line of CSV begins another run: of other hosts, of a later test,
// or of a stream that has its total.
func (run *iperf2Run) endsBefore(r row) bool {
	if r.start > 0 || r.id == sum || len(run.rows) == 0 {
		return false
	}
	last := run.rows[len(run.rows)-1]
	if last.csv == nil || !run.between(r.csv) || r.csv.at.IsZero() != last.csv.at.IsZero() {
		return true
	}
	repeated := slices.ContainsFunc(run.rows, func(known row) bool { return known.id == r.id && known.carried == r.carried })
	summed := last.id == sum && last.start == 0 && overAll(run.rows) != nil && !repeated
	if _, known := run.connected[r.id]; known {
		return run.again(r) || summed
	}
	later := math.Abs(r.csv.at.Sub(last.csv.at).Seconds())
	least := max(1, last.end/2) // streams of one run may have the seconds before and after
	opposite := run.csvStream(*r.csv).back != run.goesBack(last.id)
	apart := !r.csv.at.IsZero() && (later > least || opposite && later == least)
	return overAll(run.rows) != nil && apart || summed
}
