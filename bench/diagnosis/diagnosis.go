// Package diagnosis brings about every cause that tare can name, in labs of namespaces, asks tare what
// is wrong, and writes how often it was right.
//
//	make build; go run ./bench diagnosis [-causes mtu-black-hole,rp-filter] [-networks route] [-wording far-underlay]
//	make build; go run ./bench diagnosis -shares
//	make build; go run ./bench diagnosis -unusual 200
//
// With -shares it writes how much of a toll was injected and how much was named, and whether what the
// answer of tare run says first holds, of injected tolls and of others. With -unusual it counts the
// false alarms of the doctor in labs that have something unusual and no fault: unusual.yaml lists what.
//
// It needs root and the packages that .ci/packages installs, and uses tare as a user does: by its
// command line. It shares nothing with the rules. causes.yaml has the injections, as data.
package diagnosis

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tare/bench/harness"
	"tare/catalog"
	"tare/network"
	"tare/network/kinds"
)

// options are what the command line asks for.
type options struct {
	causes, networks, wording  string
	clean, bites, json, shares bool
	output, from, command      string
	unusual                    int
}

// bench is what puts the questions.
type bench struct {
	tare harness.Tare
	asks bool // else it only makes sure that the injections bite
}

// Run is the experiment. What was found out when it was interrupted is written too.
func Run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("diagnosis", flag.ExitOnError)
	var o options
	flags.StringVar(&o.causes, "causes", "", "causes to inject, a comma list (default all)")
	flags.StringVar(&o.networks, "networks", "", "networks to inject them on, a comma list (default: those that each lists)")
	flags.StringVar(&o.wording, "wording", "", "only wordings of this name")
	flags.BoolVar(&o.clean, "clean", true, "ask about clean labs too, one of each network")
	flags.IntVar(&o.unusual, "unusual", 0, "only ask the doctor about so many labs that are clean or merely unusual, and write what it names")
	flags.BoolVar(&o.bites, "bites", false, "only make sure that the injections bite, and ask nothing")
	flags.BoolVar(&o.shares, "shares", false, "only weigh the injections that make a network slower, and write their shares")
	flags.BoolVar(&o.json, "json", false, "write every trial to standard output too")
	tare := flags.String("tare", harness.DefaultTare, "the tare to ask")
	flags.StringVar(&o.from, "from", "", "ask nothing, and write the page from the trials that -json printed into these files, a comma list: trials in a later file replace earlier ones")
	flags.StringVar(&o.output, "o", "", harness.OutputDoc)
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.command = harness.Command(flags)
	d, err := readData()
	if err != nil {
		return err
	}
	chosen, err := d.choose(o)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(*tare)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("find the tare to ask: %w: make build", err)
	}
	machine, err := harness.Look()
	if err != nil {
		return err
	}
	b, p := bench{harness.Tare(path), !o.bites}, page{options: o, Machine: machine, Causes: d.Causes}
	switch {
	case o.from != "":
		return p.again()
	case o.unusual > 0:
		return b.harmless(ctx, o.unusual, o, os.Stdout)
	case o.shares:
		return b.shares(ctx, machine, d, chosen, o)
	}
	p.Trials, err = b.all(ctx, chosen, o)
	if o.json {
		err = errors.Join(err, json.NewEncoder(os.Stdout).Encode(p.Trials))
	}
	if o.bites {
		if failed := len(p.count().Failed); failed > 0 {
			err = errors.Join(err, fmt.Errorf("%d of %d injections failed: see above", failed, len(p.Trials)))
		}
		return err
	}
	p.Interrupted = ctx.Err() != nil
	return errors.Join(err, p.write())
}

// again writes the page of trials that were taken before, each as it was taken
// last.
func (p page) again() error {
	for _, name := range strings.Split(p.from, ",") {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var trials []trial
		if err := json.Unmarshal(text, &trials); err != nil {
			return fmt.Errorf("read trials of %s: %w", name, err)
		}
		for _, t := range trials {
			at := slices.IndexFunc(p.Trials, func(o trial) bool {
				return o.Cause == t.Cause && o.Wording == t.Wording && o.Network == t.Network && o.Path == t.Path
			})
			if at < 0 {
				p.Trials = append(p.Trials, t)
				continue
			}
			p.Trials[at] = t
			p.Again++
		}
	}
	return p.write()
}

// all takes the trials in the order of the lists.
func (b bench) all(ctx context.Context, chosen []cause, o options) ([]trial, error) {
	trials := []trial{}
	for _, c := range chosen {
		for _, w := range c.Wordings {
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
		w := wording{Ask: []question{doctor, "run tcp_stream", "run tcp_rr"}}
		trials = append(trials, b.take(ctx, cause{}, w, spot(n.Name+" "+farthest(n))))
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
func (b bench) available(ctx context.Context) (here []network.Network, err error) {
	out, err := b.tare.Call(ctx, "", "list", "networks", "--probe", "--json")
	if err != nil {
		return nil, err
	}
	var listed []struct {
		Name      string `json:"name"`
		Available bool   `json:"available"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	for _, l := range listed {
		if n, known := kinds.Find(l.Name); known && l.Available {
			here = append(here, n)
		}
	}
	return here, nil
}
