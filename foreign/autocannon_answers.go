package foreign

import (
	"fmt"
	"time"

	"tare/result"
)

const (
	// cannonCorrected is of a run with a rate: it takes 1 ms for the time between two requests.
	// Source: recordValueWithExpectedInterval in lib/run.js of autocannon 8.
	cannonCorrected = result.Corrected + ": autocannon counts an answer again for each millisecond that it took, where it keeps a rate: do not hold it against other tools'"
	// ofAmount is of a run of so many requests: it ends with the sample in which they do.
	ofAmount = "at least: a run of an amount of requests (-a) ends before the time that autocannon prints, which is of whole samples"
	// unanswered of those sent are many: a few are lost where a server ends connections.
	unanswered = 0.1
	// besideCount is by how much its mean of samples may differ from its count over its time.
	besideCount = 0.05
)

func newCannon() *builder {
	b := newRun("autocannon", "http", "connections", "pipelining", "workers", "rate", "duration", "url")
	b.param("side", client)
	return b
}

// odd notes what autocannon counts beside errors.
func (b *builder) odd(what string, count float64) {
	switch {
	case count <= 0:
	case what == "reset":
		b.counter("resets", count)
		b.warn(fmt.Sprintf("the sequence of requests began anew %.0f times", count))
	default:
		b.counter("mismatches", count)
		b.warn(fmt.Sprintf("%.0f answers had another body than expected", count))
	}
}

// answers notes how many requests were sent, and how many of them answered. Its times are whole
// milliseconds. A request whose connection ends without an answer is no error to it, and all later
// answers of the connection are timed from the request before: with an nginx that ends connections
// after 100 requests (keepalive_requests), a mean of 0.3 ms becomes 9 ms in 2 s, and 30 ms in 6 s.
// Source: lib/httpClient.js of autocannon 8, on "end".
func (b *builder) answers(sent, answered float64) {
	b.basis.resolution = time.Millisecond
	b.observed(answered)
	if good, known := b.sample.Counters["answered_2xx"]; known {
		redirects, known := b.sample.Counters["answered_3xx"]
		if good == 0 && !known {
			b.warn("none of the answers was 2xx: they are errors, or redirects, which --json counts by themselves")
		}
		b.succeeded(good+redirects, "request")
	} else {
		b.succeeded(answered, "request")
	}
	rate := b.sample.Metrics["rate"]
	waiting := b.cell.Params.Number("connections") * max(1, b.cell.Params.Number("pipelining"))
	// A run with a rate counts a second's requests twice at its beginning.
	missing := sent - answered - waiting - rate - b.sample.Counters["errors"]
	if missing > unanswered*sent || sent > 0 && answered == 0 {
		b.warn(fmt.Sprintf("about %.3g requests were sent, %.3g answered, and %.0f errors counted", sent, answered, b.sample.Counters["errors"]))
	}
	implied := rate * b.sample.Metrics["latency_mean"]
	if b.basis.note == "" && (missing > unanswered*sent || waiting > 0 && implied > waiting*(1+besideCount)) {
		b.basis.note = "not a round trip: where a server ends a connection without an answer (nginx after keepalive_requests), autocannon times the next answers from the requests before"
	}
}
