package foreign

import (
	"cmp"
	"slices"
	"strings"

	"tare/result"
)

var (
	netperfHead    = expressionOf(`^(?:MIGRATED )?(TCP|UDP|SCTP|DCCP|UDPLITE|OMNI)(?: (\S+|UNIDIRECTIONAL SEND))? TEST (?:from|to) `)
	netperfBurst   = expressionOf(`: first burst (\d+)`)
	netperfUnit    = expressionOf(`(10\^\d+bits|[KMG]?Bytes|Trans|Usec)\s*/\s*s(?:ec)?\b|Time\s+(10\^\d+bits|[KMG]?Bytes)\s+local`)
	netperfKey     = expressionOf(`^([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*)=(.*)$`)
	netperfRow     = expressionOf(`^-?\d+(?:\s+-?[\d.]+){3,}$`)
	netperfUnits   = expressionOf(`^bytes\s*[bB]ytes`)
	netperfSockets = expressionOf(`^bytes\s+bytes\s+bytes\s+secs\.\s+10\^\d+bits/sec`) // as tables of TCP end their heads
	netperfOmni    = expressionOf(`^(?:\d+\s+)+([\d.]+)\s+([\d.]+)\s+(\S+/s)$`)
	netperfOmnis   = expressionOf(`Elapsed\s+Throughput\s+Throughput$`)
	netperfInterim = expressionOf(`^Interim result:\s*([\d.]+)\s+(\S+/s) over ([\d.]+) seconds`)
	netperfFailure = expressionOf(`^(?:netperf: )?(establish[_ ]control.*|(?:send|recv)_\w+: .*|remote error.*)$`)
	netperfGaveUp  = expressionOf(`could not establish`)
	netperfMore    = expressionOf(`^Alignment\s+Offset`)
	netperfUnsure  = expressionOf(`Desired confidence was not achieved`)
)

func hintsNetperf() []string {
	return []string{"netperf", " TEST", "secs.", "THROUGHPUT", "LATENCY", "Throughput", "Latency", "Interim", "establish", "send_", "recv_"}
}

func claimsNetperf(ahead []string) claim {
	line := ahead[0]
	if m := netperfKey.FindStringSubmatch(line); m != nil {
		_, known := netperfNames()[m[1]]
		return sure(known)
	}
	return sure(matchesAny(line, netperfHead, netperfInterim, netperfFailure, netperfSockets) || netperfTable(ahead))
}

// netperfRun is one run as far as its lines were read.
type netperfRun struct {
	command  command
	head     []string          // protocol and test
	values   map[string]string // by the names of -k
	columns  []string          // of CSV, whose values come next
	rows     int               // of a classic test
	interim  []float64
	unit     string // of these
	failures []string
	unsure   bool
	burst    string // how many requests are under way beside the first, as the head has it
	classic  bool   // the units of the table of a classic test were read: not of columns that were chosen (-O)
	omni     bool   // the table of omni has its usual columns
	more     bool   // the tables of -v 2 have begun
	assumed  bool   // nothing says which test of streams it was
	bare     bool   // its rows have no heads (-P 0)
}

// readNetperf reads netperf's classic tests, and -k and CSV of omni.
func readNetperf(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *netperfRun {
		return &netperfRun{command: c, values: map[string]string{}, columns: unheaded(c)}
	})
}

// unheaded are the columns that a command chose by -o, where -P 0 leaves out their head.
func unheaded(c command) []string {
	chosen, isCSV := c.flag("-o", "")
	if quiet, _ := c.flag("-P", ""); !isCSV || quiet != "0" {
		return nil
	}
	return strings.Split(strings.ToUpper(chosen), ",")
}

func (run *netperfRun) isOver(line string) bool {
	begun := len(run.values) > 0
	gaveUp := len(run.failures) > 0 && netperfGaveUp.MatchString(run.failures[len(run.failures)-1])
	switch key := netperfKey.FindStringSubmatch(line); {
	case netperfSockets.MatchString(line):
		return run.rows > 0
	case netperfHead.MatchString(line):
		return begun || run.head != nil || len(run.failures) > 0
	case netperfFailure.MatchString(line):
		return begun || gaveUp
	case netperfColumns(line) != nil:
		return begun || gaveUp
	case key != nil:
		_, found := run.values[key[1]]
		return found || run.rows > 0 || run.columns != nil || gaveUp
	}
	return false
}

