package peers

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tare/foreign"
)

// values are what one run measured, by the metric's name in a result, in SI units.
type values map[string]float64

// printed is what the two ends of a run printed on their standard output.
type printed struct{ client, server []byte }

// reading is how the values of a run are taken from what one end printed.
type reading struct {
	End     string   // "server", or the client's
	Run     string   // the tool whose output package foreign reads; "tare": this one
	Metrics []string // of the run; each must be there
	Count   string   // else: the counter whose rate, less what was lost, is taken
	CC      string   // the congestion control that it must have sent with
	Pattern string   // else: with groups named as in the metrics of found
	Wrong   string   // a pattern of what a run that failed printed
	Seconds string   // the tool whose client's output, read by package foreign, says how long it counted
}

func (r reading) values(out printed) (values, error) {
	text := out.client
	if r.End == "server" {
		text = out.server
	}
	switch r.Run {
	case "tare":
		return ofEngine(out)
	case "":
		return r.found(text, out.client)
	}
	cell, err := foreign.ReadRun(r.Run, text)
	if err != nil {
		return nil, err
	}
	run := cell.Samples[0]
	for name, n := range run.Counters { // of an HTTP client: requests that failed or were not answered with 200 to 299
		if n > 0 && (name == "non_2xx" || strings.HasPrefix(name, "errors")) {
			return nil, errors.New(strings.Join(run.Warnings, "; "))
		}
	}
	if cc := cell.Params.Text("cc"); r.CC != "" && cc != r.CC {
		return nil, fmt.Errorf("it sent with %s, not with %s", cc, r.CC)
	}
	if r.Count != "" {
		return rate(run.Counters[r.Count]-run.Counters["lost"], cell.Params.Number("duration"))
	}
	v := values{}
	for _, name := range r.Metrics {
		value, known := run.Metrics[name]
		if !known {
			return nil, fmt.Errorf("it printed no %s", name)
		}
		v[name] = value
	}
	if half, is := v["latency_one_way"]; is { // half a round trip: qperf prints only the mean
		return values{"rtt_mean": 2 * half, "rate": 1 / (2 * half)}, nil
	}
	return v, nil
}

// rate is so many per second.
func rate(count, seconds float64) (values, error) {
	if seconds <= 0 || count <= 0 {
		return nil, fmt.Errorf("read a rate: %v counted in %v s", count, seconds)
	}
	return values{"rate": count / seconds}, nil
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
