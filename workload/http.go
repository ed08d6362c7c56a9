package workload

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tare/traffic"
	"tare/traffic/http"
)

// httpRequests is requests of HTTP/1.1 for a fixed body.
func httpRequests() Workload {
	return Workload{
		ServedBy: []Server{nginx()},
		DrivenBy: []Tool{wrk(), autocannon()},
		Serve:    serving(Run.http, listenTCP, http.Serve, answered),
		Send:     sending(Run.http, http.Call, requested),
	}
}

// http is the run as the engine knows it. A server that is not ours knows no
// token.
func (r Run) http() (http.Options, error) {
	c := http.Options{
		Window: r.window(), Mode: http.Mode(r.Mode),
		Connections: r.Flows, Size: r.Size, Rate: r.Rate, Path: r.Path, Host: r.Host,
	}
	if r.Server != "" {
		c.Path = bodyPath(r.Size)
	}
	if c.Path != "" {
		return c, nil
	}
	token, err := r.token()
	c.Token = &token
	return c, err
}

// requested is the client's tally, at a rate or without one.
func requested(run Run, calls http.Calls) Tally {
	t := Tally{
		Metrics:  map[string]float64{"rate": calls.Rate()},
		Counters: map[string]float64{"non_2xx": 0, "reconnects": float64(calls.Reconnects)},
		CC:       calls.Congestion, Window: calls.Elapsed, Work: float64(calls.Count),
	}
	addPercentiles(t.Metrics, "latency", calls.Latency)
	t.addSteps("rate", calls.Series, 1)
	t.addTaken("rate", calls.Taken, 1)
	t.addMedians("latency_p50", calls.Taken)
	for _, status := range slices.Sorted(maps.Keys(calls.NotOK)) {
		n := calls.NotOK[status]
		t.Counters["non_2xx"] += float64(n)
		t.Counters[fmt.Sprintf("status_%d", status)] = float64(n)
		t.Warnings = append(t.Warnings, fmt.Sprintf("non-2xx: the server answered with status %d", status))
	}
	for _, cause := range slices.Sorted(maps.Keys(calls.Failures)) {
		t.Counters["failed: "+cause] = float64(calls.Failures[cause])
		t.Warnings = append(t.Warnings, "failed-connections: "+cause)
	}
	if calls.Resets > 0 {
		t.Counters["resets"] = float64(calls.Resets)
	}
	if run.Rate > 0 {
		addOffered(&t, calls, run.Rate)
	}
	return t
}

// addOffered adds what an open loop sent, and warns where that is less than was
// asked for.
func addOffered(t *Tally, calls http.Calls, rate float64) {
	t.Metrics["offered_rate"] = float64(calls.Sent) / calls.Elapsed.Seconds()
	t.Counters["unanswered"] = float64(calls.Unanswered)
	addService(t.Counters, calls.Service)
	due := rate * calls.Elapsed.Seconds()
	if float64(calls.Sent) < due*(1-shortfall)-1 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("offered-rate: fewer than %.0f requests/s were sent, since every connection was waiting", rate))
	}
	if calls.Unanswered > 0 {
		t.Warnings = append(t.Warnings, "unanswered: requests got no response within 2 s after the window")
	}
}

// addService adds the time from sending to response, which hides how long the
// requests of an open loop waited before.
func addService(counters map[string]float64, service *traffic.Histogram) {
	for name, of := range map[string]func() (time.Duration, bool){
		"service_mean": service.Mean,
		"service_p50":  func() (time.Duration, bool) { return service.Quantile(0.5) },
		"service_p99":  func() (time.Duration, bool) { return service.Quantile(0.99) },
	} {
		if d, ok := of(); ok {
			counters[name] = d.Seconds()
		}
	}
}
