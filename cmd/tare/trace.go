package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/diagnose"
	"tare/experiment"
	"tare/report"
	"tare/result"
	"tare/site"
)

// traceFlags are the flags of `tare trace`: those of `tare run` that set what is
// measured, and its own.
type traceFlags struct {
	runFlags
	folded string
}

// traceDefaults are the defaults of a trace's flags. What is running has networks,
// paths and models of interfaces already.
func traceDefaults(running bool) map[string]string {
	defaults := map[string]string{"workloads": "tcp_rr", "blocks": "5", "duration": "200ms"}
	if !running {
		defaults["networks"], defaults["paths"], defaults["nic"] = "bridge,vxlan", "same-host,cross-host", "full"
	}
	return defaults
}

func traceCommand(s streams) *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace",
		Short: "Follow packets hop by hop: latency, losses, CPU",
		Long: `Measures each network as tare run does. After each window it measures a second
one, in which it follows the packets through the kernel: how long each hop takes
and which one adds the toll, where packets are lost and why, and what the CPUs
execute. Tracing slows the packets: tare prints by how much, and scales the hops
to the window without tracing.

It needs root and a kernel with BTF (Linux 6.3). Elsewhere it reports the kernel's
counters only, and exits with status 3.

With --site, --machines, --docker-context or --endpoint it builds nothing: it traces
between hosts and containers that are there already, on each of their machines where
the user that the command gives is root.`,
		Example: `  tare trace
  tare trace --networks vxlan --paths cross-host
  tare trace --networks bridge --paths same-host --workloads udp_pps
  tare trace --networks vxlan --paths cross-host --workloads tcp_stream --folded stacks.txt
  tare trace --site docker --networks bridge`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			elsewhere, err := f.site.read(c.Flags())
			if err != nil {
				return err
			}
			plan, err := f.plan(c.Flags(), elsewhere)
			if err != nil {
				return err
			}
			progress := newProgress(s.err)
			defer progress.end()
			return f.trace(s, plan, func() (*result.Result, error) {
				if elsewhere {
					return f.followPlaces(c.Context(), progress, c.Flags())
				}
				return f.followLab(c.Context(), progress, plan)
			})
		},
	}
	f.register(c.Flags())
	return c
}

func (f *traceFlags) register(flags *pflag.FlagSet) {
	var all pflag.FlagSet
	f.runFlags.register(&all)
	for _, name := range []string{
		"precision", "margin", "max-time", "dry-run", "check", "fix-and-verify", "need", "case", "report", "design", "kernel", "pairs", "yield", "tables", "neighbour",
	} {
		all.Lookup(name).Hidden = true
	}
	all.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			flags.AddFlag(flag)
		}
	})
	flags.Lookup("networks").Usage = "networks to trace, a comma list or all (default bridge,vxlan; with --lab the lab's)"
	flags.Lookup("blocks").Usage = "passes over all cells (default 5)"
	flags.Lookup("duration").Usage = "length of a window, for example 500ms (default 200ms)"
	flags.Lookup("lab").Usage = "trace in this running lab (tare lab up)"
	flags.Lookup("out").Usage = "write the result to this file as well"
	flags.Lookup("json").Usage = "write the result to standard output"
	flags.StringVar(&f.folded, "folded", "", "write the sampled stacks of the CPUs to this file, for flame graphs")
}

// plan is the plan of `tare run` with the defaults of a trace. there is whether the networks
// are those of places that tare did not build.
func (f *traceFlags) plan(flags *pflag.FlagSet, there bool) (result.Plan, error) {
	for name, value := range traceDefaults(there || flags.Changed("lab")) {
		if flags.Changed(name) {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return result.Plan{}, fmt.Errorf("set --%s: %w", name, err)
		}
	}
	plan, err := f.runFlags.plan(flags, nil)
	if err != nil {
		return plan, err
	}
	return f.equip(plan)
}

// trace has a plan measured, and reports.
func (f *traceFlags) trace(s streams, plan result.Plan, measure func() (*result.Result, error)) error {
	for _, path := range []string{f.out, f.folded} {
		if err := checkWritable(path, experiment.SizeOf(plan)*resultBytes); err != nil {
			return err
		}
	}
	res, err := measure()
	if res == nil {
		return err
	}
	diagnose.WeighTraces(res, f.labName)
	if f.out != "" {
		err = errors.Join(err, res.WriteFile(f.out))
	}
	if f.json {
		err = errors.Join(err, res.Write(s.out))
	} else {
		err = errors.Join(err, report.Trace(s.out, res, f.lang.shownOn(s.out)))
	}
	if err != nil {
		return err
	}
	return traceStatus(res)
}

// traceStatus is the exit status of a result in which a cell failed or no packet
// was followed; nil: it is complete.
func traceStatus(res *result.Result) error {
	for _, cell := range res.Cells {
		switch {
		case cell.Status == result.StatusFailed:
			return &exitError{status: exitFailed}
		case cell.Trace != nil && cell.Trace.Tier == 0:
			return &exitError{exitMissing, fmt.Errorf("no packet was followed: %s", cell.Trace.Lacks[0])}
		}
	}
	return nil
}

// followLab traces in a lab.
func (f *traceFlags) followLab(ctx context.Context, progress *progress, plan result.Plan) (res *result.Result, err error) {
	l, plan, err := f.lab(ctx, plan, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return f.follow(ctx, plan, experiment.Options{Site: l, Topology: l.Topology, Progress: progress.show})
}

// looks is how often a trace repeats each window.
const looks = 3

// followPlaces traces between places that tare did not build.
func (f *traceFlags) followPlaces(ctx context.Context, progress *progress, flags *pflag.FlagSet) (res *result.Result, err error) {
	err = f.atPlaces(ctx, progress, flags, func(e *site.Endpoints, plan result.Plan) (err error) {
		plan.Design = result.DesignWindows
		for _, line := range load(plan, looks*experiment.TimeOf(plan), e.Topology.Places) {
			progress.say(line)
		}
		res, err = f.follow(ctx, plan, experiment.Options{
			Site: site.Examined{Endpoints: e}, Topology: e.Topology, Progress: progress.show,
		})
		return err
	})
	return res, err
}

// follow traces and writes the folded stacks.
func (f *traceFlags) follow(ctx context.Context, plan result.Plan, o experiment.Options) (res *result.Result, err error) {
	o.Tool, o.Save = tool(), func(*result.Result) error { return nil }
	if f.folded == "" {
		return experiment.Trace(ctx, plan, o, nil)
	}
	file, err := os.Create(f.folded)
	if err != nil {
		return nil, fmt.Errorf("write folded stacks: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return experiment.Trace(ctx, plan, o, file)
}
