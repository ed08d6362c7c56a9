// Command peers compares tare's engine with the tools that people use, in
// turn, in one lab, and writes docs/performance.md.
//
//	go run ./bench/peers [-rows tcp,udp,rr] [-pairs 10] [-duration 1s] [-o docs/performance.md]
//
// It needs root, or user namespaces, and the tools; a tool that is not there is
// left out, and the page names its package. autocannon, which Debian
// does not have, is looked for on the PATH (npm install autocannon).
//
// Each file is one idea:
//   - rows.go: what is compared, as data
//   - tools.go: how a tool is called; read.go: how its numbers are read
//   - engine.go, own.go: tare's own runs; peer.go: those of the tools; nginx.go: the server of HTTP
//   - stage.go, process.go: the lab, and what runs in it
//   - meter.go: the CPU time of a run
//   - turns.go: blocks in random order
//   - verdict.go: ratios and their verdicts; page.go: the document
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/site"
	"tare/stats"
)

// options are what the command line asks for.
type options struct {
	rows, network, path, output string
	pairs                       int
	window                      time.Duration
}

func main() {
	if len(os.Args) > 1 {
		if verb, known := verbs()[os.Args[1]]; known {
			exit(verb(os.Args[2:]))
		}
	}
	var o options
	flag.StringVar(&o.rows, "rows", "", "rows to measure, of "+strings.Join(rowNames(), ",")+" (default all)")
	flag.IntVar(&o.pairs, "pairs", 10, fmt.Sprintf("blocks, in each of which every tool runs once; below %d there are no intervals", stats.MinBlocks))
	flag.DurationVar(&o.window, "duration", time.Second, "length of a run; tools that count in whole seconds round it up")
	flag.StringVar(&o.network, "network", "veth", "network of the lab")
	flag.StringVar(&o.path, "path", catalog.SameHost, "path between the two ends")
	flag.StringVar(&o.output, "o", "docs/performance.md", "file to write; what is below its mark is kept; - for standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o))
}

// verbs are what the lab starts this program as.
func verbs() map[string]func(arguments []string) error {
	return map[string]func([]string) error{
		site.KeeperVerb: func([]string) error { return site.Keep() },
		serveRRVerb:     func(a []string) error { return serveRR(a[0], a[1], a[2]) },
		callHTTPVerb:    func(a []string) error { return callHTTP(a[0], a[1], a[2]) },
		callRRVerb:      func(a []string) error { return callRR(a[0], a[1], a[2]) },
		agent.Verb: func([]string) error {
			return agent.Serve(context.Background(), os.Stdin, os.Stdout, "peers")
		},
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run measures the rows and writes the page, also of what was measured when it
// was interrupted.
func run(ctx context.Context, o options) error {
	if o.pairs < 1 || o.window < 100*time.Millisecond {
		return errors.New("-pairs must be at least 1 and -duration at least 100ms")
	}
	if _, err := os.Stat(filepath.Dir(o.output)); err != nil { // better now than after the run
		return fmt.Errorf("write %s: %w: run it at the repository's root, or name another file with -o", o.output, err)
	}
	chosen, err := chooseRows(o.rows)
	if err != nil {
		return err
	}
	// Debian has nginx where an ordinary user's PATH does not reach.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return err
	}
	machine, err := describeMachine()
	if err != nil {
		return err
	}
	outcomes, err := takeTurns(ctx, chosen, o)
	if len(outcomes) == 0 {
		return err
	}
	page := page{options: o, machine: machine, outcomes: outcomes}
	return errors.Join(err, page.write(context.WithoutCancel(ctx)))
}
