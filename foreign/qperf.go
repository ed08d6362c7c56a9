package foreign

import (
	"fmt"
	"strings"

	"tare/result"
)

var (
	qperfTest  = expressionOf(`^\s*([a-z]+(?:_[a-z]+)*_(?:bw|lat|mr)|conf)\s*:\s*$`)
	qperfValue = expressionOf(`^\s*(bw|latency|send_bw|recv_bw|msg_rate|msg_size|time|timeout|(?:send|recv)_(?:cost|cpus_used|bytes|msgs)|(?:loc|rem)_(?:cpus_used|node|cpu|os|qperf|cpus|id))\s*=\s*(.+?)\s*$`)
	qperfMain  = expressionOf(`^(?:bw|latency|send_bw|recv_bw|msg_rate)$`)
	qperfError = expressionOf(`^\s*(?:\S+: )?(failed to \w+.*|unable to .*|.*(?:timed out|refused).*|server .* error.*)$`)
)

func hintsQperf() []string {
	return []string{"qperf", "=", "_", "conf"}
}

func claimsQperf(ahead []string) claim {
	m := qperfValue.FindStringSubmatch(ahead[0])
	if m == nil {
		return sure(qperfTest.MatchString(ahead[0]))
	}
	_, _, figure := quantity(m[2])
	if figure && qperfMain.MatchString(m[1]) {
		return weak
	}
	return maybe(figure || strings.HasPrefix(m[1], "loc_") || strings.HasPrefix(m[1], "rem_"))
}

// qperfRun is one test as far as its lines were read.
type qperfRun struct {
	command       command
	test, version string
	values        map[string]string
	failure       string
}

// readQperf reads qperf's text: plain, with -v or -vu, and its loops, in which
// each size is a run.
func readQperf(lines []string) []result.Cell {
	var runs []*qperfRun
	run := &qperfRun{values: map[string]string{}}
	next := func(test string) {
		if run.test != "" && run.test != "conf" || len(run.values) > 0 || run.failure != "" {
			runs = append(runs, run)
		}
		run = &qperfRun{command: run.command, version: run.version, test: test, values: map[string]string{}}
	}
	for _, line := range lines {
		if c, isCommand := commandIn(line); isCommand {
			next("")
			run.command, run.version = c, ""
			continue
		}
		if m := qperfTest.FindStringSubmatch(line); m != nil {
			next(m[1])
			continue
		}
		m := qperfValue.FindStringSubmatch(line)
		switch {
		case m == nil && len(run.values) == 0 && qperfError.MatchString(line):
			run.failure = qperfError.FindStringSubmatch(line)[1]
		case m == nil:
		case m[1] == "loc_qperf":
			run.version = m[2]
		case strings.HasPrefix(m[1], "loc_") && m[1] != "loc_cpus_used", strings.HasPrefix(m[1], "rem_") && m[1] != "rem_cpus_used":
		default:
			if _, found := run.values[m[1]]; found {
				next("") // the name of its test is missing
			}
			run.values[m[1]] = m[2]
		}
	}
	next("")
	var cells []result.Cell
	for n, run := range runs {
		cells = append(cells, run.cell(sizeInLoop(runs, n)))
	}
	return cells
}

var loop = expressionOf(`^msg_size:(.+)$`)

// sizeInLoop is the size of a run in a loop whose command is in the text and
// whose output does not name the sizes: they come in the command's order. It
// is nil where the loop's runs are not all there.
func sizeInLoop(runs []*qperfRun, at int) any {
	text, _ := runs[at].command.flag("-oo", "--loop")
	m := loop.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	sizes, err := result.ParseSizes(m[1])
	if err != nil {
		return nil
	}
	place, all := 0, 0
	for n, run := range runs {
		if run.test != runs[at].test || strings.Join(run.command.args, " ") != strings.Join(runs[at].command.args, " ") {
			continue
		}
		if n < at {
			place++
		}
		all++
	}
	if all != len(sizes) || runs[at].test == "" {
		return nil
	}
	return sizes[place]
}

