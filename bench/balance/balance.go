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
	"flag"
	"fmt"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/result"
	"tare/stats"
)

// options are what the command line asks for.
type options struct {
	tare, older harness.Tare
	rounds      int
	within      time.Duration
	output      string
	plan        []string
}

// Run is the experiment.
func Run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("balance", flag.ExitOnError)
	var o options
	flags.StringVar((*string)(&o.tare), "tare", harness.DefaultTare, "the tare to weigh with")
	flags.StringVar((*string)(&o.older), "against", "", "an older tare that this one is held against")
	flags.IntVar(&o.rounds, "rounds", 2, "how often each design weighs the plan")
	flags.DurationVar(&o.within, "within", time.Minute, "how long the older tare may take")
	flags.StringVar(&o.output, "o", "", harness.OutputDoc)
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.plan = flags.Args()
	if o.rounds < 1 {
		return fmt.Errorf("%d rounds: it must be one at least", o.rounds)
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
	of map[string][]figures // by design
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
	p := page{Machine: machine, Command: command(o)}
	all := plans()
	if len(o.plan) > 0 {
		all = []plan{{Title: "The plan", Flags: o.plan}}
	}
	for _, one := range all {
		s := section{plan: one, of: map[string][]figures{}}
		turn := func(design string) harness.Turn {
			return harness.Turn{Name: design, Take: func(ctx context.Context, _ int) error {
				res, err := weighed(ctx, o.tare, design, one.Flags)
				if err == nil {
					s.of[design] = append(s.of[design], figuresOf(res, one.Added))
				}
				return err
			}}
		}
		if _, err := harness.Turns(ctx, "balance: "+one.Title, o.rounds, []harness.Turn{turn(result.DesignSlots), turn(result.DesignWindows)}); err != nil {
			return err
		}
		p.Sections = append(p.Sections, s)
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

// command is what writes the page again.
func command(o options) string {
	text := "go run ./bench balance"
	if o.older != "" {
		text += " -against OLD"
	}
	text += fmt.Sprintf(" -rounds %d", o.rounds)
	if o.older != "" {
		text += fmt.Sprintf(" -within %s", o.within)
	}
	if len(o.plan) > 0 {
		text += " -- " + strings.Join(o.plan, " ")
	}
	return text
}

// row is a line of a section's table.
type row struct{ Name, Windows, Slots string }

// Rows are those of the section.
func (s section) Rows() []row {
	windows, slots := joined(s.of[result.DesignWindows]), joined(s.of[result.DesignSlots])
	rows := []row{{"time of a run", seconds(windows.took), seconds(slots.took)}}
	add := func(name, width string, of func([]float64) float64) {
		rows = append(rows, row{name, harness.Percent(of(windows.widths[width])), harness.Percent(of(slots.widths[width]))})
	}
	for n, m := range metrics() {
		if len(slots.widths[m])+len(windows.widths[m]) == 0 {
			continue
		}
		name := []string{"throughput: ", "round trip p50: "}[n]
		add(name+"half-width of a toll, median", m, stats.Median)
		add(name+"the widest", m, worst)
		add(name+"A/A, median", selfWidth+m, stats.Median)
		add(name+"A/A, the widest", selfWidth+m, worst)
		add(name+"deviation of a block's toll, median", blockSpread+m, stats.Median)
		add(name+"what of it is not noise between its cycles", restSpread+m, stats.Median)
	}
	if s.Added != "" {
		us := func(f figures) string { return fmt.Sprintf("%.2f us", 1e6*stats.Median(f.widths[addedWidth])) }
		rows = append(rows, row{"what " + s.Added + " adds to the round trip: half-width, median", us(windows), us(slots)})
	}
	of := func(part, all int) string { return fmt.Sprintf("%d of %d", part, all) }
	return append(rows,
		row{fmt.Sprintf("tolls beyond %.0f %% that are known", 100*matters), of(windows.known, windows.beyond), of(slots.known, slots.beyond)},
		row{"tolls that are known", of(windows.decided, windows.all), of(slots.decided, slots.all)},
		row{"baselines that seem to differ from themselves", fmt.Sprint(windows.differs), fmt.Sprint(slots.differs)})
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// shorter is by how much less time the newer tare may take for as many verdicts.
const shorter = 3

// rival is one of two builds of tare, and the time that it is given.
type rival struct {
	Name   string
	tare   harness.Tare
	within time.Duration
	of     []figures
}

//go:embed against.md
var againstPage string

// against has an older tare weigh a plan in a time, and the newer one in a third of it and in all of it, in turn, and
// writes how many verdicts each has.
func against(ctx context.Context, machine harness.Machine, o options) error {
	rivals := []*rival{
		{Name: "the older tare", tare: o.older, within: o.within}, {Name: "this one, in a third", tare: o.tare, within: o.within / shorter},
		{Name: "this one, in as much", tare: o.tare, within: o.within},
	}
	var turns []harness.Turn
	for _, r := range rivals {
		turns = append(turns, harness.Turn{Name: r.Name, Take: func(ctx context.Context, _ int) error {
			res, err := weighed(ctx, r.tare, result.DesignSlots, append([]string{"--max-time", r.within.String()}, o.plan...))
			if err == nil {
				r.of = append(r.of, figuresOf(res, ""))
			}
			return err
		}})
	}
	if _, err := harness.Turns(ctx, "balance", o.rounds, turns); err != nil {
		return err
	}
	return harness.Write(o.output, "against", againstPage, map[string]any{"Machine": machine, "Command": command(o), "Rivals": rivals})
}

// Row is what a build came to.
func (r *rival) Row() string {
	sum := joined(r.of)
	return fmt.Sprintf("%.1f s | %d of %d | %d of %d | %s | %s", sum.took.Seconds(), sum.decided, sum.all, sum.known, sum.beyond,
		harness.Percent(stats.Median(sum.widths["throughput"])), harness.Percent(stats.Median(sum.widths["rtt_p50"])))
}
