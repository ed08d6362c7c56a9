package foreign

import (
	"fmt"
	"strings"

	"tare/result"
)

var (
	wrkRunning = expressionOf(`Running\s*([\d.]+\w+|\d+\s*requests)\s*test\s*@\s*(\S+)`)
	wrkThreads = expressionOf(`(\d+)\s*threads\s*and\s*(\d+)\s*connections`)
	wrkLatency = expressionOf(`^\s*Latency\s*([\d.]+|-?nan)(us|ms|s|m|h)\s*([\d.]+|-?nan)(us|ms|s|m|h)\s*([\d.]+|-?nan)(us|ms|s|m|h)`)
	wrkRank    = expressionOf(`^\s*(\d+(?:\.\d+)?)%\s*([\d.]+)(us|ms|s|m|h)\s*$`)
	wrkTotal   = expressionOf(`(\d+)\s*requests\s*in\s*([\d.]+)(ms|s|m|h),\s*([\d.]+)([KMGT]?)B\s*read`)
	wrkSpread  = expressionOf(`^\s*Req/Sec\s*(?:[\d.]+[kM]?|-?nan)\s`)
	wrkBad     = expressionOf(`Non-2xx\s*or\s*3xx\s*responses:\s*(\d+)`)
	wrkSockets = expressionOf(`Socket\s*errors:\s*connect\s*(\d+),\s*read\s*(\d+),\s*write\s*(\d+),\s*timeout\s*(\d+)`)
	wrkHead    = expressionOf(`Thread\s*Stats\s+Avg\s+Stdev\s+([\d.]+)%`) // of forks, where wrk has the longest
	wrkRate    = expressionOf(`Requests/sec:\s*([\d.]+)`)
	wrkBytes   = expressionOf(`Transfer/sec:\s*([\d.]+)\s*([KMGT]?)B`)
	wrkRefused = expressionOf(`^\s*(unable to connect to \S+.*)$`)
	wrk2Words  = expressionOf(`Thread calibration|HdrHistogram|Detailed Percentile spectrum`)
	wrkOnly    = expressionOf(`^\s*Thread\s*Stats|Thread calibration`)
)

func hintsWrk() []string {
	return []string{"wrk", "unning", "threads", "atency", "requests", "Non-2xx", "ocket", "sec:", "Thread", "ercentile", "Mean", "Max", "Buckets", "unable", "%", "Req/Sec"}
}

func claimsWrk(ahead []string) claim {
	line := ahead[0]
	switch {
	case matchesAny(line, wrkThreads, wrkBad, wrkSockets, wrkOnly):
		return certain
	case wrkRunning.MatchString(line) && soon(ahead, wrkThreads), wrkTotal.MatchString(line) && soon(ahead, wrkRate),
		wrkRate.MatchString(line) && soon(ahead, wrkBytes):
		return certain
	case wrkRefused.MatchString(line):
		return weak
	}
	return maybe(matchesAny(line, wrkRunning, wrkLatency, wrkTotal, wrkSpread, wrkRank, wrkRate, wrkBytes, wrk2Words))
}

// longestRun is what no run takes, in s: a clock that was set back leaves 585 thousand years (wrk 4.1).
const longestRun = 1e9

// wrkRun is one run as far as its lines were read.
type wrkRun struct {
	command  command
	seen     map[string][]string // the groups of each pattern, by its name
	ranks    map[string]float64
	wrk2     bool
	spectrum bool
}

// readWrk reads the text of wrk and of wrk2.
func readWrk(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *wrkRun {
		return &wrkRun{command: c, seen: map[string][]string{}, ranks: map[string]float64{}}
	})
}

func (run *wrkRun) isOver(line string) bool {
	finished := run.seen["bytes"] != nil || run.seen["rate"] != nil
	again := run.seen["latency"] != nil && wrkLatency.MatchString(line) || run.seen["total"] != nil && wrkTotal.MatchString(line) ||
		run.seen["rate"] != nil && wrkRate.MatchString(line)
	return again || wrkRunning.MatchString(line) || finished && matchesAny(line, wrkThreads, wrkOnly, wrkLatency) || wrkRefused.MatchString(line)
}

func (run *wrkRun) read(line string) {
	run.wrk2 = run.wrk2 || wrk2Words.MatchString(line)
	run.spectrum = run.spectrum || strings.Contains(line, "Detailed Percentile")
	for name, pattern := range map[string]expression{
		"running": wrkRunning, "threads": wrkThreads, "latency": wrkLatency, "total": wrkTotal, "bad": wrkBad,
		"sockets": wrkSockets, "head": wrkHead, "rate": wrkRate, "bytes": wrkBytes, "refused": wrkRefused,
	} {
		if _, found := run.seen[name]; found {
			continue
		}
		if m := pattern.FindStringSubmatch(line); m != nil {
			run.seen[name] = m
		}
	}
	if m := wrkRank.FindStringSubmatch(line); m != nil && !run.spectrum {
		if v, ok := parseSpan(m[2] + m[3]); ok {
			name := m[1]
			if strings.Contains(name, ".") {
				name = strings.TrimRight(strings.TrimRight(name, "0"), ".")
			}
			run.ranks[name] = v
			run.wrk2 = run.wrk2 || strings.Contains(m[1], ".000")
		}
	}
}

