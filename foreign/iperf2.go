package foreign

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// iperf2Words occur only in the texts of iperf 2.
var iperf2Words = expressionOf(`Client\s*connecting\s*to|Server\s*listening\s*on\s*(?:TCP|UDP)|local \S+ port \d+ connected with|Server\s*Report|` +
	`(?:TCP|UDP)\s*(?:window|buffer)\s*size|(?:Write|Read)\s*buffer\s*size|Write/Err|Reads=Dist|Sending\s*\d+\s*byte\s*datagrams|` +
	`tcp connect failed|did not receive ack of last datagram|^iperf version 2`)

func hintsIperf2() []string {
	return []string{"iperf", "onnect", "isten", "eport", "size", "Err", "Dist", "datagram", "sec", "秒", "/s"}
}

func claimsIperf2(ahead []string) claim {
	line := ahead[0]
	if iperf2Words.MatchString(line) {
		return certain
	}
	if r, ok := parseRow(line); ok && !r.sends && !r.receives && r.role == "" {
		return weak
	}
	return none
}

// iperf2Run is one run as far as its lines were read.
type iperf2Run struct {
	command         command
	version, side   string
	failure         string
	both, back      bool // both ways; only from the server
	udp, bounce     bool
	size            any
	report          bool // what follows is the server's report
	rows, reported  []row
	connected       map[string]bool
	sent, unordered float64
}

// readIperf2 reads the text of iperf 2: client and server, TCP and UDP, any
// number of streams, with -e or without.
func readIperf2(lines []string) []result.Cell {
	var cells []result.Cell
	run := &iperf2Run{connected: map[string]bool{}}
	end := func() {
		if len(run.rows)+len(run.reported) > 0 || run.failure != "" || run.side == client && len(run.connected) > 0 {
			cells = append(cells, run.cell())
		}
		run = &iperf2Run{connected: map[string]bool{}}
	}
	for _, line := range lines {
		if run.isOver(line) {
			side, udp := run.side, run.udp
			end()
			if _, isCommand := commandIn(line); side == server && !isCommand {
				run.side, run.udp = side, udp // a server's heading is good for many runs
			}
		}
		run.read(line)
	}
	end()
	return cells
}

var (
	iperf2Client = expressionOf(`Client\s*connecting\s*to`)
	iperf2Server = expressionOf(`Server\s*listening\s*on`)
	connection   = expressionOf(`\[\s*\*?\s*(\d+)\]\s*local \S+ port \d+ connected with`)
	iperf2UDP    = expressionOf(`UDP\s*(?:port|buffer)|byte\s*datagrams|Jitter`)
	iperf2Failed = expressionOf(`((?:tcp )?connect failed: .*|bind failed: .*|write failed: .*|unable to connect.*)$`)
)

// isOver reports whether a line belongs to the next run.
func (run *iperf2Run) isOver(line string) bool {
	if _, isCommand := commandIn(line); isCommand {
		return true
	}
	if iperf2Client.MatchString(line) {
		return run.side != "" && run.side != server || len(run.rows) > 0
	}
	if iperf2Server.MatchString(line) {
		return len(run.rows) > 0
	}
	if connection.MatchString(line) {
		return run.overAll() != nil && run.side == server || len(run.reported) > 0
	}
	r, isRow := parseRow(line)
	if !isRow || run.report || r.start > 0 {
		return false
	}
	return run.again(r)
}

// again reports whether a row begins another run: its stream has its total already, or was
// there at this time.
func (run *iperf2Run) again(r row) bool {
	last, totals := 0.0, 0
	for _, known := range run.rows {
		if known.id != r.id {
			continue
		}
		if known.start == 0 && last > 0 && known.end >= last-0.05 {
			totals++
		}
		last = max(last, known.end)
	}
	return totals > 0 || last > 0 && r.end < last-0.05
}

