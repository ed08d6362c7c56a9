package foreign

import (
	"encoding/json"
	"fmt"

	"tare/result"
)

var (
	stressDone  = expressionOf(`create/start/delete\s*(\d+)\s*containers\s*in\s*([\d.]+)\s*seconds\s*\(([\d.]+)\s*c/sec\)\s*or\s*\(([\d.+a-zA-Z]+)\s*sec/c\)`)
	stressFails = expressionOf(`failures=\D{0,12}?(\d+)`)
	stressWords = expressionOf(`worker \d+ finished|pulling docker\.io/|generating spec from image`)
	stressStart = expressionOf(`starting stress test run`)
	stressEnd   = expressionOf(`ending test run in`)
)

func hintsStress() []string {
	return []string{"containerd", "create/", "stress", "ending", "worker", "pulling", "generating"}
}

func claimsStress(ahead []string) claim {
	if matchesAny(ahead[0], stressDone, stressStart, stressEnd) {
		return certain
	}
	return maybe(stressWords.MatchString(ahead[0]))
}

// readStress reads containerd-stress: a run is the line that ends it, and what
// was typed or printed above.
func readStress(lines []string) []result.Cell {
	var cells []result.Cell
	var typed command
	workers, started := 0, false
	unfinished := func() {
		if started {
			b := newStress(typed, workers)
			b.warn("no figures: the text breaks off before them")
			cells = append(cells, b.done())
		}
		workers, started = 0, false
	}
	for _, line := range lines {
		if c, isCommand := commandIn(line); isCommand {
			unfinished()
			typed = c
		}
		if stressStart.MatchString(line) {
			unfinished()
			started = true
		}
		if finishedWorker.MatchString(line) {
			workers++
		}
		m := stressDone.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		b := newStress(typed, workers)
		failures := 0.0
		if f := stressFails.FindStringSubmatch(line); f != nil {
			failures = count(f[1])
			b.counter("failures", failures)
		}
		b.lifecycles(count(m[1]), failures, count(m[2]), count(m[3]))
		cells = append(cells, b.done())
		typed, workers, started = command{}, 0, false
	}
	unfinished()
	return cells
}

var finishedWorker = expressionOf(`worker \d+ finished`)

// newStress begins a run's cell; each worker prints when it has finished.
func newStress(typed command, workers int) *builder {
	b := newRun("containerd-stress", "lifecycle", "workers", "duration")
	b.param("side", client)
	b.known("workers", workers)
	b.param("workers", typed.number("-c", "--concurrent"))
	return b
}

// lifecycles notes so many containers, of which some failed, in so many seconds, so many a second.
// The number is of attempts in most versions: as many failures are of all of them.
func (b *builder) lifecycles(total, failures, took, rate float64) {
	b.counter("containers", total)
	b.known("duration", took)
	switch {
	case failures > 0 && (total == 0 || total == failures):
		b.metric("rate", 0)
		b.fail(fmt.Sprintf("all %.0f attempts failed", failures))
	case failures > 0:
		b.metric("rate", rate, fmt.Sprintf("%.0f containers failed: the rate counts them too", failures))
	default:
		b.metric("rate", rate)
		b.succeeded(total, "container")
	}
	if total > failures {
		b.counter("seconds_per_container", took/total)
	}
}

// readStressJSON reads containerd-stress --json.
func readStressJSON(doc []byte, _ bool) ([]result.Cell, bool) {
	var d struct {
		Total    float64  `json:"total"`
		Failures float64  `json:"failures"`
		Seconds  float64  `json:"seconds"`
		Rate     *float64 `json:"containersPerSecond"`
	}
	if err := json.Unmarshal(doc, &d); err != nil || d.Rate == nil {
		return nil, false
	}
	b := newStress(command{}, 0)
	b.counter("failures", d.Failures)
	b.lifecycles(d.Total, d.Failures, d.Seconds, *d.Rate)
	return []result.Cell{b.done()}, true
}
