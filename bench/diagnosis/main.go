// Command diagnosis brings about every cause that tare can name, in labs of
// namespaces, asks tare what is wrong, and writes docs/diagnosis.md: how often
// it was right.
//
//	make build; go run ./bench/diagnosis [-causes mtu-black-hole,rp-filter] [-networks route] [-wording far-underlay] [-o docs/diagnosis.md]
//
// It needs root and the packages that .ci/packages installs, and uses tare as a
// user does: by its command line. It shares nothing with the rules.
//
// Each file is one idea:
//   - cause.go: what an injection is, and the list of all
//   - forwarding.go, firewall.go, link.go, ...: the injections, as data
//   - stage.go: a lab, and scripts typed in it
//   - trial.go: inject, make sure that it bites, ask; ask.go: the questions
//   - score.go: what was right; page.go: the document
//   - shares.go: how much of a toll was injected, and how much was named
//   - sentences.go: what the answer says first, of injected tolls and of others, and whether it holds
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tare/catalog"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
)

// options are what the command line asks for.
type options struct {
	causes, networks, wording  string
	clean, bites, json, shares bool
	tare, output, from         string
}

// bench is what puts the questions.
type bench struct {
	tare string
	asks bool // else it only makes sure that the injections bite
}

func main() {
	var o options
	flag.StringVar(&o.causes, "causes", "", "causes to inject, a comma list (default all)")
	flag.StringVar(&o.networks, "networks", "", "networks to inject them on, a comma list (default: those that each lists)")
	flag.StringVar(&o.wording, "wording", "", "only wordings of this name")
	flag.BoolVar(&o.clean, "clean", true, "ask about clean labs too, one of each network")
	flag.BoolVar(&o.bites, "bites", false, "only make sure that the injections bite, and ask nothing")
	flag.BoolVar(&o.shares, "shares", false, "only weigh the injections that make a network slower, and write their shares into the page")
	flag.BoolVar(&o.json, "json", false, "write every trial to standard output too")
	flag.StringVar(&o.tare, "tare", "dist/tare", "the tare to ask")
	flag.StringVar(&o.from, "from", "", "ask nothing, and write the page from the trials that -json printed into these files, a comma list: trials in a later file replace earlier ones")
	flag.StringVar(&o.output, "o", "docs/diagnosis.md", "file to write; - for standard output, empty for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := execute(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "diagnosis:", err)
		os.Exit(1)
	}
}

// execute injects, asks and writes, also what was found out when it was
// interrupted.
func execute(ctx context.Context, o options) error {
	chosen, err := choose(o)
	if err != nil {
		return err
	}
	if o.from != "" {
		return again(o)
	}
	// Debian has some tools where an ordinary user's PATH does not reach.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return err
	}
	tare, err := filepath.Abs(o.tare)
	if err != nil {
		return err
	}
	if _, err := os.Stat(tare); err != nil {
		return fmt.Errorf("find the tare to ask: %w: make build", err)
	}
	foreign, err := probe.ForeignCPU("/", time.Second)
	if err != nil {
		return err
	}
	b := bench{tare: tare, asks: !o.bites}
	if o.shares {
		all := b.weighAll(ctx, chosen)
		var natural []sentence
		if o.clean {
			natural = b.sayAll(ctx)
		}
		return writeShares(o, all, natural)
	}
	trials, err := b.all(ctx, chosen, o)
	if o.json {
		err = errors.Join(err, json.NewEncoder(os.Stdout).Encode(trials))
	}
	if o.bites {
		return errors.Join(err, failures(trials))
	}
	return errors.Join(err, page{options: o, trials: trials, foreign: foreign, interrupted: ctx.Err() != nil}.write())
}

// again writes the page of trials that were taken before, each as it was taken
// last.
func again(o options) error {
	p := page{options: o, foreign: -1}
	for _, name := range strings.Split(o.from, ",") {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var trials []trial
		if err := json.Unmarshal(text, &trials); err != nil {
			return fmt.Errorf("read trials of %s: %w", name, err)
		}
		for _, t := range trials {
			at := slices.IndexFunc(p.trials, func(o trial) bool {
				return o.Cause == t.Cause && o.Wording == t.Wording && o.Network == t.Network && o.Path == t.Path
			})
			if at < 0 {
				p.trials = append(p.trials, t)
				continue
			}
			p.trials[at] = t
			p.again++
		}
	}
	return p.write()
}

// failures counts the trials without a verdict.
func failures(trials []trial) error {
	failed := 0
	for _, t := range trials {
		if t.Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d injections failed: see above", failed, len(trials))
	}
	return nil
}

// all takes the trials in the order of the lists.
func (b bench) all(ctx context.Context, chosen []cause, o options) ([]trial, error) {
	trials := []trial{}
	for _, c := range chosen {
		for _, w := range c.wordings {
			for _, at := range w.on {
				if ctx.Err() != nil {
					return trials, ctx.Err()
				}
				trials = append(trials, b.take(ctx, c, w, at))
			}
		}
	}
	if !o.clean || o.bites {
		return trials, nil
	}
	available, err := b.available(ctx)
	if err != nil {
		return trials, err
	}
	for _, n := range available {
		if n.Name == catalog.Baseline || !o.picks(n.Name) {
			continue
		}
		if ctx.Err() != nil {
			return trials, ctx.Err()
		}
		trials = append(trials, b.clean(ctx, spot{n.Name, farthest(n)}))
	}
	return trials, nil
}

// farthest is the path of a network that passes most of it.
func farthest(n network.Network) string {
	for _, path := range []string{catalog.CrossHost, catalog.PublishedPort} {
		if n.Serves(path) {
			return path
		}
	}
	return n.Paths[0]
}

// available are the networks that run on this machine.
func (b bench) available(ctx context.Context) ([]network.Network, error) {
	out, err := exec.CommandContext(ctx, b.tare, "list", "networks", "--probe", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	var listed []struct {
		Name      string `json:"name"`
		Available bool   `json:"available"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	var here []network.Network
	for _, l := range listed {
		if n, known := kinds.Find(l.Name); known && l.Available {
			here = append(here, n)
		}
	}
	return here, nil
}

// picks reports whether a network is asked for.
func (o options) picks(name string) bool {
	return o.networks == "" || slices.Contains(strings.Split(o.networks, ","), name)
}

// choose narrows the list to what is asked for.
func choose(o options) ([]cause, error) {
	var chosen []cause
	for _, c := range all() {
		if o.causes != "" && !slices.Contains(strings.Split(o.causes, ","), c.id) {
			continue
		}
		var wordings []wording
		for _, w := range c.wordings {
			w.on = slices.DeleteFunc(w.on, func(at spot) bool { return !o.picks(at.network) })
			if (o.wording == "" || o.wording == w.name) && len(w.on) > 0 {
				wordings = append(wordings, w)
			}
		}
		c.wordings = wordings
		chosen = append(chosen, c)
	}
	if o.causes != "" && len(chosen) != len(strings.Split(o.causes, ",")) {
		return nil, fmt.Errorf("-causes %s: not all of them are on the list: cause.go has it", o.causes)
	}
	return chosen, nil
}