// cell makes a test's values a cell.
func (run *qperfRun) cell(loopSize any) result.Cell {
	transfer := strings.HasSuffix(run.test, "_bw")
	var b *builder
	switch protocol, isLatency := strings.CutSuffix(run.test, "_lat"); {
	case transfer: // of another transport too: SCTP, RDMA
		b = newStream("qperf", strings.TrimSuffix(run.test, "_bw"))
	case isLatency:
		b = newPair("qperf", protocol+"_rr")
	default:
		b = newPair("qperf", run.test)
	}
	b.known("tool_version", run.version)
	b.param("side", client) // its server prints nothing
	if transfer {
		b.param("direction", forward)
	}
	if _, v, ok := quantity(run.values["msg_size"]); ok && v > 0 {
		b.param("size", int(min(v, 1<<40)))
	}
	b.param("size", loopSize)
	b.param("size", run.command.size("-m", "--msg_size"))
	if _, v, ok := quantity(run.values["time"]); ok {
		b.param("duration", v)
	}
	if run.test == "" {
		b.warn("the name of the test is missing")
	}
	run.metrics(b)
	if len(b.cell.Metrics) == 0 && run.failure == "" {
		b.warn(run.figureless())
	}
	b.fail(run.failure)
	return b.done()
}

// figureless says why a run has no metric.
func (run *qperfRun) figureless() string {
	for _, name := range []string{"bw", "send_bw", "recv_bw"} {
		if text, is := run.values[name]; is {
			return fmt.Sprintf("no figure: %q has no unit of qperf's, whose letters are B for bytes and b for bits", text)
		}
	}
	return "no figures: the text breaks off before them"
}

// metrics notes the values in SI units. qperf's latency is half a round trip.
func (run *qperfRun) metrics(b *builder) {
	if unit, v, ok := quantity(run.values["bw"]); ok && unit == "bit/s" {
		b.metric("throughput", v) // its messages as the receiver counts them
	}
	if unit, v, ok := quantity(run.values["recv_bw"]); ok && unit == "bit/s" {
		b.metric("throughput", v)
	}
	if unit, v, ok := quantity(run.values["send_bw"]); ok && unit == "bit/s" {
		b.counter("throughput_sent", v)
		b.metric("throughput", v, sendersFigure)
	}
	if unit, v, ok := quantity(run.values["latency"]); ok && unit == "s" {
		b.metric("latency_one_way", v, "half a round trip, as qperf gives it")
	}
	_, sent, okSent := quantity(run.values["send_msgs"])
	_, received, okReceived := quantity(run.values["recv_msgs"])
	if okSent && okReceived && sent > 0 && received <= sent && run.test == "udp_bw" {
		b.metric("loss", 1-received/sent)
	}
	for _, name := range []string{"msg_rate", "send_cpus_used", "recv_cpus_used", "loc_cpus_used", "rem_cpus_used", "send_cost", "recv_cost", "send_msgs", "recv_msgs", "send_bytes", "recv_bytes"} {
		unit, v, ok := quantity(run.values[name])
		switch {
		case !ok:
		case unit == "s/Gbit":
			b.counter(strings.Replace(name, "_cost", "_cpu_per_gbit", 1), v)
		default:
			b.counter(name, v)
		}
	}
}

var (
	quantityText = expressionOf(`^([\d.,]+)\s*([KMGT]?)(i?)(B/sec|b/sec|bytes/sec|bits/sec|/sec|bytes|B|% cpus|%cpus|)\s*(?:\(([\d,]+)\))?$`)
	costText     = expressionOf(`^([\d.,]+)\s*(sec|ms|us|ns)/GB$`)
)

// quantity reads a value of qperf with its unit: its units are decimal but for
// those with an i, and the number in brackets is the same number in full.
func quantity(text string) (unit string, value float64, ok bool) {
	if m := costText.FindStringSubmatch(text); m != nil {
		v, ok := parseNumber(m[1])
		return "s/Gbit", seconds(v, unitOf(m[2])) / 8, ok
	}
	if v, ok := parseSpan(text); ok {
		return "s", v, true
	}
	m := quantityText.FindStringSubmatch(text)
	if m == nil {
		return "", 0, false
	}
	value, ok = parseNumber(m[1])
	if m[3] == "i" {
		value *= kibi(m[2])
	} else {
		value *= kilo(m[2])
	}
	if full, found := parseNumber(m[5]); found {
		value = full
	}
	switch m[4] {
	case "B/sec", "bytes/sec":
		return "bit/s", value * 8, ok
	case "b/sec", "bits/sec": // the latter with -ub
		return "bit/s", value, ok
	case "/sec":
		return "1/s", value, ok
	case "% cpus", "%cpus":
		return "cpus", value / 100, ok
	}
	return "bytes", value, ok
}
