package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/diagnose"
	"tare/experiment"
	"tare/probe"
	"tare/report"
	"tare/result"
	"tare/site"
)

// doctorFlags choose what a diagnosis looks at and how it is printed.
type doctorFlags struct {
	lab, from, to string
	idle          time.Duration
	docker, json  bool
	site          siteFlags
	lang          language
}

func doctorCommand(s streams) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for known faults on this machine or between two ends",
		Long: `Looks for known faults and prints each with its evidence and the command that
fixes it, the worst first. It changes nothing.

In a lab or at a site it sends small and MTU-sized messages, a train of datagrams and a
short stream over every path, or between two places, and records which devices carry
them. On this machine it reads the kernel's counters and settings.

The exit status is 4 if a finding is an error, else 0.`,
		Example: `  tare doctor --lab demo
  tare doctor --lab demo --from h1/c1 --to h2/c1
  tare doctor
  tare doctor --site ssh --machines a,b
  tare doctor --docker --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			elsewhere, err := f.site.read(c.Flags())
			if err != nil {
				return err
			}
			examine := f.diagnose
			if elsewhere {
				examine = func(ctx context.Context) (result.Diagnosis, error) { return f.diagnosePlaces(ctx, s) }
			}
			d, err := examine(c.Context())
			if err != nil {
				return err
			}
			if err := f.print(s, d); err != nil {
				return err
			}
			for _, finding := range d.Findings {
				if finding.Severity == result.SeverityError {
					return &exitError{status: exitUnmet}
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&f.lab, "lab", "", "name of the lab to examine (default: this machine)")
	c.Flags().StringVar(&f.from, "from", "", "place that sends, for example h1/c1")
	c.Flags().StringVar(&f.to, "to", "", "place that receives, for example h2/c1")
	c.Flags().DurationVar(&f.idle, "idle", 0, "of a lab or of places: also try a connection that rests so long, as 30s")
	c.Flags().BoolVar(&f.docker, "docker", false, "examine this machine's Docker too")
	f.site.register(c.Flags(), diagnosing)
	f.lang.register(c.Flags())
	c.Flags().BoolVar(&f.json, "json", false, `write {"findings": [...]} to standard output`)
	f.relate(c)
	return c
}

// relate has a diagnosis refuse what does not go together.
func (f *doctorFlags) relate(c *cobra.Command) {
	together(c, "from", "to", "a pair needs both ends: --from h1/c1 --to h2/c1")
	either(c, "docker", "lab", func() string { return "--docker examines this machine and --lab a lab: give one of the two" })
	refuse(c, func(*pflag.FlagSet) error {
		if f.idle < 0 {
			return wrong("--idle %v: want a time, as 30s", f.idle)
		}
		if f.from != "" && f.lab == "" {
			return wrong("--from and --to are places of a lab: name it with --lab")
		}
		return nil
	})
	belong(c)
}

func (f doctorFlags) diagnose(ctx context.Context) (result.Diagnosis, error) {
	if f.lab == "" {
		return diagnoseMachine(ctx, f.docker)
	}
	return f.diagnoseLab(ctx)
}

// diagnoseLab examines a lab in its present state.
func (f doctorFlags) diagnoseLab(ctx context.Context) (d result.Diagnosis, err error) {
	l, err := site.Join(ctx, f.lab)
	if err != nil {
		return d, labError(err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var pair *experiment.Pair
	if f.from != "" {
		for _, at := range []string{f.from, f.to} {
			if !l.Topology.Has(at) {
				return d, experiment.Unknown("place", at, l.Topology.Addresses())
			}
		}
		pair = &experiment.Pair{From: f.from, To: f.to}
	}
	return findIn(ctx, l, l.Topology, experiment.Asked{Pair: pair, Idle: f.idle}, f.lab)
}

// diagnosePlaces examines places that tare did not build.
func (f doctorFlags) diagnosePlaces(ctx context.Context, s streams) (d result.Diagnosis, err error) {
	progress := newProgress(s)
	defer progress.end()
	e, err := f.site.reach(ctx, progress)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return findIn(ctx, site.Examined{Endpoints: e}, e.Doubted(), experiment.Asked{Idle: f.idle}, "")
}

// findIn examines what was asked for of a site. lab is its name; empty: it
// has none.
func findIn(ctx context.Context, s experiment.Site, t site.Topology, asked experiment.Asked, lab string) (d result.Diagnosis, err error) {
	all, err := experiment.Examine(ctx, s, t, asked)
	if err != nil {
		return d, err
	}
	for _, one := range all {
		e := &diagnose.Evidence{Examination: one, Lab: lab, Prefix: t.Prefix(one.Cluster), Passing: passing(all, one)}
		for _, finding := range diagnose.Find(e) {
			finding.Paths = []string{pathName(one)}
			d.Findings = append(d.Findings, finding)
		}
		d.Unread = append(d.Unread, one.Unread...)
		d.Looked.Add(one)
	}
	d.Findings = diagnose.Join(lab, d.Findings)
	return d, nil
}

// passing is the path that lacks one step of another, if it passes: that without the Service or the
// published port, or for a pod's way to itself that to another pod.
func passing(all []result.Examination, of result.Examination) string {
	without := catalog.Unpublished(of.Path)
	if of.Path == catalog.Hairpin {
		without = catalog.ClusterIP
	}
	one, there := result.First(all, func(e result.Examination) bool { return e.Cluster == of.Cluster && e.Path == without })
	if !there || slices.ContainsFunc(one.Trials, func(t result.Trial) bool { return t.Error != "" }) {
		return ""
	}
	return without
}

// pathName names a path that was examined.
func pathName(e result.Examination) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s -> %s", e.Network, e.Path, e.Client, e.Server)), " ")
}

// print writes the findings for people, or for programs.
func (f doctorFlags) print(s streams, d result.Diagnosis) error {
	d.Unread = append([]result.Unread{}, probe.Unread(d.Unread)...)
	if f.json {
		return writeJSON(s.out, d)
	}
	return report.Findings(s.out, d, f.lang.shownOn(s.out, s.manner))
}