// read takes the facts of a line.
func (run *iperf2Run) read(line string) {
	if c, isCommand := commandIn(line); isCommand {
		run.command = c
		run.udp = run.udp || c.has("-u", "--udp")
		if c.has("-s", "--server") {
			run.side = server
		}
		return
	}
	if r, isRow := parseRow(line); isRow {
		run.readRow(r)
		return
	}
	if m := connection.FindStringSubmatch(line); m != nil {
		run.connected[m[1]] = true
		run.both = run.both || strings.Contains(line, "(full-duplex)")
		run.back = run.back || strings.Contains(line, "(reverse)") && len(run.connected) == 1
	}
	switch {
	case iperf2Client.MatchString(line):
		run.both = run.both || run.side == server && len(run.connected) > 0
		if run.side == "" || !run.both {
			run.side = client
		}
	case iperf2Server.MatchString(line) && run.side == "":
		run.side = server
	case strings.Contains(line, "Server Report") || strings.Contains(line, "ServerReport"):
		run.report = true
	}
	run.udp = run.udp || iperf2UDP.MatchString(line)
	run.bounce = run.bounce || strings.Contains(line, "Bounce-back") || strings.Contains(line, "(bb ")
	run.readDetail(line)
}

var (
	iperf2Size    = expressionOf(`Write buffer size:\s*([\d.]+)\s*([KMG]?)\s*Byte|Sending\s*(\d+)\s*byte\s*datagrams`)
	iperf2Sent    = expressionOf(`Sent\s*(\d+)\s*datagrams`)
	iperf2Version = expressionOf(`iperf version (2\S+)`)
)

func (run *iperf2Run) readDetail(line string) {
	if m := iperf2Size.FindStringSubmatch(line); m != nil {
		run.size = int(count(m[1])*kibi(m[2]) + count(m[3]))
	}
	if m := iperf2Sent.FindStringSubmatch(line); m != nil && !strings.Contains(line, "SUM") {
		run.sent += count(m[1])
	}
	if m := outOfOrder.FindStringSubmatch(line); m != nil {
		run.unordered += count(m[1])
	}
	if m := iperf2Version.FindStringSubmatch(line); m != nil {
		run.version = m[1]
	}
	if m := iperf2Failed.FindStringSubmatch(line); m != nil && run.failure == "" {
		run.failure = m[1]
	}
	if _, warning, ok := strings.Cut(line, "WARNING: did not receive ack"); ok {
		run.failure = "no answer from the server: did not receive ack" + warning
	}
}

// readRow takes a row of figures: this end's, or the server's report.
func (run *iperf2Run) readRow(r row) {
	if _, ok := parseDatagrams(r.tail); ok {
		run.udp = true
	}
	if run.report {
		run.reported = append(run.reported, r)
		return
	}
	run.rows = append(run.rows, r)
}

// overAll are the rows over the whole run, those of SUM where there are any;
// nil where the text breaks off before them.
func (run *iperf2Run) overAll() []row {
	last := 0.0
	for _, r := range run.rows {
		last = max(last, r.end)
	}
	totals := slices.DeleteFunc(slices.Clone(run.rows), func(r row) bool { return r.start > 0.005 || r.end < last-0.1 })
	// With one interval, it and the total are alike.
	var each []row
	for _, r := range totals {
		each = append(slices.DeleteFunc(each, func(known row) bool { return known.id == r.id }), r)
	}
	return each
}

// intervals are the rows within the run; a run of one row has none.
func (run *iperf2Run) intervals() []row {
	totals := run.overAll()
	return slices.DeleteFunc(slices.Clone(run.rows), func(r row) bool {
		return slices.ContainsFunc(totals, func(t row) bool { return t.start == r.start && t.end == r.end && t.id == r.id })
	})
}

// cell makes the run that was read a cell.
func (run *iperf2Run) cell() result.Cell {
	b := run.begin()
	totals, parts := run.overAll(), whole(run.intervals())
	if totals == nil && len(parts) > 0 {
		b.warn(fmt.Sprintf("no summary: the mean of %d intervals", len(parts)))
	}
	if run.bounce {
		run.roundTrips(b, totals)
	} else {
		run.transfer(b, totals, parts)
	}
	if run.unordered > 0 {
		b.counter("out_of_order", run.unordered)
	}
	if run.sent > 0 {
		b.counter("sent", run.sent)
	}
	b.fail(run.failure)
	return b.done()
}
