package peers

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tare/foreign"
	"tare/result"
)

// values are what one run measured, by the metric's name in a result, in SI units.
type values map[string]float64

// printed is what the two ends of a run printed on their standard output.
type printed struct{ client, server []byte }

// reading is how the values of a run are taken from what one end printed.
type reading struct {
	End     string // "server", or the client's
	Run     string // the tool whose output package foreign reads
	Take    string // what of the run
	Pattern string // else: with groups named as in the metrics of found
	Wrong   string // a pattern of what a run that failed printed
	Seconds string // the tool whose client's output, read by package foreign, says how long it counted
}

func (r reading) values(out printed) (values, error) {
	if r.Take == "ours" {
		return ofEngine(out)
	}
	text := out.client
	if r.End == "server" {
		text = out.server
	}
	if r.Run == "" {
		return r.found(text, out.client)
	}
	cell, err := foreign.ReadRun(r.Run, text)
	if err != nil {
		return nil, err
	}
	take, known := takes()[r.Take]
	if !known {
		return nil, fmt.Errorf("take %q: unknown", r.Take)
	}
	return take(cell)
}

// takes are what is taken of a run.
func takes() map[string]func(result.Cell) (values, error) {
	metrics := func(names ...string) func(result.Cell) (values, error) {
		return func(cell result.Cell) (values, error) { return metricsOf(cell, names...) }
	}
	return map[string]func(result.Cell) (values, error){
		"throughput": metrics("throughput"),
		// it refuses a run with another congestion control than the lab's
		"throughput with cubic": func(cell result.Cell) (values, error) {
			if cc := cell.Params.Text("cc"); cc != congestion {
				return nil, fmt.Errorf("it sent with %s, not with %s", cc, congestion)
			}
			return metricsOf(cell, "throughput")
		},
		// the rate of the datagrams that arrived
		"received": func(cell result.Cell) (values, error) {
			counters := cell.Samples[0].Counters
			return rate(counters["datagrams"]-counters["lost"], cell.Params.Number("duration"))
		},
		// qperf's latency is half a round trip; it prints only the mean
		"twice": func(cell result.Cell) (values, error) {
			half, err := metricsOf(cell, "latency_one_way")
			mean := 2 * half["latency_one_way"]
			return values{"rtt_mean": mean, "rate": 1 / mean}, err
		},
		"round trips":   metrics("rate", "rtt_mean", "rtt_p50", "rtt_p99"),
		"answered rate": answered(metrics("rate")),
		// of all requests: autocannon's own rate is that of its samples
		"answered requests": answered(func(cell result.Cell) (values, error) {
			return rate(cell.Samples[0].Counters["requests"], cell.Params.Number("duration"))
		}),
	}
}

// rate is so many per second.
func rate(count, seconds float64) (values, error) {
	if seconds <= 0 || count <= 0 {
		return nil, fmt.Errorf("read a rate: %v counted in %v s", count, seconds)
	}
	return values{"rate": count / seconds}, nil
}

// answered refuses a run of an HTTP client in which a request failed or got a
// response with a status other than 200 to 299.
func answered(take func(result.Cell) (values, error)) func(result.Cell) (values, error) {
	return func(cell result.Cell) (values, error) {
		for name, n := range cell.Samples[0].Counters {
			if n > 0 && (name == "non_2xx" || strings.HasPrefix(name, "errors")) {
				return nil, errors.New(strings.Join(cell.Samples[0].Warnings, "; "))
			}
		}
		return take(cell)
	}
}

// metricsOf are those of a run that are asked for; each must be there.
func metricsOf(cell result.Cell, names ...string) (values, error) {
	v := values{}
	for _, name := range names {
		value, known := cell.Samples[0].Metrics[name]
		if !known {
			return nil, fmt.Errorf("it printed no %s", name)
		}
		v[name] = value
	}
	return v, nil
}

// found reads the named groups of the pattern's last match, of a tool that package foreign does not
// read: mbit (per second), rate, or count and what of it was lost, and in how many seconds; failed is
// how many requests did.
func (r reading) found(text, client []byte) (values, error) {
	if r.Wrong != "" {
		if wrong := regexp.MustCompile(r.Wrong).Find(text); wrong != nil {
			return nil, errors.New(string(wrong))
		}
	}
	pattern := regexp.MustCompile(r.Pattern)
	all := pattern.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("no %s", pattern)
	}
	groups := values{}
	for n, name := range pattern.SubexpNames()[1:] {
		value, err := strconv.ParseFloat(string(all[len(all)-1][n+1]), 64)
		if err != nil {
			return nil, err
		}
		groups[name] = value
	}
	if r.Seconds != "" {
		cell, err := foreign.ReadRun(r.Seconds, client)
		if err != nil {
			return nil, err
		}
		groups["seconds"] = cell.Params.Number("duration")
	}
	switch {
	case groups["failed"] > 0:
		return nil, fmt.Errorf("%v requests failed", groups["failed"])
	case groups["mbit"] > 0:
		return values{"throughput": groups["mbit"] * 1e6}, nil
	case groups["rate"] > 0:
		return values{"rate": groups["rate"]}, nil
	}
	return rate(groups["count"]-groups["lost"], groups["seconds"])
}
