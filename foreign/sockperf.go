package foreign

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tare/result"
)

func hintsSockperf() []string {
	return []string{"sockperf", "--->", "====>"}
}

func claimsSockperf(ahead []string) claim {
	return sure(sockperfLine.MatchString(ahead[0]))
}

var (
	sockperfLine  = expressionOf(`^sockperf\s*(?:\[(?:CLIENT|SERVER)\]|:)|---> (?:percentile|<?(?:MAX|MIN)>? observation)|====> avg-`)
	sockperfStart = expressionOf(`== version #(\S+) ==`)
	sockperfProto = expressionOf(`PORT\s*=\s*\d+\s*#\s*(TCP|UDP)`)
	sockperfTotal = expressionOf(`\[(Total Run|Valid Duration)\]\s*RunTime=([\d.]+)\s*sec;.*?SentMessages=(\d+);\s*ReceivedMessages=(\d+)`)
	sockperfMean  = expressionOf(`avg-(lat|latency|rtt)=\s*([\d.]+)\s*\(std-dev=([\d.]+)`)
	sockperfLost  = expressionOf(`# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)`)
	sockperfRank  = expressionOf(`---> (?:percentile\s*([\d.]+)|<?(MAX|MIN)>? observation)\s*=\s*([\d.]+)`)
	sockperfSent  = expressionOf(`Total of (\d+) messages sent in ([\d.]+) sec`)
	sockperfRate  = expressionOf(`Message Rate is ([\d.]+)\s*\[msg/sec\]`)
	sockperfBits  = expressionOf(`BandWidth is ([\d.]+)\s*([MG])Bps(?:\s*\(([\d.]+)\s*[MG]bps\))?`)
	sockperfMeans = expressionOf(`Summary: (Latency|Round trip) is ([\d.]+)\s*usec`)
	sockperfNote  = expressionOf(`msg-size=(\d+)(?:, mps=(\d+))?\. For getting`)
	sockperfCount = expressionOf(`Total (\d+) observations`)
	sockperfError = expressionOf(`sockperf:\s*(?:ERROR: (.+)|(No (?:messages were received|valid observations found).*))$`)
)

// besideLabel is by how much a throughput may differ from how sockperf prints it: 2^20 is further from
// a million.
const besideLabel = 0.01

// sockperfRun is one run as far as its lines were read.
type sockperfRun struct {
	command             command
	version, protocol   string
	server, full, begun bool
	throughput, figures bool
	duration            float64
	sent, received      float64
	counted             bool // these two are in the text
	mean, deviation     float64
	observations        float64
	ranks               map[string]float64
	lost                []string
	rate, bits          *float64
	label               float64 // bit/s that the bandwidth would be in decimal units, as it is printed
	size, offered       any
	failure             string
}

// readSockperf reads sockperf's text: ping-pong, under-load and throughput.
func readSockperf(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *sockperfRun {
		return &sockperfRun{command: c, ranks: map[string]float64{}}
	})
}

func (run *sockperfRun) isOver(line string) bool {
	refused := sockperfError.FindStringSubmatch(line)
	return sockperfStart.MatchString(line) && (run.begun || run.failure != "") || run.figures && refused != nil && refused[1] != "" || run.figures && strings.Contains(line, "[CLIENT] send on")
}

// read takes the facts of a line.
func (run *sockperfRun) read(line string) {
	if m := sockperfStart.FindStringSubmatch(line); m != nil {
		run.version, run.begun = m[1], true
	}
	if m := sockperfProto.FindStringSubmatch(line); m != nil {
		run.protocol = m[1]
	}
	if strings.Contains(line, "[SERVER]") {
		run.server = true
	}
	if m := sockperfNote.FindStringSubmatch(line); m != nil {
		run.size = int(count(m[1]))
		if m[2] != "" {
			run.offered = count(m[2])
		}
	}
	if m := sockperfError.FindStringSubmatch(line); m != nil && run.failure == "" {
		run.failure = m[1] + m[2]
	}
	run.figure(line)
}

// figure takes a number.
func (run *sockperfRun) figure(line string) {
	if m := sockperfTotal.FindStringSubmatch(line); m != nil {
		run.figures, run.counted = true, true
		run.duration, run.sent, run.received = count(m[2]), count(m[3]), count(m[4])
	}
	if m := sockperfMeans.FindStringSubmatch(line); m != nil && run.mean == 0 {
		run.figures, run.full, run.mean = true, m[1] == "Round trip", count(m[2])
	}
	if m := sockperfMean.FindStringSubmatch(line); m != nil {
		run.figures, run.full = true, m[1] == "rtt"
		run.mean, run.deviation = count(m[2]), count(m[3])
	}
	if m := sockperfLost.FindStringSubmatch(line); m != nil {
		run.lost = m[1:]
	}
	if m := sockperfRank.FindStringSubmatch(line); m != nil {
		run.figures = true
		run.ranks[strings.TrimRight(strings.TrimRight(m[1], "0"), ".")+m[2]] = count(m[3])
	}
	if m := sockperfCount.FindStringSubmatch(line); m != nil {
		run.observations = count(m[1])
	}
	if m := sockperfSent.FindStringSubmatch(line); m != nil {
		run.figures, run.throughput, run.counted = true, true, true
		run.sent, run.duration = count(m[1]), count(m[2])
	}
	if m := sockperfRate.FindStringSubmatch(line); m != nil {
		run.figures, run.throughput, run.rate = true, true, new(count(m[1]))
	}
	if m := sockperfBits.FindStringSubmatch(line); m != nil {
		run.figures, run.throughput = true, true
		run.bandwidth(m[1], m[2], m[3])
	}
}

