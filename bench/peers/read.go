package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tare/foreign"
	"tare/result"
)

// printed is what the two ends of a run printed on their standard output.
type printed struct{ client, server []byte }

// reader takes the values of one run from what its ends printed.
type reader func(out printed) (values, error)

// fromClient and fromServer have package foreign read what that end printed, and
// take the values from the run in it.

func fromClient(tool string, take func(result.Cell) (values, error)) reader {
	return func(out printed) (values, error) { return fromRun(tool, out.client, take) }
}

func fromServer(tool string, take func(result.Cell) (values, error)) reader {
	return func(out printed) (values, error) { return fromRun(tool, out.server, take) }
}

func fromRun(tool string, text []byte, take func(result.Cell) (values, error)) (values, error) {
	cell, err := foreign.ReadRun(tool, text)
	if err != nil {
		return nil, err
	}
	return take(cell)
}

func throughput(cell result.Cell) (values, error) { return metrics(cell, "throughput") }

// throughputWithCC refuses a run with another congestion control than the lab's.
func throughputWithCC(cell result.Cell) (values, error) {
	if cc := cell.Params.Text("cc"); cc != congestion {
		return nil, fmt.Errorf("it sent with %s, not with %s", cc, congestion)
	}
	return throughput(cell)
}

// received is the rate of the datagrams that arrived.
func received(cell result.Cell) (values, error) {
	counters := cell.Samples[0].Counters
	return rate(cell, counters["datagrams"]-counters["lost"])
}

// rate is so many per second of a run.
func rate(cell result.Cell, count float64) (values, error) {
	duration := cell.Params.Number("duration")
	if duration <= 0 || count <= 0 {
		return nil, fmt.Errorf("read a rate: %v counted in %v s", count, duration)
	}
	return values{"rate": count / duration}, nil
}

// twice doubles qperf's latency, which is half a round trip. qperf prints only
// the mean.
func twice(cell result.Cell) (values, error) {
	half, err := metrics(cell, "latency_one_way")
	if err != nil {
		return nil, err
	}
	mean := 2 * half["latency_one_way"]
	return values{"rtt_mean": mean, "rate": 1 / mean}, nil
}

func roundTripTimes(cell result.Cell) (values, error) {
	return metrics(cell, "rate", "rtt_mean", "rtt_p50", "rtt_p99")
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

// printedRate is the rate as the tool printed it.
func printedRate(cell result.Cell) (values, error) { return metrics(cell, "rate") }

// requests is the rate of all requests: autocannon's own is that of its samples.
func requests(cell result.Cell) (values, error) {
	return rate(cell, cell.Samples[0].Counters["requests"])
}

var sockperfHandled = regexp.MustCompile(`Total (\d+) messages received`)

// readSockperfUDP takes what the server received in all of the run: the client
// prints only what it sent.
func readSockperfUDP(out printed) (values, error) {
	handled, err := numbers(sockperfHandled, out.server)
	if err != nil {
		return nil, err
	}
	return fromRun("sockperf", out.client, func(cell result.Cell) (values, error) { return rate(cell, handled[0]) })
}

// metrics are those of a run that are asked for; each must be there.
func metrics(cell result.Cell, names ...string) (values, error) {
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

// Package foreign does not read the other tools. Their numbers are few.

var (
	nuttcpRate  = regexp.MustCompile(`rate_Mbps=([\d.]+)`)
	nuttcpDrops = regexp.MustCompile(`real_seconds=([\d.]+) .*drop=(\d+) pkt=(\d+)`)
	abRate      = regexp.MustCompile(`(?s)Failed requests: +(\d+).*Requests per second: +([\d.]+)`)
	heyRate     = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	heyNot2xx   = regexp.MustCompile(`(?s)Error distribution:.*|\[[^2]\d\d\]\s+\d+ responses`)
)

func readNuttcpTCP(out printed) (values, error) {
	found, err := numbers(nuttcpRate, out.client)
	if err != nil {
		return nil, err
	}
	return values{"throughput": found[0] * 1e6}, nil
}

func readNuttcpUDP(out printed) (values, error) {
	found, err := numbers(nuttcpDrops, out.client)
	if err != nil {
		return nil, err
	}
	return values{"rate": (found[2] - found[1]) / found[0]}, nil
}

func readAB(out printed) (values, error) {
	found, err := numbers(abRate, out.client)
	if err != nil {
		return nil, err
	}
	if found[0] > 0 {
		return nil, fmt.Errorf("%v requests failed", found[0])
	}
	return values{"rate": found[1]}, nil
}

func readHey(out printed) (values, error) {
	if wrong := heyNot2xx.Find(out.client); wrong != nil {
		return nil, errors.New(string(wrong))
	}
	found, err := numbers(heyRate, out.client)
	if err != nil {
		return nil, err
	}
	return values{"rate": found[0]}, nil
}

// readOwn reads the values that this program printed as a client.
func readOwn(out printed) (values, error) {
	var v values
	err := json.Unmarshal(out.client, &v)
	return v, err
}

// numbers reads the groups of the last match.
func numbers(pattern *regexp.Regexp, text []byte) ([]float64, error) {
	all := pattern.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("no %s", pattern)
	}
	var found []float64
	for _, group := range all[len(all)-1][1:] {
		value, err := strconv.ParseFloat(string(group), 64)
		if err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, nil
}
