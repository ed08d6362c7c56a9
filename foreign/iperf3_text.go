package foreign

import (
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

var (
	// iperf3Words occur only in the texts of iperf3.
	iperf3Words = expressionOf(`Connecting\s*to\s*host|Accepted\s*connection\s*from|Server\s*listening\s*on\s*\d+|iperf\s*Done|^iperf3: |^iperf(?:3\.exe version)?\s*3\.\d|` +
		`local \S+ port \d+ connected to|Reverse\s*mode|\[\s*ID\]\s*(?:\[Role\])?\s*Interval\s*Transfer\s*Bitrate|Starting\s*Test: protocol|(?:snd|rcv)_tcp_congestion|` +
		`Setting UDP block|TCP MSS: |Control connection MSS|Target Bitrate: |Test Complete\. Summary`)
	// iperf3Also are others' too: of curl's headers, of what a shell says.
	iperf3Also = expressionOf(`CPU Utilization:|^\s*Cookie: |^Server output:`)
)

func hintsIperf3() []string {
	return []string{"iperf", "onnect", "ccept", "isten", "everse", "[", "rotocol", "congestion", "CPU", "UDP", "Cookie", "MSS", "itrate", "omplete", "utput", "sec", "秒", "/s"}
}

func claimsIperf3(ahead []string) claim {
	line := ahead[0]
	if iperf3Words.MatchString(line) {
		return certain
	}
	if r, ok := parseRow(line); ok {
		if r.sends || r.receives || r.role != "" {
			return certain
		}
		if r.decimals == 2 {
			return weak
		}
	}
	return maybe(iperf3Also.MatchString(line))
}

// iperf3Run is one run as far as its lines were read.
type iperf3Run struct {
	command            command
	version, side      string
	server             bool // "Server listening" was the last heading
	remote             bool // it is what --get-server-output got
	started            bool // "Connecting to" or "Accepted" was read
	finished           bool // "iperf Done"
	reverse            bool
	udp, sctp, named   bool // named: the lines name the protocol
	opened             bool // the head of a client's output, or its command, was read
	cut                cutEnds
	headed, sending    bool // the heads of its columns were read, and they are a sender's
	size, target       any
	cc                 string
	intervals, totals  []row
	connected          int
	nothings           int // lines with figures of nothing
	counters           map[string]float64
	failure, interrupt string
	brokeOff           bool // its last interval was printed again
	counted            bool // "Sent N datagrams", which 3.1 and before print last
}

// readIperf3 reads iperf3's text: client and server, TCP and UDP, any number of
// streams, both directions, with -V or without.
func readIperf3(lines []string) []result.Cell {
	var cells []result.Cell
	run := &iperf3Run{counters: map[string]float64{}}
	end := func() {
		next := &iperf3Run{server: run.server, counters: map[string]float64{}}
		if !run.empty() {
			cells = append(cells, run.cell())
			if run.remote && len(cells) > 1 {
				agree(&cells[len(cells)-2], &cells[len(cells)-1])
			}
		} else {
			next.interrupt = run.interrupt // it was printed above its run
		}
		run = next
	}
	for _, line := range lines {
		switch {
		case run.repeats(line): // several runs under one head
			cells = append(cells, run.cell())
			run = run.sameHead(line)
		case run.isOver(line):
			end()
		}
		run.read(line)
	}
	end()
	return cells
}

// repeats reports whether a line is of another run, whose head was not printed again: its connection below the summary,
// the summary of a stream that the run has already, one below that of all streams, or one of all of a run of one stream.
func (run *iperf3Run) repeats(line string) bool {
	r, isRow := parseRow(line)
	switch {
	case !isRow:
		return len(run.totals) > 0 && !run.remote && strings.Contains(line, "connected to")
	case run.counted && run.has(r), run.failure != "" && r.end < lastEnd(run.intervals)-0.05:
		return true
	case !r.sends && !r.receives:
		return false
	case r.id == sum && run.connected == 1 && len(run.totals) > 0:
		return true
	}
	return slices.ContainsFunc(run.totals, func(known row) bool {
		again := known.id == r.id && known.sends == r.sends && known.receives == r.receives
		return known.role == r.role && (again || known.id == sum && known.receives && r.id != sum)
	})
}

// received reports whether the summary of a receiver was read.
func (run *iperf3Run) received() bool {
	return slices.ContainsFunc(run.totals, func(r row) bool { return r.receives })
}

// has reports whether a row of the same stream and time was read.
func (run *iperf3Run) has(r row) bool {
	return slices.ContainsFunc(append(slices.Clone(run.totals), latest(run.intervals)...), func(known row) bool {
		return known.id == r.id && known.role == r.role && near(known.start, r.start) && near(known.end, r.end)
	})
}

// sameHead is a run under the same head, of which nothing else is known.
func (run *iperf3Run) sameHead(line string) *iperf3Run {
	next := &iperf3Run{
		command: run.command, version: run.version, side: run.side, server: run.server, started: run.started, reverse: run.reverse,
		udp: run.udp, sctp: run.sctp, named: run.named, opened: run.opened, size: run.size, target: run.target, cc: run.cc, connected: run.connected,
		counters: map[string]float64{},
	}
	r, isRow := parseRow(line)
	if !isRow || r.id == sum {
		next.connected = 0
	}
	if !isRow { // the head of its columns comes next
		next.udp, next.sctp, next.named = false, false, false
	}
	return next
}

// empty reports whether nothing of a run was read.
func (run *iperf3Run) empty() bool {
	return len(run.intervals) == 0 && len(run.totals) == 0 && run.failure == "" && !(run.started && run.connected > 0)
}

var (
	banner     = expressionOf(`^iperf(?:3\.exe version)?\s*(3\.\d[\w.+-]*)`)
	beginning  = expressionOf(`Connecting\s*to\s*host|Accepted\s*connection\s*from`)
	listening  = expressionOf(`Server\s*listening\s*on`)
	complaint  = expressionOf(`iperf3: (?:error - )?(.+)$`)
	withoutRun = expressionOf(`unable to connect|busy|parameter|unable to start|must be|some option|unable to set`)
)

// isOver reports whether a line belongs to the next run.
func (run *iperf3Run) isOver(line string) bool {
	if _, isCommand := commandIn(line); isCommand || listening.MatchString(line) {
		return true
	}
	if beginning.MatchString(line) {
		// What the tool prints on standard error may come above its run.
		return run.started || len(run.intervals)+len(run.totals) > 0 || withoutRun.MatchString(run.failure)
	}
	if banner.MatchString(line) || strings.Contains(line, "Server output:") || complaint.MatchString(line) && withoutRun.MatchString(line) {
		return !run.empty()
	}
	if run.received() && strings.Contains(line, "[ ID]") && !run.remote {
		return true
	}
	r, isRow := parseRow(line)
	if !isRow || r.sends || r.receives || r.start > 0 || len(run.intervals)+len(run.totals) == 0 || run.cut.goesOn(run, r) {
		return false
	}
	return len(run.totals) > 0 && run.totals[0].sends != run.totals[0].receives || run.again(r)
}

// again reports whether an interval row begins another run: its stream was there at this
// time already.
func (run *iperf3Run) again(r row) bool {
	seen, last := false, 0.0
	for _, known := range run.intervals {
		if known.id == r.id && known.role == r.role {
			seen, last = true, max(last, known.end)
		}
	}
	for _, known := range run.totals {
		if known.id == r.id && known.role == r.role {
			return true
		}
	}
	return seen && r.end < last-0.05
}

// read takes the facts of a line.
func (run *iperf3Run) read(line string) {
	if c, isCommand := commandIn(line); isCommand {
		run.command = c
		run.server = c.has("-s", "--server")
		run.sctp = c.has("--sctp", "--sctp")
		_, run.opened = c.flag("-c", "--client")
		run.reverse = c.has("-R", "--reverse")
		return
	}
	if r, isRow := parseRow(line); isRow {
		run.readRow(r)
		return
	}
	if m := banner.FindStringSubmatch(line); m != nil {
		run.version = m[1]
	}
	switch {
	case listening.MatchString(line):
		run.server = true
	case beginning.MatchString(line) && !strings.Contains(line, "Accepted"):
		run.started, run.opened, run.side = true, true, client
	case beginning.MatchString(line):
		run.started, run.side = true, server
	case strings.Contains(line, "Server output:"):
		run.remote = true
	case strings.Contains(line, "iperf Done"):
		run.finished = true
	case strings.Contains(line, "Reverse mode") || strings.Contains(line, "Reversemode"):
		run.reverse = true
	case strings.Contains(line, "connected to"):
		run.connected++
	case strings.Contains(line, "[") && (strings.Contains(line, "Datagrams") || strings.Contains(line, "Jitter")):
		run.udp, run.named, run.headed, run.sending = true, true, true, !strings.Contains(line, "Jitter")
	case strings.Contains(line, "[") && strings.Contains(line, "Retr"):
		run.named, run.headed, run.sending = true, true, true
	case strings.Contains(line, "[ ID]"):
		run.headed = true
	case complaint.MatchString(line):
		run.complain(complaint.FindStringSubmatch(line)[1])
	default:
		run.readDetail(line)
	}
}

// complain takes an error of the tool, or that it was stopped.
func (run *iperf3Run) complain(text string) {
	stopped := strings.Contains(text, "interrupt") || strings.Contains(text, "has terminated")
	switch {
	case strings.HasPrefix(text, "OUT OF ORDER"): // a note of 3.7 and before, on each such datagram
	case stopped && run.side == server && len(run.totals) > 0: // it waited for the next run
	case stopped:
		run.interrupt = text
	default:
		run.failure = text
	}
}

// readRow takes a row of figures. A row over all intervals is a total, whether
// or not it names its end.
func (run *iperf3Run) readRow(r row) {
	switch {
	case r.nothing:
		run.nothings++
	case r.omitted:
	case run.cut.goesOn(run, r):
		run.totals = append(run.totals, run.cut.named(run, r))
	case r.sends || r.receives:
		run.totals = append(slices.DeleteFunc(run.totals, func(known row) bool { // an interval after one whose "(omitted)" was cut off
			return known.id == r.id && known.role == r.role && !known.sends && !known.receives
		}), r)
	case run.spans(r):
		run.totals = append(run.totals, r)
	default:
		for _, known := range latest(run.intervals) {
			if known.id == r.id && known.role == r.role && known.start == r.start && known.end == r.end {
				run.brokeOff = true
				return
			}
		}
		run.intervals = append(run.intervals, r)
	}
	_, isUDP := parseDatagrams(r.tail)
	run.udp = run.udp || isUDP
}

// spans reports whether a row without a role covers the intervals before it: the
// total of an iperf3 before 3.2 under UDP.
func (run *iperf3Run) spans(r row) bool {
	if r.start > 0.005 {
		return false
	}
	count, last := 0, 0.0
	for _, known := range run.intervals {
		if known.id == r.id && known.role == r.role {
			count, last = count+1, known.end
		}
	}
	return count > 0 && r.end >= last-0.05
}

var (
	blocks     = expressionOf(`protocol: (TCP|UDP|SCTP), (\d+) streams?, (\d+) byte blocks`)
	target     = expressionOf(`Target Bitrate: (\d+)`)
	congestion = expressionOf(`(?:snd|rcv)_tcp_congestion (\S+)`)
	cpu        = expressionOf(`CPU Utilization: local/\w+ ([\d.]+)%.*remote/\w+ ([\d.]+)%`)
	outOfOrder = expressionOf(`(\d+) datagrams received out-of-order`)
)

// readDetail takes what -V adds.
func (run *iperf3Run) readDetail(line string) {
	if m := blocks.FindStringSubmatch(line); m != nil {
		run.udp, run.sctp, run.named = m[1] == "UDP", m[1] == "SCTP", true
		run.connected = max(run.connected, int(count(m[2])))
		run.size = int(count(m[3]))
	}
	if m := target.FindStringSubmatch(line); m != nil {
		run.target = count(m[1])
	}
	if m := congestion.FindStringSubmatch(line); m != nil && run.cc == "" {
		run.cc = m[1]
	}
	if m := cpu.FindStringSubmatch(line); m != nil {
		run.counters["cpu_local"], run.counters["cpu_remote"] = count(m[1])/100, count(m[2])/100
	}
	if m := outOfOrder.FindStringSubmatch(line); m != nil {
		run.counters["out_of_order"] += count(m[1])
	}
	run.counted = run.counted || iperf2Sent.MatchString(line)
}

// count reads a number that a pattern has found; 0 where it is beyond bounds.
func count(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !sound(value) || value > 1e15 {
		return 0
	}
	return value
}
