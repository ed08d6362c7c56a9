// Package peers compares tare's engine with the tools that people use, in turn, in one lab.
//
//	go run ./bench peers [-rows tcp,udp,rr] [-pairs 10] [-duration 1s]
//
// It needs root, or user namespaces, and the tools; a tool that is not there is left out, and the
// page names its package. autocannon, which Debian does not have, is looked for on the PATH.
//
// peers.yaml is what is compared, as data: programs, how each is called and read, rows of claims.
package peers

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/catalog"
	parts "tare/engine"
	"tare/result"
	"tare/site"
	"tare/stats"
	"tare/workload"
)

// options are what the command line asks for, and the command itself.
type options struct {
	rows, output  string
	Command       string
	Network, Path string
	pairs         int
	Window        time.Duration
}

// Run is the experiment. What was measured when it was interrupted is written too.
func Run(ctx context.Context, args []string) error {
	all, err := readData()
	if err != nil {
		return err
	}
	o, err := readOptions(all, args)
	if err != nil {
		return err
	}
	chosen, err := all.choose(o.rows)
	if err != nil {
		return err
	}
	machine, err := harness.Look()
	if err != nil {
		return err
	}
	outcomes, err := takeTurns(ctx, chosen, o)
	if len(outcomes) == 0 {
		return err
	}
	return errors.Join(err, page{options: o, Machine: machine, Outcomes: outcomes}.write())
}

func readOptions(all data, args []string) (o options, err error) {
	flags := flag.NewFlagSet("peers", flag.ExitOnError)
	flags.StringVar(&o.rows, "rows", "", "rows to measure, of "+strings.Join(result.Names(all.Rows, rowName), ",")+" (default all)")
	flags.IntVar(&o.pairs, "pairs", 10, fmt.Sprintf("blocks, in each of which every tool runs once; below %d there are no intervals", stats.MinBlocks))
	flags.DurationVar(&o.Window, "duration", time.Second, "length of a run; tools that count in whole seconds round it up")
	flags.StringVar(&o.Network, "network", "veth", "network of the lab")
	flags.StringVar(&o.Path, "path", catalog.SameHost, "path between the two ends")
	flags.StringVar(&o.output, "o", "", harness.OutputDoc)
	err = flags.Parse(args)
	if o.Command = harness.Command(flags); o.pairs < 1 || o.Window < 100*time.Millisecond {
		err = errors.Join(err, errors.New("-pairs must be at least 1 and -duration at least 100ms"))
	}
	return o, err
}

// engineVerb is how the lab starts this program as an end of tare's engine.
const engineVerb = "engine"

// Verbs are what the lab starts this program as, by its first argument.
func Verbs() map[string]func(arguments []string) error {
	return map[string]func([]string) error{
		site.KeeperVerb: func([]string) error { return site.Keep() },
		engineVerb:      runEngine,
	}
}

// page is what performance.md is made of.
type page struct {
	options
	Machine  harness.Machine
	Outcomes []*outcome
}

//go:embed performance.md
var performancePage string

func (p page) write() error { return harness.Write(p.output, "performance", performancePage, p) }

// programs are those that ran.
func (p page) programs() (all []workload.Program) {
	for _, out := range p.Outcomes {
		for _, sub := range out.subjects {
			for _, program := range sub.programs() {
				if _, err := program.Find(); err == nil && !slices.ContainsFunc(all, func(w workload.Program) bool { return w.Name == program.Name }) {
					all = append(all, program)
				}
			}
		}
	}
	return all
}

// Versions are theirs.
func (p page) Versions() (all []string) {
	for _, program := range p.programs() {
		all = append(all, program.Name+" "+version(context.Background(), program))
	}
	return all
}

// Nginx is what nginx reads, where it ran.
func (p page) Nginx() string {
	if slices.ContainsFunc(p.programs(), func(w workload.Program) bool { return w.Name == "nginx" }) {
		return nginxConfiguration
	}
	return ""
}

// version is what the program prints as its version, or else its package's.
func version(ctx context.Context, p workload.Program) string {
	if len(p.Version) > 0 {
		if printed, err := p.PrintedVersion(ctx); printed != "" {
			return printed
		} else if err != nil {
			return "unknown version: " + err.Error()
		}
	}
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.Name).Output()
	if err != nil {
		return "unknown version: " + err.Error()
	}
	return string(out)
}

// patience is what a run may take beyond its windows.
const patience = 20 * time.Second

// takeTurns measures every row at each of its placements. Interrupted, it returns
// what it has. What make parts got is on the PATH too.
func takeTurns(ctx context.Context, chosen []row, o options) (outcomes []*outcome, err error) {
	if err := os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+parts.PartsDir()); err != nil {
		return nil, err
	}
	stages := map[string]*stage{}
	defer func() {
		for _, s := range stages {
			err = errors.Join(err, s.close())
		}
	}()
	for _, r := range chosen {
		for n, placement := range r.Ends {
			if stages[placement] == nil {
				s, err := openStage(ctx, o, placement)
				if err != nil {
					return outcomes, err
				}
				stages[placement] = s
			}
			out := &outcome{row: r, Placement: placement, Headline: n == 0, failed: map[string]int{}, failure: map[string]string{}}
			err := out.take(ctx, stages[placement], o.pairs)
			if len(out.Blocks) > 0 {
				outcomes = append(outcomes, out)
			}
			if err != nil {
				return outcomes, err
			}
		}
	}
	return outcomes, nil
}

// take runs the blocks: in each, every subject whose programs are installed once, in random order.
func (out *outcome) take(ctx context.Context, s *stage, pairs int) error {
	var turns []harness.Turn
	for _, sub := range out.subjects {
		name := sub.name()
		if !out.installed(sub.programs()) {
			continue
		}
		for _, line := range sub.commands(s) {
			out.Commands = result.AddOnce(out.Commands, line)
		}
		turns = append(turns, harness.Turn{Name: name, Take: func(ctx context.Context, block int) error {
			if len(out.Blocks) == block {
				out.Blocks = append(out.Blocks, map[string]values{})
			}
			v, err := once(ctx, sub, s)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				fmt.Fprintf(os.Stderr, "%s, %s: %s: %v\n", out.Name, out.Placement, name, err)
				out.failed[name]++
				out.failure[name] = err.Error()
			default:
				out.Blocks[block][name] = v
			}
			return nil
		}})
	}
	complete, err := harness.Turns(ctx, out.Name+", "+out.Placement, pairs, turns)
	out.Blocks = out.Blocks[:min(complete, len(out.Blocks))]
	return err
}

// installed reports whether all programs are, and notes those that are not.
func (out *outcome) installed(programs []workload.Program) bool {
	all := true
	for _, p := range programs {
		if _, err := p.Find(); err == nil {
			continue
		}
		all = false
		if _, noted := result.First(out.Missing, func(m workload.Program) bool { return m.Name == p.Name }); !noted {
			out.Missing = append(out.Missing, p)
			fmt.Fprintf(os.Stderr, "%s: %s is not installed: %s\n", out.Name, p.Name, p.Get)
		}
	}
	return all
}

// once does one run in bounded time and adds what it cost.
func once(ctx context.Context, sub subject, s *stage) (values, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.window+patience)
	defer cancel()
	v, err := sub.measure(ctx, s)
	if err != nil {
		return nil, err
	}
	if throughput := v["throughput"]; throughput > 0 {
		v[perGbit] = v["cores"] / (throughput / 1e9)
	}
	if rate := v["rate"]; rate > 0 {
		v[perTransaction] = v["cores"] / rate
	}
	return v, nil
}