func (run *netperfRun) read(line string) {
	fields := strings.Split(line, ",")
	key, unit := netperfKey.FindStringSubmatch(line), netperfUnit.FindStringSubmatch(line)
	switch {
	case netperfHead.MatchString(line):
		run.head = netperfHead.FindStringSubmatch(line)[1:]
		if m := netperfBurst.FindStringSubmatch(line); m != nil {
			run.burst = m[1]
		}
	case netperfColumns(line) != nil:
		run.columns = netperfColumns(line)
	case key != nil:
		run.values[key[1]] = key[2]
	case run.columns != nil && len(fields) == len(run.columns):
		for n, name := range run.columns {
			run.values[name] = strings.Trim(fields[n], ` "`)
		}
	case netperfInterim.MatchString(line):
		m := netperfInterim.FindStringSubmatch(line)
		run.interim, run.unit = append(run.interim, count(m[1])), m[2]
	case netperfFailure.MatchString(line):
		run.failures = append(run.failures, netperfFailure.FindStringSubmatch(line)[1])
	case netperfUnsure.MatchString(line):
		run.unsure = true
	case netperfUnits.MatchString(line) && unit == nil:
		run.classic = true
	case unit != nil && run.rows == 0 && !run.omni: // later ones are of other figures
		run.values["THROUGHPUT_UNITS"] = unit[1] + unit[2] + "/s"
		run.classic = run.classic || netperfUnits.MatchString(line)
	case netperfOmnis.MatchString(line):
		run.omni = true
	case run.omni && netperfOmni.MatchString(line):
		m := netperfOmni.FindStringSubmatch(line)
		run.rows++
		run.values["ELAPSED_TIME"], run.values["THROUGHPUT"], run.values["THROUGHPUT_UNITS"] = m[1], m[2], m[3]
	case netperfMore.MatchString(line):
		run.more = true
	case run.head == nil && run.columns == nil && run.rows == 0 && netperfRow.MatchString(line) && run.quiet():
		run.readRow(strings.Fields(line))
	case run.head == nil && run.classic && run.rows == 0 && netperfRow.MatchString(line): // the name of the test is missing
		asked, _ := run.command.flag("-t", "")
		if asked == "" && len(run.command.args) > 0 {
			asked = "TCP_STREAM"
		}
		protocol, test, _ := strings.Cut(asked, "_")
		run.head, run.assumed = []string{protocol, cmp.Or(test, "STREAM")}, test == ""
		run.readRow(strings.Fields(line))
	case run.head != nil && run.classic && !run.more && netperfRow.MatchString(line):
		run.readRow(strings.Fields(line))
	}
}

// quiet reports whether the command asked for a classic test without its heads (-P 0), and takes from it what they have.
func (run *netperfRun) quiet() bool {
	quiet, _ := run.command.flag("-P", "")
	asked, _ := run.command.flag("-t", "")
	protocol, test, _ := strings.Cut(cmp.Or(asked, "TCP_STREAM"), "_")
	kind := netperfKinds()[test]
	format, _ := run.command.flag("-f", "")
	unit := map[string]string{"": "10^6bits/s", "m": "10^6bits/s", "k": "10^3bits/s", "g": "10^9bits/s"}[format]
	if quiet != "0" || kind == "" || unit == "" || slices.ContainsFunc(run.command.args, func(arg string) bool { return slices.Contains([]string{"-o", "-O", "-k", "-j"}, arg) }) {
		return false
	}
	if kind != "stream" && kind != "reverse" {
		unit = "Trans/s"
	}
	run.head, run.values["THROUGHPUT_UNITS"], run.bare = []string{protocol, test}, unit, true
	run.classic = true
	return true
}

// readRow takes a row of a classic test. What a longer row ends in is CPU.
func (run *netperfRun) readRow(fields []string) {
	run.rows++
	var columns []string
	switch kind := netperfKinds()[run.head[1]]; {
	case kind == "stream" && run.head[0] == "UDP" && strings.Contains(fields[1], "."): // the receiver's, which has no size
		columns = []string{"", "ELAPSED_TIME", "REMOTE_RECV_CALLS", "REMOTE_RECV_THROUGHPUT"}
	case kind == "stream" && run.head[0] == "UDP":
		columns = []string{"", "LOCAL_SEND_SIZE", "ELAPSED_TIME", "LOCAL_SEND_CALLS", "FAILED_SENDS", "LOCAL_SEND_THROUGHPUT"}
	case run.rows > 1: // the other end's buffers
	case kind == "stream" || kind == "reverse":
		columns = []string{"", "", "LOCAL_SEND_SIZE", "ELAPSED_TIME", "THROUGHPUT"}
	default:
		columns = []string{"", "", "REQUEST_SIZE", "RESPONSE_SIZE", "ELAPSED_TIME", "THROUGHPUT"}
	}
	for n, name := range columns[:min(len(columns), len(fields))] {
		run.values[name] = fields[n]
	}
}
