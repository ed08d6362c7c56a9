package foreign

import (
	"cmp"
	"strings"

	"tare/result"
)

var (
	h2loadHead     = expressionOf(`^starting benchmark\.\.\.$`)
	h2loadSpawn    = expressionOf(`^spawning thread #\d+: (\d+) total client\(s\)(?:.* and ([\d.]+s) of main duration)?`)
	h2loadProtocol = expressionOf(`^Application protocol: (\S+)$`)
	h2loadFinish   = expressionOf(`^finished in ([\d.]+)(us|ms|s|m|h), ([\d.]+) req/s, ([\d.]+)([KMGT]?)B/s$`)
	h2loadRequests = expressionOf(`^requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$`)
	h2loadCodes    = expressionOf(`^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx$`)
	h2loadColumns  = expressionOf(`^min\s+max\s+(?:median\s+p95\s+p99\s+)?mean\s+sd\s+\+/- sd$`)
	h2loadTimes    = expressionOf(`^(?:time for |time to )?(request|connect|1st byte|TTFB)\s*:((?:\s+[\d.]+(?:us|ms|s|m|h))+)\s+[\d.]+%$`)
	h2loadOthers   = expressionOf(`^traffic: [\d.]+[KMGT]?B \(|^req/s\s*:`)
)

func hintsH2load() []string {
	return []string{"h2load", "starting", "spawning", "Application", "finished", "requests:", "codes:", "traffic:", "min", "request", "connect", "byte", "TTFB", "req/s"}
}

func claimsH2load(ahead []string) claim {
	return sure(matchesAny(ahead[0], h2loadHead, h2loadSpawn, h2loadProtocol, h2loadFinish, h2loadRequests, h2loadCodes, h2loadColumns, h2loadTimes, h2loadOthers))
}

// h2loadRun is one run as far as its lines were read.
type h2loadRun struct {
	command          command
	threads, clients int
	protocol         string
	main             string // how long it measured, behind its warm-up
	finish           []string
	requests, codes  []string
	columns          []string
	times            map[string][]string
}

// readH2load reads the text of h2load.
func readH2load(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *h2loadRun { return &h2loadRun{command: c, times: map[string][]string{}} })
}

func (run *h2loadRun) isOver(line string) bool {
	return h2loadHead.MatchString(line) || run.finish != nil && h2loadFinish.MatchString(line) ||
		run.requests != nil && h2loadRequests.MatchString(line) || run.columns != nil && h2loadColumns.MatchString(line)
}

func (run *h2loadRun) read(line string) {
	if m := h2loadSpawn.FindStringSubmatch(line); m != nil {
		run.threads++
		run.clients += int(count(m[1]))
		run.main = m[2]
	}
	if m := h2loadProtocol.FindStringSubmatch(line); m != nil {
		run.protocol = m[1]
	}
	if m := h2loadFinish.FindStringSubmatch(line); m != nil {
		run.finish = m
	}
	if m := h2loadRequests.FindStringSubmatch(line); m != nil {
		run.requests = m
	}
	if m := h2loadCodes.FindStringSubmatch(line); m != nil {
		run.codes = m
	}
	if h2loadColumns.MatchString(line) {
		run.columns = strings.Fields(line)
	}
	if m := h2loadTimes.FindStringSubmatch(line); m != nil {
		run.times[strings.Replace(m[1], "1st byte", "TTFB", 1)] = strings.Fields(m[2])
	}
}

// cells makes the run a cell.
func (run *h2loadRun) cells() []result.Cell {
	if run.threads == 0 && run.finish == nil && run.requests == nil && len(run.times) == 0 {
		return nil
	}
	b := newLoad("h2load", "http", false)
	b.known("protocol", run.protocol)
	b.known("threads", run.threads)
	b.known("connections", run.clients)
	b.param("connections", run.command.number("-c", "--clients"))
	b.param("pipelining", run.command.number("-m", "--max-concurrent-streams"))
	for _, arg := range run.command.args {
		if strings.HasPrefix(arg, "http") {
			b.param("url", arg)
		}
	}
	if m := run.finish; m != nil {
		v, _ := parseSpan(cmp.Or(run.main, m[1]+m[2]))
		b.known("duration", v)
	}
	switch {
	case !run.answered(b):
	case run.finish != nil:
		b.above0("rate", count(run.finish[3]), run.counted(b)...)
		b.above0("throughput", 8*count(run.finish[4])*kibi(run.finish[5]), "with the headers of HTTP")
		run.latencies(b)
	default:
		b.warn("no summary: the text breaks off before it")
		run.latencies(b)
	}
	return []result.Cell{b.done()}
}

// answered notes what became of the requests; those that were not sent have failed, too. Where their
// line is lost, the codes of their answers say it.
func (run *h2loadRun) answered(b *builder) bool {
	var words []string
	note := func(groups []string, names map[int]string) (sum float64) {
		for n := range groups {
			if name := names[n]; name != "" && count(groups[n]) > 0 {
				words, sum = append(words, groups[n]+" "+name), sum+count(groups[n])
			}
		}
		return sum
	}
	note(run.requests, map[int]string{6: "errored", 7: "timed out"})
	bad := note(run.codes, map[int]string{3: "of 4xx", 4: "of 5xx"})
	switch {
	case run.requests != nil:
		return b.answered(count(run.requests[1]), count(run.requests[5]), strings.Join(words, ", "))
	case run.codes != nil:
		return b.answered(count(run.codes[1])+count(run.codes[2])+bad, bad, strings.Join(words, ", "))
	}
	return true
}

// counted notes which requests the rate counts, and the times are of: those that were answered, however.
// What is errored had no answer: by version it is among those done or not, and always among those that failed.
func (run *h2loadRun) counted(b *builder) []string {
	if m := run.requests; m != nil {
		answered := count(m[4]) + count(m[5]) - count(m[6])
		b.counter("requests", answered)
		b.counter("sent", count(m[2]))
		b.observed(answered)
		if answered == count(m[4]) {
			return nil
		}
	}
	return b.withFailed()
}

// latencies notes the times of requests, and the mean ones of a connection and of its first byte.
func (run *h2loadRun) latencies(b *builder) {
	if len(run.columns) == 0 && len(run.times["request"]) > 0 {
		b.warn("the times of requests are left out: the head of their columns is missing")
	}
	for n, column := range run.columns[:min(len(run.columns), len(run.times["request"]))] {
		v, _ := parseSpan(run.times["request"][n])
		b.took(cmp.Or(map[string]string{"median": "p50", "sd": "stdev"}[column], column), v)
		for of, name := range map[string]string{"connect": "connect_mean", "TTFB": "first_byte_mean"} {
			if column == "mean" && n < len(run.times[of]) {
				if v, _ := parseSpan(run.times[of][n]); v > 0 {
					b.counter(name, v)
				}
			}
		}
	}
}
