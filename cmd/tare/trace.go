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
	"tare/trace"
)

func traceCommand(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "trace",
		Short: "Follow packets hop by hop: latency, losses, CPU",
		Long: `Measures each network as tare run does. After each window it measures a second
one, in which it follows the packets through the kernel: how long each hop takes
and which one adds the toll, where packets are lost and why, and what the CPUs
execute. Tracing slows the packets: tare prints by how much, and scales the hops.

It needs root and a kernel with BTF (Linux 6.3).

With --site, --machines, --docker-context or --endpoint it builds nothing: it traces on
each machine where the user that the command gives is root. Of the others it reports
the kernel's counters only, and exits with status 3.`,
		Example: `  tare trace
  tare trace --networks vxlan --paths cross-host
  tare trace --networks bridge --paths same-host --workloads udp_pps
  tare trace --networks vxlan --paths cross-host --workloads tcp_stream --folded stacks.txt
  tare trace --site docker --networks bridge`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.trace = true
			return f.run(c.Context(), s, c.Flags(), nil)
		},
	}
	f.registerTrace(c.Flags())
	belong(c)
	return c
}

// registerTrace registers the flags of a run that a trace reads.
func (f *runFlags) registerTrace(flags *pflag.FlagSet) {
	var all pflag.FlagSet
	f.register(&all)
	take(flags, &all, tracing)
	flags.Lookup("trace").Hidden = true // it is this verb
	for name, usage := range map[string]string{
		"networks": "networks to trace, a comma list or all (default bridge,vxlan; with --lab the lab's)",
		"blocks":   "passes over all cells (default 5)",
		"duration": "length of a window, as 500ms (default 200ms)",
		"lab":      "trace in this running lab (tare lab up)",
		"out":      "write the result to this file as well",
		"json":     "write the result to standard output",
		"folded":   "write sampled stacks to this file, for flame graphs",
	} {
		flags.Lookup(name).Usage = usage
	}
}

// tracing reports whether packets are followed.
func (f *runFlags) tracing() bool { return f.trace || f.folded != "" }

// traceDefaults sets what a trace measures unless the flags say so. What is running has networks, paths and
// models of interfaces already.
func traceDefaults(flags *pflag.FlagSet, there bool) error {
	defaults := [][2]string{{"workloads", "tcp_rr"}, {"blocks", "5"}, {"duration", "200ms"}}
	if !there && !flags.Changed("lab") {
		defaults = append(defaults, [2]string{"networks", "bridge,vxlan"}, [2]string{"paths", "same-host,cross-host"}, [2]string{"nic", "full"})
	}
	for _, one := range defaults {
		if flags.Changed(one[0]) {
			continue
		}
		if err := flags.Set(one[0], one[1]); err != nil {
			return fmt.Errorf("set --%s: %w", one[0], err)
		}
	}
	return nil
}

// reportTrace has a plan traced, and reports.
func (f runFlags) reportTrace(s streams, plan result.Plan, measure func(*progress) (*result.Result, error)) error {
	for _, path := range []string{f.out, f.folded} {
		if err := checkWritable(path, experiment.SizeOf(plan)*resultBytes); err != nil {
			return err
		}
	}
	progress := newProgress(s)
	defer progress.end()
	res, err := measure(progress)
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
		err = errors.Join(err, report.Trace(s.out, res, f.lang.shownOn(s.out, s.manner)))
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

// traceInLab traces in a lab. Nothing is built where no packet could be followed.
func (f runFlags) traceInLab(ctx context.Context, s streams, plan result.Plan) error {
	return f.reportTrace(s, plan, func(progress *progress) (res *result.Result, err error) {
		if refused := trace.Refused(); refused != "" {
			return nil, &exitError{exitMissing, fmt.Errorf("no packet can be followed here: %s", refused)}
		}
		l, plan, err := f.lab(ctx, plan, progress)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		return f.follow(ctx, plan, experiment.Options{Site: l, Topology: l.Topology, Progress: progress.show})
	})
}

// looks is how often a trace repeats each window.
const looks = 3

// traceAtPlaces traces between places that tare did not build.
func (f runFlags) traceAtPlaces(ctx context.Context, s streams, plan result.Plan, flags *pflag.FlagSet) error {
	plan, err := f.equip(plan)
	if err != nil {
		return err
	}
	return f.reportTrace(s, plan, func(progress *progress) (res *result.Result, err error) {
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
	})
}

// follow traces and writes the folded stacks.
func (f runFlags) follow(ctx context.Context, plan result.Plan, o experiment.Options) (res *result.Result, err error) {
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
