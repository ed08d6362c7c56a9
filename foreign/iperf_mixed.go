package foreign

import (
	"fmt"
	"strings"
)

// piece is where a line of iperf 2 or iperf3 begins.
var piece = expressionOf(`\[\s*(?:\*?\s*\d+|SUM|ID)\s*\]|(?:- ){5,}|-{20,}|iperf Done|Connecting to host|Accepted connection|Server listening|Client connecting`)

// unglued parts rows whose line ends were lost.
func unglued(line string) []string {
	if strings.Count(line, "its/sec") < 2 || strings.ContainsAny(line[:1], "\"{") { // a document's
		return []string{line}
	}
	pieces := strings.Split(piece.ReplaceAllString(line, "\n$0"), "\n")
	rows := 0
	for n := range pieces {
		pieces[n] = strings.TrimSpace(pieces[n])
		if _, isRow := parseRow(pieces[n]); isRow {
			rows++
		}
	}
	if rows < 2 {
		return []string{line}
	}
	return pieces
}

var connecting = expressionOf(`\[\s*(\*?\s*\d+)\]\s*local \S+ port (\d+) connected (?:to|with)`)

// mixed says what shows that the lines are those of two runs at the same time,
// without a name before them; empty where nothing does.
func mixed(lines []string) string {
	if heads := headsTogether(lines); heads > 1 {
		return fmt.Sprintf("the lines of two runs are mixed: the figures of each come after %d heads", heads)
	}
	ports, streams := map[string]string{}, map[string]*zigzag{}
	for _, line := range lines {
		if m := connecting.FindStringSubmatch(line); m != nil {
			if port := ports[m[1]]; port != "" && port != m[2] {
				return fmt.Sprintf("the lines of two runs are mixed: stream %s has the ports %s and %s", m[1], port, m[2])
			}
			ports[m[1]] = m[2]
			continue
		}
		_, isCommand := commandIn(line)
		r, isRow := parseRow(line)
		switch {
		case isRow:
			clear(ports)
			key := r.id + r.role
			if streams[key] == nil {
				streams[key] = &zigzag{}
			}
			if r.id != "" && streams[key].meets(r) {
				return fmt.Sprintf("the lines of two runs are mixed: at %.2f-%.2f s stream %s has figures of both", r.start, r.end, r.id)
			}
		case isCommand, matchesAny(line, beginning, listening, iperf2Client, iperf2Sent):
			clear(ports)
			clear(streams)
		}
	}
	return ""
}

// headsTogether is how many runs of wrk were begun before the figures of as many followed.
func headsTogether(lines []string) int {
	heads, totals := 0, 0
	for _, line := range lines {
		switch {
		case wrkThreads.MatchString(line) && totals > 0:
			heads, totals = 1, 0
		case wrkThreads.MatchString(line):
			heads++
		case wrkTotal.MatchString(line):
			totals++
		}
		if heads > 1 && totals > 1 {
			return heads
		}
	}
	return 0
}

// zigzag are the intervals of a stream, whose times go forth and back where they are of two runs.
type zigzag struct {
	last      row
	high      float64 // where they were when they went back, in s
	totals    int     // of the sender, without one of the receiver yet
	conflicts int     // a single one may be a run's total
}

// meets takes the next row, and reports whether there are two runs.
func (z *zigzag) meets(r row) bool {
	const enough = 2
	switch last := z.last; {
	case r.sends:
		z.totals++
	case r.receives:
		if z.totals > 1 {
			z.conflicts += enough
		}
		z.totals = 0
	case last.sends || last.receives:
		if r.start > 0.05 {
			z.conflicts += enough
		}
	case last.end == 0:
	case r.start > 0.05 && r.start == last.start && r.end == last.end && r.bits != last.bits && r.bits > 0: // not of whole runs
		z.conflicts++
	case r.end < last.end-0.05:
		z.high = last.end
	case z.high > 0 && r.start > last.end+0.05 && near(r.start, z.high):
		z.conflicts += enough
	}
	z.last = r
	return z.conflicts >= enough
}
