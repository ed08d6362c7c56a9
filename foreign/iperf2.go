package foreign

import (
	"slices"
	"strings"

	"tare/result"
)

// iperf2Words occur only in the texts of iperf 2.
var iperf2Words = expressionOf(`Client\s*connecting\s*to|Server\s*listening\s*on\s*(?:TCP|UDP)|local \S+ port \d+ connected with|Server\s*Report|` +
	`(?:TCP|UDP)\s*(?:window|buffer)\s*size|(?:Write|Read)\s*buffer\s*size|Write/Err|Reads=Dist|Sending\s*\d+\s*byte\s*datagrams|` +
	`tcp connect failed|did not receive ack of last datagram|^iperf version 2`)

func hintsIperf2() []string {
	return []string{"iperf", "onnect", "isten", "eport", "size", "Err", "Dist", "datagram", "sec", "秒", "/s", ","}
}

func claimsIperf2(ahead []string) claim {
	line := ahead[0]
	if _, isCSV := parseCSV(line); isCSV || csvHead.MatchString(line) || iperf2Words.MatchString(line) {
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
	version         string
	failure         string
	side            string // where the first connection shows it
	dials, listens  bool   // the heading of a client was read, that of a server
	dialled, port   string // the ports of these headings
	host            string // the server's
	heading         []string
	udp, bounce     bool
	blind           bool // CSV of a sender of datagrams, which does not know their loss
	full            bool // both ways on one connection
	size            any
	report          bool // what follows is the server's report
	rows, reported  []row
	nothings        int // lines with figures of nothing
	connected       map[string]stream
	sent, unordered float64
	unorderedOf     map[string]float64 // its streams, so far
	prose           bool               // what is no line of the tool is between the last row and this one
}

// stream is a connection of a run.
type stream struct {
	known, accepted bool // by this end, where that is known
	back            bool // marked as one from server to client
	marked          bool // with a star, as a server does
	full            bool // both ways
	host            string
}

func newIperf2Run() *iperf2Run {
	return &iperf2Run{connected: map[string]stream{}, unorderedOf: map[string]float64{}}
}

// readIperf2 reads the text of iperf 2: client and server, TCP and UDP, any
// number of streams, with -e or without, and CSV.
func readIperf2(lines []string) []result.Cell {
	var cells []result.Cell
	run := newIperf2Run()
	end := func() {
		if len(run.rows)+len(run.reported) > 0 || run.failure != "" || run.sideIs() == client && len(run.connected) > 0 {
			cells = append(cells, run.cell())
		}
	}
	for n, line := range lines {
		if run.isOver(lines[n:]) {
			end()
			run = run.next(line)
		}
		run.read(line)
	}
	end()
	return cells
}

// next is the run that begins with a line. The heading of a server is good for many, and
// that of a client for the test back (-r).
func (run *iperf2Run) next(line string) *iperf2Run {
	fresh := newIperf2Run()
	if _, isCommand := commandIn(line); isCommand {
		return fresh
	}
	if r, isCSV := parseCSV(line); isCSV {
		fresh.heading = run.heading
		if run.isCSV() && run.between(r.csv) {
			fresh.port, fresh.host = run.port, run.host
		}
		return fresh
	}
	if iperf2Server.MatchString(line) {
		return fresh
	}
	if m := connection.FindStringSubmatch(line); m != nil {
		c := run.streamOf(line, m)
		if !c.accepted && (run.sideIs() != server || m[5] == run.port && !c.back) {
			return fresh // of a client, printed above its heading
		}
	} else if run.sideIs() != server {
		return fresh
	}
	fresh.udp, fresh.listens, fresh.port, fresh.host = run.udp, run.listens, run.port, run.host
	if !iperf2Client.MatchString(line) {
		fresh.side, fresh.dials, fresh.dialled = run.sideIs(), run.dials, run.dialled
	}
	return fresh
}

var (
	iperf2Client = expressionOf(`Client\s*connecting\s*to(?:.*(?:TCP|UDP)\s*port\s*(\d+))?`)
	iperf2Server = expressionOf(`Server\s*listening\s*on(?:.*(?:TCP|UDP)\s*port\s*(\d+))?`)
	loopback     = expressionOf(`^(?:127\.|::1)`)
	connection   = expressionOf(`\[\s*(\*?)\s*(\d+)\]\s*local (\S+) port (\d+) connected with \S+ port (\d+)`)
	beginsWord   = expressionOf(`^[-*#]*\s*\p{L}`)
	iperf2Head   = expressionOf(`^\[ ?ID\]\s*Interval`)
	iperf2UDP    = expressionOf(`UDP\s*(?:port|buffer)|byte\s*datagrams|Jitter`)
	iperf2Failed = expressionOf(`((?:tcp )?connect failed: .*|bind failed: .*|write failed: .*|unable to connect.*)$`)
)

// sideIs is the end whose output this is, "" where that is not known.
func (run *iperf2Run) sideIs() string {
	switch {
	case run.isCSV():
		return ""
	case run.side != "":
		return run.side
	case run.dials:
		return client
	case run.listens:
		return server
	}
	return ""
}

// streamOf is the stream whose line was found.
func (run *iperf2Run) streamOf(line string, m []string) stream {
	c := stream{
		marked: m[1] != "", host: m[3], full: strings.Contains(line, "(full-duplex)"),
		accepted: m[4] == run.port && m[5] != run.dialled, back: m[1] != "" || strings.Contains(line, "(reverse)"),
	}
	c.known = c.accepted || m[5] == run.dialled && m[4] != run.port
	return c
}

// connect takes a stream. The first shows which end this is, where -d or -r print the headings
// of both: a client's above its streams, a server's after the first.
func (run *iperf2Run) connect(id string, c stream) {
	if len(run.connected) == 0 && run.side == "" {
		// The test back of -r, by the server that read the one ahead: 2.0 has no star.
		again := run.listens && c.known && !c.accepted && c.host == run.host && !loopback.MatchString(c.host)
		switch {
		case c.marked || again:
			run.side = server
		case run.dials:
			run.side = client
		case run.listens:
			run.side = server
		}
	}
	if c.accepted {
		run.host = c.host
	}
	if _, known := run.connected[id]; !known {
		run.connected[id] = c
	}
}

// isOver reports whether the first of the lines belongs to the next run.
func (run *iperf2Run) isOver(ahead []string) bool {
	line := ahead[0]
	if _, isCommand := commandIn(line); isCommand {
		return true
	}
	if iperf2Client.MatchString(line) && run.isCSV() {
		const below = 5 // the lines of the heading: a server prints it above the CSV of the test back
		return !slices.ContainsFunc(ahead[1:min(len(ahead), below)], func(line string) bool { _, isCSV := parseCSV(line); return isCSV })
	}
	if iperf2Client.MatchString(line) {
		return run.dials && len(run.connected) > 0 && run.side != "" || len(run.rows) > 0
	}
	if iperf2Server.MatchString(line) {
		return len(run.rows) > 0
	}
	if m := connection.FindStringSubmatch(line); m != nil {
		next := run.streamOf(line, m) // the test back of -r begins when the one ahead is over
		headless := !run.dials && !run.listens
		return overAll(run.rows) != nil && (headless || run.sideIs() == server || next.known && next.accepted) || len(run.reported) > 0
	}
	if r, isCSV := parseCSV(line); isCSV {
		return run.endsBefore(r)
	}
	if n := len(run.rows); n > 0 && iperf2Head.MatchString(line) { // below the sum of all, whose run is over then
		return !run.report && run.rows[n-1].id == sum && run.rows[n-1].start == 0
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
		if r.csv == nil && !run.connected[r.id].full && known.start == 0 && near(known.end, r.end) && (run.prose || known.carried.differsFrom(r.carried)) {
			return true // the total of a run of one interval has what this has
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
		run.listens = run.listens || c.has("-s", "--server")
		return
	}
	if r, isRow := parseRow(line); isRow {
		run.readRow(r)
		run.prose = false
		return
	}
	run.prose = run.prose || beginsWord.MatchString(line) && claimsIperf2([]string{line}) == none
	if r, isCSV := parseCSV(line); isCSV {
		run.readCSV(r)
		return
	}
	if m := iperf2Client.FindStringSubmatch(line); m != nil {
		run.dials, run.dialled = true, m[1]
		run.headed(client)
	} else if m := iperf2Server.FindStringSubmatch(line); m != nil {
		run.listens, run.port = true, m[1]
		run.headed(server)
	} else if m := connection.FindStringSubmatch(line); m != nil {
		run.connect(m[2], run.streamOf(line, m))
	} else if m := csvHead.FindStringSubmatch(line); m != nil {
		run.heading = strings.Split(m[1], ",")
	}
	run.report = run.report || strings.Contains(line, "Server Report") || strings.Contains(line, "ServerReport")
	run.udp = run.udp || iperf2UDP.MatchString(line)
	run.bounce = run.bounce || strings.Contains(line, "Bounce-back") || strings.Contains(line, "(bb ")
	run.readDetail(line)
}

// headed takes the heading of an end, which a client may print below its streams.
func (run *iperf2Run) headed(side string) {
	if run.side == "" && len(run.connected) > 0 {
		run.side = side
	}
}

var (
	iperf2Size      = expressionOf(`Write buffer size:\s*([\d.]+)\s*([KMG]?)\s*Byte|Sending\s*(\d+)\s*byte\s*datagrams`)
	iperf2Sent      = expressionOf(`Sent\s*(\d+)\s*datagrams`)
	iperf2Unordered = expressionOf(`\[\s*(\*?\s*\d+)\]\s*([\d.]+)\s*-\s*[\d.]+ sec\s+(\d+) datagrams received out-of-order`)
	iperf2Version   = expressionOf(`iperf version (2\S+)`)
)

func (run *iperf2Run) readDetail(line string) {
	if m := iperf2Size.FindStringSubmatch(line); m != nil {
		run.size = int(count(m[1])*kibi(m[2]) + count(m[3]))
	}
	if m := iperf2Sent.FindStringSubmatch(line); m != nil && !strings.Contains(line, "SUM") {
		run.sent += count(m[1])
	}
	if m := iperf2Unordered.FindStringSubmatch(line); m != nil {
		run.outOfOrder(m)
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

// outOfOrder counts datagrams of a stream that came out of order: in an interval, or again in all that it had.
func (run *iperf2Run) outOfOrder(m []string) {
	id, n := m[1], count(m[3])
	had, again := run.unorderedOf[id]
	if count(m[2]) == 0 && again {
		run.unordered += n - had
		run.unorderedOf[id] = n
		return
	}
	run.unordered += n
	run.unorderedOf[id] = had + n
}

// readRow takes a row of figures: this end's, or the server's report.
func (run *iperf2Run) readRow(r row) {
	if _, ok := parseDatagrams(r.tail); ok {
		run.udp = true
	}
	switch {
	case r.nothing:
		run.nothings++
	case strings.HasPrefix(r.id, "FD"): // both directions of one connection, added up
		run.full = true
	case run.report:
		run.reported = append(run.reported, r)
	case !run.sumOfTwo(r):
		r.id = run.starred(r)
		run.rows = append(run.rows, r)
	}
}

// sumOfTwo reports whether a row adds up the run and the test before it, as 2.2.1
// does with both of -r.
func (run *iperf2Run) sumOfTwo(r row) bool {
	for id := range run.connected {
		return len(run.connected) == 1 && r.id == sum && run.goesBack(id) && r.end > lastEnd(run.rows)+0.5
	}
	return false
}

// starred is the id of a row with the star of what goes from server to client. 2.0.14 has
// none: there what this end did shows it, under -e.
func (run *iperf2Run) starred(r row) string {
	writes, reads := enhanced.MatchString(r.tail), readsTail.MatchString(r.tail)
	if c := run.connected[r.id]; c.full && (writes || reads) && writes == (run.sideIs() == server) {
		return "*" + r.id
	}
	return r.id
}

// overAll are the rows over the whole run, those of SUM where there are any;
// nil where the text breaks off before them.
func overAll(rows []row) []row {
	last := lastEnd(rows)
	totals := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.start > 0.005 || r.end < last-0.1 })
	// With one interval, it and the total are alike.
	var each []row
	for _, r := range totals {
		each = append(slices.DeleteFunc(each, func(known row) bool { return known.id == r.id }), r)
	}
	return each
}

// cell makes the run that was read a cell.
func (run *iperf2Run) cell() result.Cell {
	b := run.begin()
	if run.bounce {
		run.roundTrips(b, overAll(run.rows))
	} else {
		run.transfer(b)
	}
	for _, text := range nothingsLeftOut(run.nothings) {
		b.warn(text)
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
