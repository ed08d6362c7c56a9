// Command agree compares tare's engine with iperf3 and sockperf on the same
// paths of one lab, in turn and in random order, and prints a table.
//
//	go run ./bench/agree -rounds 10 -duration 2s
//
// It needs iperf3 and sockperf (Debian's packages of these names) and root or
// user namespaces. Both ends are bound alike, the congestion control is the
// lab's, writes are 128 KiB, messages 14 bytes (sockperf's least).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"tare/agent"
	"tare/network"
	"tare/site"
	"tare/stats"
)

func main() {
	// The lab's keeper and agents are this program, started again.
	if len(os.Args) == 2 && os.Args[1] == site.KeeperVerb {
		exit(site.Keep())
	}
	if len(os.Args) == 2 && os.Args[1] == site.AgentVerb {
		exit(agent.Serve(context.Background(), os.Stdin, os.Stdout, "bench"))
	}
	rounds := flag.Int("rounds", 10, "times that each tool measures each path")
	duration := flag.Duration("duration", 2*time.Second, "length of a window")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, *rounds, *duration))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "agree:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// route is one path that is measured.
type route struct{ network, path string }

var routes = [...]route{
	{"host", network.SameHost}, {"veth", network.SameHost},
	{"host", network.CrossHost}, {"vxlan", network.CrossHost},
}

// comparison is one measure of one path by two tools.
type comparison struct {
	route
	ours, theirs tool
	unit         string
	scale        float64
	values       [2][]float64
}

func run(ctx context.Context, rounds int, duration time.Duration) (err error) {
	for _, name := range []string{"iperf3", "sockperf"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%w: apt-get install %s", err, name)
		}
	}
	l, err := site.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	spec := site.Spec{CC: "cubic", Pin: "apart", RPS: true}
	for _, name := range []string{"host", "veth", "vxlan"} {
		spec.Underlays = append(spec.Underlays, site.UnderlaySpec{Name: name, Network: name, NIC: "full", MTU: 1500, Hosts: 2, Containers: 2})
	}
	if err := l.Build(ctx, spec); err != nil {
		return err
	}
	all, err := comparisons(l, duration)
	if err != nil {
		return err
	}
	for round := range rounds {
		if err := measureAll(ctx, all); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
	}
	printTable(all, rounds, duration)
	return nil
}

func comparisons(l *site.Lab, duration time.Duration) ([]*comparison, error) {
	var all []*comparison
	for _, r := range routes {
		var ends network.Ends
		for _, u := range l.Topology.Underlays {
			if u.Error != "" {
				return nil, errors.New(u.Error)
			}
			if u.Name == r.network {
				ends = u.Paths[r.path]
			}
		}
		at := end{lab: l, underlay: r.network, ends: ends, duration: duration}
		all = append(all,
			&comparison{route: r, ours: native{at, "tcp_stream", "throughput", 128 << 10}, theirs: iperf3{at}, unit: "Gbit/s", scale: 1e-9},
			&comparison{route: r, ours: native{at, "tcp_rr", "rtt_p50", 14}, theirs: sockperf{at, "50.000"}, unit: "us, median", scale: 1e6},
			&comparison{route: r, ours: native{at, "tcp_rr", "rtt_p99", 14}, theirs: sockperf{at, "99.000"}, unit: "us, p99", scale: 1e6},
		)
	}
	return all, nil
}

// measureAll visits every comparison once in random order, and within it the
// two tools in random order.
func measureAll(ctx context.Context, all []*comparison) error {
	for _, n := range rand.Perm(len(all)) {
		c := all[n]
		for _, side := range rand.Perm(2) {
			tool := [2]tool{c.ours, c.theirs}[side]
			value, err := tool.measure(ctx)
			if err != nil {
				return fmt.Errorf("%s %s: %w", c.network, c.path, err)
			}
			c.values[side] = append(c.values[side], value)
		}
	}
	return nil
}

func printTable(all []*comparison, rounds int, duration time.Duration) {
	fmt.Printf("%d rounds, windows of %v; ratio = tare / the other, with its 95 %% interval\n\n", rounds, duration)
	fmt.Println("| network | path | measure | tare | other | tool | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, c := range all {
		blocks := make([]stats.Block, len(c.values[0]))
		for n := range blocks {
			blocks[n] = stats.Block{Cell: c.values[0][n], Baselines: []float64{c.values[1][n]}}
		}
		toll, ok := stats.Toll(stats.LogRatios(blocks), stats.LowerIsBetter)
		ratio := fmt.Sprintf("%.3f", 1+toll.Value)
		if ok {
			ratio += fmt.Sprintf(" [%.3f, %.3f]", 1+toll.Low, 1+toll.High)
		}
		ours, _ := stats.Location(c.values[0], true)
		theirs, _ := stats.Location(c.values[1], true)
		fmt.Printf("| %s | %s | %s | %.2f | %.2f | %s | %s |\n", c.network, c.path, c.unit,
			ours.Value*c.scale, theirs.Value*c.scale, strings.SplitN(c.theirs.name(), " ", 2)[0], ratio)
	}
}
