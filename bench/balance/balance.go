// Package balance measures how finely tare weighs: it has the same plans weighed in slots and in
// windows, in turn, and compares the widths of the intervals.
//
//	make build; go run ./bench balance [-rounds 2] [-- --networks host,vxlan]
//	make build; go run ./bench balance -against OLD [-rounds 5] [-within 60s] [-- --networks host,vxlan]
//
// With -against it writes how many verdicts an older tare has in a time, and this one in a third of it.
// What follows -- goes to tare run, as the only plan; without it those of plans are weighed, and then
// those of truth.go, which show whether what is weighed is right. Run it on a machine that does
// nothing else, as root, from the repository's root.
package balance

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/result"
)

// options are what the command line asks for, and the command itself.
type options struct {
	tare, older harness.Tare
	rounds      int
	within      time.Duration
	output      string
	plan        []string
	command     string
}

func readOptions(args []string) (o options, err error) {
	flags := flag.NewFlagSet("balance", flag.ExitOnError)
	flags.StringVar((*string)(&o.tare), "tare", harness.DefaultTare, "the tare to weigh with")
	flags.StringVar((*string)(&o.older), "against", "", "an older tare that this one is held against")
	flags.IntVar(&o.rounds, "rounds", 2, "how often each design weighs the plan")
	flags.DurationVar(&o.within, "within", time.Minute, "how long the older tare may take")
	flags.StringVar(&o.output, "o", "", harness.OutputDoc)
	err = flags.Parse(args)
	o.plan, o.command = flags.Args(), harness.Command(flags)
	if o.rounds < 1 {
		err = errors.Join(err, fmt.Errorf("%d rounds: it must be one at least", o.rounds))
	}
	return o, err
}

// Run is the experiment.
func Run(ctx context.Context, args []string) error {
	o, err := readOptions(args)
	if err != nil {
		return err
	}
	machine, err := harness.Look()
	if err != nil {
		return err
	}
	if o.older != "" {
		return against(ctx, machine, o)
	}
	return resolution(ctx, machine, o)
}

// plan is what is weighed in both designs.
type plan struct {
	Title string
	Flags []string
	Added string // a network whose difference in the round trip is shown, in us; empty: none is
}

// plans are those that are weighed without another.
func plans() []plan {
	return []plan{
		{Title: "The quick plan"},
		{Title: "Every network between hosts, round trips", Flags: strings.Fields("--networks all --paths cross-host --workloads tcp_rr")},
		{Title: "Both ends on one CPU", Flags: strings.Fields("--networks route --paths cross-host --workloads tcp_rr --pin same"), Added: "route"},
	}
}

// section is one plan as weighed in both designs.
type section struct {
	plan
	Windows, Slots figures
}

// page is what resolution.md is made of.
type page struct {
	Machine  harness.Machine
	Command  string
	Sections []section
	Truth    *truth // nil: only a plan was weighed
}

//go:embed resolution.md
var resolutionPage string

// resolution weighs the plans in both designs and writes the page.
func resolution(ctx context.Context, machine harness.Machine, o options) error {
	p := page{Machine: machine, Command: o.command}
	all := plans()
	if len(o.plan) > 0 {
		all = []plan{{Title: "The plan", Flags: o.plan}}
	}
	for _, one := range all {
		of := weighings{}
		turn := func(design string) harness.Turn { return of.turn(design, o.tare, design, one.Added, one.Flags...) }
		if _, err := harness.Turns(ctx, "balance: "+one.Title, o.rounds, []harness.Turn{turn(result.DesignSlots), turn(result.DesignWindows)}); err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{one, joined(of[result.DesignWindows]), joined(of[result.DesignSlots])})
	}
	if len(o.plan) == 0 {
		found, err := find(ctx, o.tare)
		if err != nil {
			return err
		}
		p.Truth = &found
	}
	return harness.Write(o.output, "resolution", resolutionPage, p)
}

// weighed is the result of one run of the plan.
func weighed(ctx context.Context, tare harness.Tare, design string, plan []string) (*result.Result, error) {
	return tare.Result(ctx, append([]string{"run", "--design", design}, plan...)...)
}

// weighings are the figures of several runs by name.
type weighings map[string][]figures

// turn weighs a plan, and keeps the figures by a name.
func (w weighings) turn(name string, tare harness.Tare, design, added string, plan ...string) harness.Turn {
	return harness.Turn{Name: name, Take: func(ctx context.Context, _ int) error {
		res, err := weighed(ctx, tare, design, plan)
		if err == nil {
			w[name] = append(w[name], figuresOf(res, added))
		}
		return err
	}}
}

// shorter is by how much less time the newer tare may take for as many verdicts.
const shorter = 3

//go:embed against.md
var againstPage string

// rival is one of two builds of tare as it weighed in the time that it was given.
type rival struct {
	Name string
	Of   figures
}

// against has an older tare weigh a plan in a time, and the newer one in a third of it and in all of it, in turn, and
// writes how many verdicts each has.
func against(ctx context.Context, machine harness.Machine, o options) error {
	of := weighings{}
	turn := func(name string, tare harness.Tare, within time.Duration) harness.Turn {
		return of.turn(name, tare, result.DesignSlots, "", append([]string{"--max-time", within.String()}, o.plan...)...)
	}
	turns := []harness.Turn{
		turn("the older tare", o.older, o.within), turn("this one, in a third", o.tare, o.within/shorter), turn("this one, in as much", o.tare, o.within),
	}
	if _, err := harness.Turns(ctx, "balance", o.rounds, turns); err != nil {
		return err
	}
	var rivals []rival
	for _, t := range turns {
		rivals = append(rivals, rival{t.Name, joined(of[t.Name])})
	}
	return harness.Write(o.output, "against", againstPage, map[string]any{"Machine": machine, "Command": o.command, "Rivals": rivals})
}
