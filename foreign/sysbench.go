package foreign

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tare/result"
)

var (
	sysbenchBanner = expressionOf(`^\s*sysbench\s*(\d+\.\d[\w.-]*)`)
	sysbenchNumber = expressionOf(`Number\s*of\s*threads:\s*(\d+)`)
	sysbenchTarget = expressionOf(`Target\s*transaction\s*rate:\s*([\d.]+)/sec`)
	sysbenchStep   = expressionOf(`^\s*\[\s*([\d.]+)s\s*\]\s*(?:thds|threads):\s*(\d+),?\s*(?:tps|eps):\s*([\d.]+)(?:,?\s*qps:\s*([\d.]+))?(?:.*lat\s*\(ms,\s*([\d.]+)%\):\s*([\d.]+))?`)
	sysbenchEvents = expressionOf(`events\s*per\s*second:\s*([\d.]+)|events/s\s*\(eps\):\s*([\d.]+)`)
	sysbenchCount  = expressionOf(`^\s*(transactions|queries|read/write\s*requests|ignored\s*errors|deadlocks|reconnects):\s*(\d+)\s*\(([\d.]+)\s*per\s*sec\.?\)`)
	sysbenchTime   = expressionOf(`^\s*(?:total\s*time|time\s*elapsed):\s*([\d.]+)s`)
	sysbenchTotal  = expressionOf(`^\s*total\s*number\s*of\s*events:\s*(\d+)`)
	sysbenchValue  = expressionOf(`^\s*(min|avg|max|sum|(?:approx\.\s*)?\d+(?:\.\d+)?(?:th|st|nd|rd)?\s*percentile):\s*(\d+\.\d\d)\s*(?:ms)?\s*$`)
	sysbenchFatal  = expressionOf(`^\s*FATAL:\s*(.+)$`)
	sysbenchWords  = expressionOf(`SQL\s*statistics:|OLTP test statistics:|General\s*statistics:|Threads\s*fairness:|queries\s*performed:|Threads\s*started!|Latency histogram`)
	sysbenchOther  = expressionOf(`^\s*(?:File operations:|Extra file open flags|Running memory speed test|Total operations:|Operations performed:|Doing (?:thread subsystem|mutex performance|memory operations))`)
	sysbenchParts  = expressionOf(`^\s*(?:SQL\s*statistics|OLTP test statistics|General\s*statistics|Test execution summary|CPU speed|Throughput|Threads\s*started)\b`)
	sysbenchSQL    = expressionOf(`SQL\s*statistics|OLTP test statistics|queries\s*performed`)
)

func hintsSysbench() []string {
	return []string{"sysbench", "threads", "thds", "ransaction", "events", "queries", "errors", "deadlocks", "reconnects", "total", "FATAL", "tatistics", "atency", "airness", "started", "speed", "requests", "elapsed", "perations", "Extra", "Doing"}
}

func claimsSysbench(ahead []string) claim {
	if matchesAny(ahead[0], sysbenchBanner, sysbenchNumber, sysbenchStep, sysbenchCount, sysbenchWords, sysbenchOther) {
		return certain
	}
	if strings.TrimSpace(ahead[0]) == "CPU speed:" && soon(ahead, sysbenchEvents) {
		return certain
	}
	return maybe(matchesAny(ahead[0], sysbenchEvents, sysbenchTime, sysbenchTotal, sysbenchValue, sysbenchFatal, sysbenchBucket))
}

// sysbenchRun is one run as far as its lines were read.
type sysbenchRun struct {
	command           command
	version, failure  string
	threads           int
	numbered          bool // by its own line, not by those of the intervals
	target            float64
	sql, cpu, other   bool
	steps             [][]string
	counts            map[string][]string
	events, eventRate *float64
	perSecond         bool // the rate is of the line "events per second"
	took              float64
	latencies         map[string]float64
	histogram         []bucket
}

// readSysbench reads sysbench's text, of version 1 and of those before it.
func readSysbench(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *sysbenchRun {
		return &sysbenchRun{command: c, counts: map[string][]string{}, latencies: map[string]float64{}}
	})
}

func (run *sysbenchRun) isOver(line string) bool {
	return sysbenchBanner.MatchString(line) || run.took > 0 && matchesAny(line, sysbenchParts, sysbenchTime) || run.has(line)
}

