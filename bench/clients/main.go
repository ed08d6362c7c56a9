// Command clients compares the clients that drove the same real server.
//
//	go run ./cmd/tare run examples/http.yaml --out clients.json
//	go run ./bench/clients clients.json
//
// For each network and number of connections it prints a row per client other than
// the engine and per measure: the medians, and the ratio of the engine to the
// other with its 95 % interval, in pairs of the same server in the same block.
// The last column is the rate times the mean latency, over the connections: 1
// for a closed loop whose every response was timed once (Little's law).
//
//	go run ./bench/clients -pairs 20 tls
//	go run ./bench/clients -pairs 20 grpc
//
// let our client and openssl s_time or ghz call the same server on the loopback, in
// turn, server and clients on a CPU each.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

func main() {
	pairs := flag.Int("pairs", 10, "how often each client of tls or grpc has its turn")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, flag.Args(), *pairs); err != nil {
		fmt.Fprintln(os.Stderr, "bench clients:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, args []string, pairs int) error {
	if isTurn(args) {
		return turn(ctx, w, args[0], args[1], args[2])
	}
	if len(args) == 1 {
		if c, known := findContest(args[0]); known {
			return c.weigh(ctx, w, pairs)
		}
	}
	return compare(w, args)
}

func compare(w io.Writer, files []string) error {
	if len(files) != 1 {
		return errors.New("give one result in which several tools drove the same workload, or tls, or grpc")
	}
	res, err := result.ReadFile(files[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| path, network, connections | measure | tare | client | | tare / client | Little, tare | Little, client |\n|---|---|---|---|---|---|---|---|")
	rows := 0
	for _, ours := range res.Cells {
		for _, theirs := range res.Cells {
			if alike(ours, theirs) {
				rows += printRows(w, ours, theirs)
			}
		}
	}
	if rows == 0 {
		return errors.New("no workload in it was driven both by tare and by another tool")
	}
	return nil
}

// alike reports whether cells differ by their client alone, the first by ours.
func alike(ours, theirs result.Cell) bool {
	if ours.Params["tool"] != catalog.Ours || theirs.Params["tool"] == catalog.Ours || theirs.Params["tool"] == nil {
		return false
	}
	params := maps.Clone(theirs.Params)
	params["tool"] = catalog.Ours
	return ours.Network == theirs.Network && ours.Path == theirs.Path && ours.Workload == theirs.Workload && ours.Mode == theirs.Mode &&
		maps.EqualFunc(params, ours.Params, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
}

func printRows(w io.Writer, ours, theirs result.Cell) (rows int) {
	for _, name := range []string{"rate", "latency_p50", "latency_p99", "cpu"} {
		pairs := pair(ours, theirs, name)
		if len(pairs) < stats.MinBlocks {
			continue
		}
		var mine, other, logs []float64
		for _, p := range pairs {
			mine, other, logs = append(mine, p[0]), append(other, p[1]), append(logs, math.Log(p[0]/p[1]))
		}
		ratio, _ := stats.HodgesLehmann(logs)
		fmt.Fprintf(w, "| %s, `%s`, %v | %s | %.4g | %v | %.4g | %.3f [%.3f, %.3f] | %.2f | %.2f |\n",
			ours.Path, ours.Network, ours.Params["connections"], name, median(mine), theirs.Params["tool"], median(other),
			math.Exp(ratio.Value), math.Exp(ratio.Low), math.Exp(ratio.High), little(ours), little(theirs))
		rows++
	}
	return rows
}

// sampleKey is one server in one block.
type sampleKey struct {
	block  int
	layout string
}

// pair returns what both measured at the same server in the same block.
func pair(ours, theirs result.Cell, name string) (pairs [][2]float64) {
	other := map[sampleKey]float64{}
	for _, s := range theirs.Samples {
		other[sampleKey{s.Block, s.Layout}] = value(s, name)
	}
	for _, s := range ours.Samples {
		if a, b := value(s, name), other[sampleKey{s.Block, s.Layout}]; a > 0 && b > 0 {
			pairs = append(pairs, [2]float64{a, b})
		}
	}
	return pairs
}

// value is a metric of a sample, or the CPU time of a request, in seconds; 0:
// it has none.
func value(s result.Sample, name string) float64 {
	if name == "cpu" && s.Counters["work"] > 0 {
		return s.Counters["cpu_busy"] / s.Counters["work"]
	}
	return s.Metrics[name]
}

// little is the median of how many requests were under way, by connection.
func little(c result.Cell) float64 {
	connections := c.Params.Number("connections")
	var under []float64
	for _, s := range c.Samples {
		under = append(under, s.Metrics["rate"]*s.Metrics["latency_mean"]/connections)
	}
	return median(under)
}

func median(x []float64) float64 {
	at := slices.SortedFunc(slices.Values(x), cmp.Compare)
	return at[len(at)/2]
}
