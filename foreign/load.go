package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// newLoad begins a run of requests on connections.
func newLoad(tool, workload string, cut bool) *builder {
	b := newRun(tool, workload, "connections", "rate", "duration", "url")
	b.param("side", client)
	if cut {
		b.warn("the document breaks off: what was whole of it is read")
	}
	return b
}

// answered notes how many requests ended and how many of them failed, and the words of a
// failure, if there are any. It reports whether there is anything to measure: where no
// request succeeded the run is failed, and its rates and latencies are of nothing.
func (b *builder) answered(ended, failed float64, words string) bool {
	b.counter("requests", ended)
	b.observed(ended)
	if words != "" {
		words = ": " + words
	}
	if failed > 0 {
		b.counter("errors", failed)
	}
	switch {
	case ended <= 0:
		b.fail("no request was answered" + words)
		return false
	case failed >= ended:
		b.fail(fmt.Sprintf("all %.0f requests failed%s", ended, words))
		return false
	case failed > 0:
		b.warn(fmt.Sprintf("%.0f of %.0f requests failed%s", failed, ended, words))
	}
	return true
}

// withFailed is what belongs to a rate that counts requests that failed too.
func (b *builder) withFailed() []string {
	if b.sample.Counters["errors"] > 0 {
		return []string{"with those that failed"}
	}
	return nil
}

// above0 notes a metric where it is more than 0: else it was not measured.
func (b *builder) above0(name string, v float64, warnings ...string) {
	if v > 0 {
		b.metric(name, v, warnings...)
	}
}

// took notes a time of requests, in s: "mean", "min", or a percentile as rankName calls it. In a
// workload of round trips it is one of those. What is 0 was not measured.
func (b *builder) took(name string, v float64, warnings ...string) {
	kind := "latency_"
	if strings.HasSuffix(b.cell.Workload, "_rr") {
		kind = "rtt_"
	}
	if v > 0 {
		b.time(kind+name, v)
		b.mark(kind+name, warnings...)
	}
}

// percentName is what rankName makes of a percentile that is a number.
func percentName(percent float64) string {
	return rankName(strconv.FormatFloat(percent, 'f', -1, 64))
}

// firstOf is the most frequent of some errors.
func firstOf(errors map[string]float64) string {
	return slices.MaxFunc(append(slices.Sorted(maps.Keys(errors)), ""), func(a, b string) int { return cmp.Compare(errors[a], errors[b]) })
}
