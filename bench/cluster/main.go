// Command cluster holds the tolls of a Kubernetes cluster of make kubernetes against those of the
// same network in a lab.
//
//	make kubernetes DATAPATH=bridge
//	KUBECONFIG=... go run ./bench/cluster -network containerd-bridge [-rounds 8] [-tare dist/tare]
//
// In each round tare weighs the pods of the cluster and the containers of a lab, one after the
// other, in random order, with the same plan. A lab of make kubernetes with DATAPATH=flannel is
// like flannel-vxlan. It prints a row for each path: the round trip between hosts and the toll on it
// in both, and how far that of the cluster is above that of the lab, with the interval of the rounds.
// They agree where that interval of the difference holds none: a ratio to hosts would not compare, since
// kube-proxy's rules and the tracking of connections are on the way between nodes too. Ctrl-C ends
// it after the rounds that are complete. It needs root.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

func main() {
	var b bench
	flag.StringVar(&b.network, "network", "containerd-bridge", "the network of the lab")
	flag.IntVar(&b.rounds, "rounds", 8, "rounds")
	flag.IntVar(&b.blocks, "blocks", 6, "blocks of each run")
	flag.StringVar(&b.duration, "duration", "", "length of a window (default: as tare run chooses)")
	flag.StringVar(&b.tare, "tare", "dist/tare", "the tare that is run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench cluster:", err)
		os.Exit(1)
	}
}

// bench is what is compared.
type bench struct {
	network, tare, duration string
	rounds, blocks          int
}

// paths are those that a lab has as a cluster has them.
func paths() []string {
	return []string{catalog.SameHost, catalog.CrossHost, catalog.HostToContainer}
}

// toll is that of a round trip, and the round trip between hosts, in seconds.
type toll struct{ host, added float64 }

// found are the tolls of one side, by path, a value for each round.
type found map[string][]toll

func (b bench) run(ctx context.Context, w io.Writer) error {
	inCluster, inLab := found{}, found{}
	// Pods have the congestion control of the machine, and so has the lab.
	cc, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		return fmt.Errorf("read the machine's congestion control: %w", err)
	}
	for round := range b.rounds {
		sides := []func() error{
			func() error { return b.weigh(ctx, inCluster, catalog.Pods, "--site", "kubernetes") },
			func() error {
				return b.weigh(ctx, inLab, b.network, "--networks", b.network, "--pin", "none", "--cc", strings.TrimSpace(string(cc)))
			},
		}
		rand.Shuffle(len(sides), func(i, j int) { sides[i], sides[j] = sides[j], sides[i] })
		for _, side := range sides {
			if err := side(); ctx.Err() != nil {
				_, err := io.WriteString(w, b.table(inCluster, inLab, round))
				return err
			} else if err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		fmt.Fprintf(os.Stderr, "cluster: round %d of %d, %s\n", round+1, b.rounds, time.Now().Format(time.TimeOnly))
	}
	_, err = io.WriteString(w, b.table(inCluster, inLab, b.rounds))
	return err
}

// weigh runs tare once and takes down the tolls of one network.
func (b bench) weigh(ctx context.Context, into found, name string, args ...string) error {
	args = append([]string{"run", "--workloads", "tcp_rr", "--paths", strings.Join(paths(), ","), "--blocks", fmt.Sprint(b.blocks), "--json"}, args...)
	if b.duration != "" {
		args = append(args, "--duration", b.duration)
	}
	cmd := exec.CommandContext(ctx, b.tare, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("tare %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	res, err := result.Read(&out)
	if err != nil {
		return err
	}
	for _, c := range res.Cells {
		for _, m := range c.Metrics {
			if c.Network == name && m.Name == "rtt_p50" && m.Toll != nil && m.Baseline != nil {
				into[c.Path] = append(into[c.Path], toll{m.Baseline.Value, m.Toll.Delta.Value})
			}
		}
	}
	return nil
}

// table has a row for each path.
func (b bench) table(inCluster, inLab found, rounds int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "| path | between nodes, us | toll of pods, us | between hosts, us | toll of %s, us | pods above it, us | they agree |\n|---|---:|---:|---:|---:|---:|---|\n", b.network)
	for _, path := range paths() {
		pods, lab := inCluster[path], inLab[path]
		n := min(len(pods), len(lab), rounds)
		if n < rounds {
			fmt.Fprintf(&t, "| `%s` | measured in %d and %d of %d rounds | | | | | |\n", path, len(pods), len(lab), rounds)
			continue
		}
		above := make([]float64, n)
		for r := range n {
			above[r] = pods[r].added - lab[r].added
		}
		apart, sure := stats.HodgesLehmann(above)
		if !sure {
			fmt.Fprintf(&t, "| `%s` | too few rounds for an interval | | | | | |\n", path)
			continue
		}
		agree := "no"
		if apart.Low <= 0 && apart.High >= 0 {
			agree = "yes"
		}
		host, added := func(t toll) float64 { return t.host }, func(t toll) float64 { return t.added }
		fmt.Fprintf(&t, "| `%s` | %.1f | %+.1f | %.1f | %+.1f | %+.1f [%.1f, %.1f] | %s |\n", path, middle(pods, host), middle(pods, added), middle(lab, host), middle(lab, added),
			1e6*apart.Value, 1e6*apart.Low, 1e6*apart.High, agree)
	}
	return t.String()
}

// middle is the location of the rounds, in microseconds.
func middle(tolls []toll, of func(toll) float64) float64 {
	values := make([]float64, len(tolls))
	for n, t := range tolls {
		values[n] = of(t)
	}
	centre, _ := stats.HodgesLehmann(values)
	return 1e6 * centre.Value
}