// cells makes the run a cell.
func (run *wrkRun) cells() []result.Cell {
	if len(run.seen) == 0 {
		return nil
	}
	b := newRun(run.tool(), "http", "connections", "threads", "rate", "duration", "url")
	b.param("side", client)
	if m := run.seen["running"]; m != nil {
		b.param("url", m[2])
	}
	if m := run.seen["threads"]; m != nil {
		b.param("threads", int(count(m[1])))
		b.param("connections", int(count(m[2])))
	}
	b.param("rate", run.command.rate("-R", "--rate"))
	took := run.spanOf("total", 2, 3)
	b.known("duration", took)
	b.known("duration", run.spanOf("running", 1))
	run.rates(b, took)
	run.latencies(b)
	run.errors(b)
	run.basis(b, took)
	return []result.Cell{b.done()}
}

func (run *wrkRun) tool() string {
	if run.wrk2 || run.command.tool == "wrk2" || run.command.rate("-R", "--rate") != nil {
		return "wrk2" // wrk keeps no rate
	}
	return "wrk"
}

// spanOf is a time that groups of a line have; 0: none that can be.
func (run *wrkRun) spanOf(name string, groups ...int) float64 {
	text := ""
	for _, n := range groups {
		if m := run.seen[name]; m != nil {
			text += m[n]
		}
	}
	if v, _ := parseSpan(text); v < longestRun {
		return v
	}
	return 0
}

// rates notes requests and bytes per second. wrk's units of bytes are binary.
func (run *wrkRun) rates(b *builder, took float64) {
	const headers = "with the headers of HTTP"
	total, rate, bytes := run.seen["total"], run.seen["rate"], run.seen["bytes"]
	if total != nil {
		b.counter("requests", count(total[1]))
		if took == 0 && count(total[1]) > 0 {
			b.warn("its requests took a time that cannot be, " + total[2] + total[3] + ": it has no rate")
			return
		}
	}
	if rate != nil {
		b.metric("rate", count(rate[1]), run.early(took)...)
	} else if took > 0 {
		b.metric("rate", count(total[1])/took, "the rate's line is missing: requests over the time they took")
	}
	if bytes != nil {
		b.metric("throughput", 8*count(bytes[1])*kibi(bytes[2]), headers)
	} else if took > 0 {
		b.metric("throughput", 8*count(total[4])*kibi(total[5])/took, headers)
	}
	if len(b.cell.Metrics) == 0 && run.seen["refused"] == nil {
		b.warn("no summary: the text breaks off before it")
	}
}

// early is what belongs to a rate of a much shorter time than the run was to last. With many threads
// wrk2 loses its count of time: 5 s become 1.25 ms, and 167 thousand requests a second 664 million.
func (run *wrkRun) early(took float64) []string {
	if v := run.spanOf("running", 1); took > 0 && took < v/2 {
		return []string{fmt.Sprintf("of the %.3g s that its requests took, it says, and it was to run for %.3g s: it was stopped, or this is no rate", took, v)}
	}
	return nil
}

func (run *wrkRun) latencies(b *builder) {
	if m := run.seen["latency"]; m != nil {
		for n, name := range []string{"", "latency_stdev", "latency_max"} {
			v, ok := parseSpan(m[1+2*n] + m[2+2*n])
			switch {
			case ok && n == 0:
				b.metric("latency_mean", v)
			case ok && n == 2 && run.seen["head"] != nil:
				b.percentile(run.seen["head"][1], v)
			case ok:
				b.counter(name, v)
			}
		}
	}
	for name, v := range run.ranks {
		b.percentile(name, v)
	}
}

// basis notes of what wrk's times are. What came after its timeout is counted, but in none of them.
// It adds to them: at the end of a run it takes the time that a connection needs for one request on
// average, and counts each that took more than twice that again for those which it held back.
// Source: stats_correct in src/stats.c of wrk 4. That of wrk2 counts from when a request was due.
func (run *wrkRun) basis(b *builder, took float64) {
	const to = ", so it is more than a request took: do not hold it against other tools'"
	longest, known := b.sample.Counters["latency_max"]
	connections := b.cell.Params.Number("connections")
	requests := b.sample.Counters["requests"]
	switch {
	case run.tool() == "wrk2":
		b.basis.note = result.Corrected + ": wrk2 counts from when a request was due" + to
	case !known || connections*requests*took == 0 || longest > 2*took*connections/requests:
		b.basis.note = result.Corrected + ": wrk counts a slow answer several times, for the requests that it held back (coordinated omission)" + to
	}
	if run.seen["total"] == nil {
		return
	}
	b.succeeded(requests-b.sample.Counters["non_2xx"], "request")
	if run.tool() == "wrk" {
		requests -= b.sample.Counters["errors_timeout"] // wrk2 counts one that is late at each look
	}
	b.observed(requests)
}

// percentile notes a latency.
func (b *builder) percentile(percent string, latency float64) {
	b.time("latency_"+rankName(percent), latency)
}

// rankName is how a percentile is called: p50, p999 for 99.9 as in
// result.Quantities, and p97_5.
func rankName(percent string) string {
	if percent == "99.9" {
		return "p999"
	}
	return "p" + strings.ReplaceAll(percent, ".", "_")
}

// errors notes what went wrong with requests, and a run that never began.
func (run *wrkRun) errors(b *builder) {
	if m := run.seen["bad"]; m != nil {
		b.counter("non_2xx", count(m[1]))
		b.warn(m[1] + " responses were neither 2xx nor 3xx")
	}
	if m := run.seen["sockets"]; m != nil {
		for n, name := range []string{"connect", "read", "write", "timeout"} {
			b.counter("errors_"+name, count(m[n+1]))
		}
		text := "socket errors: connect " + m[1] + ", read " + m[2] + ", write " + m[3] + ", timeout " + m[4]
		if count(m[4]) > 0 {
			text += ": no latency has what was later than the timeout"
		}
		b.warn(text)
	}
	if m := run.seen["refused"]; m != nil {
		b.fail(m[1])
	}
}