// has reports whether a line says again what a run prints once, as the lines of several do that were picked from
// their outputs: with other threads, or of an earlier time.
func (run *sysbenchRun) has(line string) bool {
	if m := sysbenchStep.FindStringSubmatch(line); m != nil && len(run.steps) > 0 {
		last := run.steps[len(run.steps)-1]
		return m[2] != last[2] || count(m[1]) < count(last[1])
	}
	if m := sysbenchCount.FindStringSubmatch(line); m != nil {
		return run.counts[strings.Join(strings.Fields(m[1]), "")] != nil
	}
	if m := sysbenchValue.FindStringSubmatch(line); m != nil {
		_, known := run.latencies[m[1]]
		return known
	}
	if m := sysbenchEvents.FindStringSubmatch(line); m != nil { // version 1.1 has it in two parts
		return run.eventRate != nil && (m[1] != "") == run.perSecond
	}
	return sysbenchNumber.MatchString(line) && (run.numbered || run.figures()) || run.events != nil && sysbenchTotal.MatchString(line)
}

func (run *sysbenchRun) figures() bool {
	return len(run.steps)+len(run.counts)+len(run.latencies) > 0 || run.events != nil || run.eventRate != nil
}

// read takes the facts of a line.
func (run *sysbenchRun) read(line string) {
	if m := sysbenchBanner.FindStringSubmatch(line); m != nil {
		run.version = m[1]
	}
	if m := sysbenchNumber.FindStringSubmatch(line); m != nil {
		run.threads, run.numbered = int(count(m[1])), true
	}
	if m := sysbenchTarget.FindStringSubmatch(line); m != nil {
		run.target = count(m[1])
	}
	if m := sysbenchFatal.FindStringSubmatch(line); m != nil && run.failure == "" {
		run.failure = m[1]
	}
	run.sql = run.sql || sysbenchSQL.MatchString(line)
	run.cpu = run.cpu || strings.Contains(line, "CPU speed") || strings.Contains(line, "Prime numbers limit")
	run.other = run.other || sysbenchOther.MatchString(line)
	run.figure(line)
}

// figure takes a number.
func (run *sysbenchRun) figure(line string) {
	if m := sysbenchStep.FindStringSubmatch(line); m != nil {
		if _, ok := parseNumber(m[3]); ok { // the last of an old version may be of a count below zero
			run.steps = append(run.steps, m)
		}
		run.sql = run.sql || m[4] != ""
		if run.threads == 0 {
			run.threads = int(count(m[2]))
		}
		return
	}
	if m := sysbenchEvents.FindStringSubmatch(line); m != nil {
		run.eventRate, run.perSecond = new(count(m[1]+m[2])), m[1] != ""
	}
	if m := sysbenchCount.FindStringSubmatch(line); m != nil {
		run.counts[strings.Join(strings.Fields(m[1]), "")] = m
		run.sql = true
	}
	if m := sysbenchTime.FindStringSubmatch(line); m != nil {
		run.took = count(m[1])
	}
	if m := sysbenchTotal.FindStringSubmatch(line); m != nil {
		run.events = new(count(m[1]))
	}
	if m := sysbenchValue.FindStringSubmatch(line); m != nil {
		run.latencies[m[1]] = seconds(count(m[2]), time.Millisecond)
	}
	if m := sysbenchBucket.FindStringSubmatch(line); m != nil {
		run.histogram = append(run.histogram, bucket{seconds(count(m[1]), time.Millisecond), count(m[2])})
	}
}