// cells makes the run a cell.
func (run *sockperfRun) cells() []result.Cell {
	if run.server || !run.figures && run.failure == "" {
		return nil
	}
	protocol := strings.ToLower(run.protocol)
	switch {
	case protocol == "" && run.command.has("--tcp", "--tcp"):
		protocol = "tcp"
	case protocol == "" && len(run.command.args) > 0:
		protocol = "udp"
	}
	var b *builder
	switch {
	case run.throughput:
		b = newStream("sockperf", protocol)
	case protocol == "":
		b = newPair("sockperf", "")
	default:
		b = newPair("sockperf", protocol+"_rr")
	}
	if protocol == "" {
		b.warn("the text does not say whether this is TCP or UDP")
	}
	b.known("tool_version", run.version)
	b.param("side", client)
	b.param("size", run.size)
	b.param("size", run.command.size("-m", "--msg-size"))
	b.param("rate", run.offered)
	b.param("rate", run.command.rate("--mps", "--mps"))
	b.known("duration", run.duration)
	if run.throughput {
		b.param("direction", forward)
		run.sending(b)
	} else {
		run.answers(b)
	}
	b.fail(run.failure)
	if run.sent > 0 && !run.throughput {
		b.succeeded(run.received, "message")
	}
	return []result.Cell{b.done()}
}

// bandwidth takes what sockperf prints in bytes and in bits. Its M is 2^20, and its G is 1000 of those
// (--giga-size) or one of them (--increase_output_precision, with nine digits behind the point).
// Source: stream_statistics in src/client.cpp of sockperf 3.7 and 3.10.
func (run *sockperfRun) bandwidth(bytes, unit, bits string) {
	bits = cmp.Or(bits, strconv.FormatFloat(8*count(bytes), 'g', -1, 64))
	_, digits, _ := strings.Cut(bytes, ".")
	run.label, run.bits = count(bits)*kilo(unit), new(count(bits)*(1<<20))
	if unit == "G" && len(digits) < 9 {
		*run.bits *= 1000
	}
}

// sending notes a throughput run: sockperf's server reports nothing back. Its rate and its size make
// the throughput, where both are there.
func (run *sockperfRun) sending(b *builder) {
	if size := b.cell.Params.Number("size"); run.rate != nil && size > 0 {
		run.bits = new(*run.rate * size * 8)
	}
	if run.bits != nil {
		b.metric("throughput", *run.bits, sendersFigure)
		if run.label > 0 && math.Abs(*run.bits-run.label) > besideLabel*run.label {
			b.warn(fmt.Sprintf("sockperf prints %.4g Gbit/s, in units of 2^20 or 1000 times 2^20 that it calls M or G: it sent %.4g Gbit/s", run.label/1e9, *run.bits/1e9))
		}
	}
	if run.rate != nil {
		b.metric("offered_rate", *run.rate)
	}
	if run.counted {
		b.counter("sent", run.sent)
	}
}

// answers notes round trips, which sockperf halves by default.
func (run *sockperfRun) answers(b *builder) {
	us := func(v float64) float64 { return seconds(v, time.Microsecond) }
	prefix := "latency_one_way_"
	if run.full {
		prefix = "rtt_"
		b.metric("rtt_mean", us(run.mean))
	} else if run.mean > 0 {
		b.metric("latency_one_way", us(run.mean), "half a round trip, as sockperf gives it")
	}
	if run.deviation > 0 {
		b.counter(prefix+"stdev", us(run.deviation))
	}
	for name, v := range run.ranks {
		if name == "MAX" || name == "MIN" {
			b.counter(prefix+strings.ToLower(name), us(v))
		} else {
			b.time(prefix+rankName(name), us(v))
		}
	}
	if run.duration > 0 && run.received > 0 {
		run.answerRate(b)
	}
	if run.observations > 0 {
		b.observed(run.observations)
	} else if run.sent > 0 {
		b.observed(run.received)
	}
	if run.counted {
		b.counter("sent", run.sent)
		b.counter("received", run.received)
	}
	if run.lost != nil {
		dropped := count(run.lost[0])
		b.counter("lost", dropped)
		b.counter("duplicated", count(run.lost[1]))
		b.counter("out_of_order", count(run.lost[2]))
		if run.received+dropped > 0 {
			b.metric("loss", dropped/(run.received+dropped))
		}
	}
}

// answerRate notes the answers per second. Under load the server gives one to some messages only.
func (run *sockperfRun) answerRate(b *builder) {
	var warnings []string
	if run.received > 0 && run.sent > 1.5*run.received && (run.lost == nil || run.lost[0] == "0") {
		b.metric("offered_rate", run.sent/run.duration)
		warnings = append(warnings, fmt.Sprintf("of answers: the server gives one to every %.0fth message (--reply-every)", run.sent/run.received))
	}
	b.metric("rate", run.received/run.duration, warnings...)
}