// cells makes the run a cell.
func (run *sysbenchRun) cells() []result.Cell {
	if run.other || !run.figures() && run.failure == "" {
		return nil // its tests of files, memory, threads and locks are not read
	}
	workload := ""
	typed := strings.Join(run.command.args, " ")
	other := strings.Contains(typed, "pgsql")
	switch {
	case other:
	case run.sql, strings.Contains(typed, "oltp"):
		workload = "mysql"
	case run.cpu, slices.Contains(run.command.args, "cpu"):
		workload = "cpu"
	}
	b := newRun("sysbench", workload, "threads", "rate", "duration", "test")
	b.param("side", client)
	b.known("tool_version", run.version)
	b.known("threads", run.threads)
	b.known("rate", run.target)
	b.known("duration", run.took)
	b.param("threads", run.command.number("--threads", "--num-threads"))
	for _, arg := range run.command.args {
		if strings.HasPrefix(arg, "oltp_") || arg == "cpu" {
			b.param("test", arg)
		}
	}
	run.rates(b)
	run.latency(b)
	b.fail(run.failure)
	if other {
		b.warn("PostgreSQL was asked, by its driver: tare has no workload for it")
	} else if workload == "" && run.failure == "" {
		b.warn("the text does not say what was tested: sysbench prints the same of SQL, threads and locks")
	}
	return []result.Cell{b.done()}
}

// rates notes transactions, or events of a test without SQL, per second.
func (run *sysbenchRun) rates(b *builder) {
	var ends, tps, qps, lat []float64
	for _, m := range run.steps {
		ends = append(ends, count(m[1]))
		tps = append(tps, count(m[3]))
		if m[4] != "" {
			qps = append(qps, count(m[4]))
		}
		if m[6] != "" && count(m[3]) > 0 { // of no event it is 0
			lat = append(lat, seconds(count(m[6]), time.Millisecond))
		}
	}
	switch m := run.counts["transactions"]; {
	case m != nil:
		b.metric("rate", count(m[3]))
	case run.eventRate != nil:
		b.metric("rate", *run.eventRate)
	case run.events != nil && run.took > 0:
		b.metric("rate", *run.events/run.took)
	case len(tps) > 0:
		total := 0.0
		for _, v := range tps {
			total += v
		}
		b.metric("rate", total/float64(len(tps)), "no summary: the mean of the intervals")
	}
	b.series("rate", tps)
	b.series(result.StepEnds, ends)
	if len(qps) == len(tps) {
		b.series("queries_per_second", qps)
	}
	if len(lat) == len(tps) && len(lat) > 0 {
		b.series("latency_"+rankName(run.steps[0][5]), lat)
	}
	if m := run.counts["queries"]; m != nil {
		b.counter("queries_per_second", count(m[3]))
	}
	for name, counter := range map[string]string{"ignorederrors": "errors", "deadlocks": "deadlocks", "reconnects": "reconnects"} {
		if m := run.counts[name]; m != nil {
			b.counter(counter, count(m[2]))
			if counter == "deadlocks" || count(m[2]) == 0 {
				continue // version 0 counts deadlocks as errors, too
			}
			b.warn(fmt.Sprintf("%s %s (%s/s): their transactions were begun again, and their times are of all attempts", m[2], counter, m[3]))
		}
	}
	run.basis(b)
}

// basis notes how many events there were. What lasts longer than the end of its histogram is
// counted there. Source: OPER_LOG_MAX_VALUE in src/sb_logger.c of sysbench 1.
func (run *sysbenchRun) basis(b *builder) {
	if run.version == "" || strings.HasPrefix(run.version, "1.") {
		b.basis.end = 100 * time.Second
	}
	events, what := run.events, "event"
	if m := run.counts["transactions"]; m != nil {
		events, what = new(count(m[2])), "transaction"
	}
	if run.events != nil {
		b.counter("events", *run.events)
	}
	if events != nil {
		b.observed(*events)
		b.succeeded(*events, what)
	}
}

var percentile = expressionOf(`(\d+(?:\.\d+)?)(?:th|st|nd|rd)?\s*percentile`)

func (run *sysbenchRun) latency(b *builder) {
	// The sum has the mean to more digits than the two of "avg".
	sum, found := run.latencies["sum"]
	delete(run.latencies, "sum")
	if found && run.events != nil && *run.events > 0 {
		b.metric("latency_mean", sum / *run.events)
	}
	if len(run.histogram) > 0 {
		for name, q := range map[string]float64{"50": 0.5, "95": 0.95, "99": 0.99} {
			b.percentile(name, quantile(run.histogram, q))
		}
	}
	for name, v := range run.latencies {
		m := percentile.FindStringSubmatch(name)
		switch {
		case m != nil:
			b.percentile(m[1], v)
		case name == "avg":
			b.metric("latency_mean", v)
		default:
			b.counter("latency_"+name, v)
		}
	}
}
