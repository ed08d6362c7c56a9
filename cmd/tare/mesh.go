package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/report"
	"tare/result"
	"tare/site/kubernetes"
	"tare/workload"
)

// meshFlags choose the nodes of a mesh, and what is measured between them.
type meshFlags struct {
	site                        string
	machines, endpoints, groups []string
	cluster                     kubernetes.Fleet
	lab, program, workloads     string
	duration, maxRate           string
	out, resume, page           string
	blocks, incast              int
	every                       time.Duration
	seed                        uint64
	dense, json, dryRun         bool
	lang                        language
}

func meshCommand(s streams) *cobra.Command {
	f := meshFlags{cluster: kubernetes.Fleet{Least: leastNodes}}
	c := &cobra.Command{
		Use:   "mesh",
		Short: "All pairs of several machines: which node or link is slow",
		Long: `Measures between pairs of machines and names who is slow: a node, a link, a group of
nodes (a rack, a zone), or an uplink that carries less than all pairs need at once.

What sticks out is measured again, alone, with partners that do not; only that names
somebody. What was not measured is listed, and never taken for slow. At a site
kubernetes a DaemonSet of the run's own puts a pod on each node that takes pods.`,
		Example: `  tare mesh --machines a,b,c,d,e,f
  tare mesh --endpoint a='ssh a' --endpoint b='ssh b' --endpoint c='ssh c' --endpoint d='kubectl exec -i d --'
  tare mesh --machines a,b,c,d --group rack1=a,b --group rack2=c,d --out mesh.json
  tare mesh --machines a,b,c,d --resume mesh.json --report mesh.html
  tare mesh --site kubernetes --report mesh.html
  tare mesh --site kubernetes --image registry.example.net/tare:1 --every 10m | kubectl apply -f -
  tare mesh --lab demo`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.choose(c.Flags()); err != nil {
				return err
			}
			plan, err := f.plan()
			switch {
			case err != nil:
				return err
			case f.dryRun:
				return printObjects(c.Context(), s, f.cluster)
			case c.Flags().Changed("every"):
				return f.printCron(s, c.Flags())
			}
			return f.mesh(c.Context(), s, plan, c.Flags())
		},
	}
	f.register(c.Flags())
	f.relate(c)
	return c
}

func (f *meshFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.site, "site", "", "where the nodes are: "+strings.Join(ofMeshSites, ", ")+" (default: by the other flags)")
	flags.StringSliceVar(&f.machines, "machines", nil, "machines that ssh reaches, as in a,b,c")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "a node, and the command that reaches it, as in a='ssh a'; once for each")
	flags.StringVar(&f.lab, "lab", "", "the hosts of this running lab (tare lab up)")
	registerCluster(flags, &f.cluster.Site)
	flags.BoolVar(&f.cluster.OnHosts, "on-hosts", false, "with --site kubernetes: pods on the nodes' own networks")
	flags.BoolVar(&f.dryRun, "dry-run", false, "with --site kubernetes: print what would be made, and the role that allows it")
	flags.DurationVar(&f.every, "every", 0, "with --site kubernetes: print a CronJob that runs the mesh so often, for kubectl apply")
	flags.StringVar(&f.program, "far-path", "", "the tare that is there already, at every node (default: this one is sent)")
	flags.StringArrayVar(&f.groups, "group", nil, "nodes of one rack, zone or switch, as in rack1=a,b; once for each")
	flags.StringVar(&f.workloads, "workloads", "tcp_rr", "what is measured, a comma list: "+strings.Join(ofMeshes, ", "))
	flags.IntVar(&f.blocks, "blocks", 3, "passes over all pairs")
	flags.StringVar(&f.duration, "duration", "100ms", "length of a window")
	flags.StringVar(&f.maxRate, "max-rate", "", "what is sent on average over more than 10 s, as 1gbit (default: all that passes)")
	flags.BoolVar(&f.dense, "dense", false, "measure every round with all pairs at once, too (default: where each node is one machine)")
	flags.IntVar(&f.incast, "incast", 0, "also measure many to few: all others send to so many nodes at once (default: no)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order (default: random)")
	flags.StringVar(&f.out, "out", "", "result file, written after each round (default: none, or that of --resume)")
	flags.StringVar(&f.resume, "resume", "", "go on with this interrupted result file")
	flags.StringVar(&f.page, "report", "", "also write a page to FILE.html, after the last round")
	flags.BoolVar(&f.json, "json", false, "write the result to standard output")
	f.lang.register(flags)
}

// ofMeshes are the workloads that a mesh may be measured by: one flow between two nodes.
var ofMeshes = []string{"tcp_rr", "tcp_stream", "udp_rr"}

// relate has a mesh refuse flags together. One that goes on has its plan from its result; what a cluster runs by
// itself has no file.
func (f *meshFlags) relate(c *cobra.Command) {
	for _, name := range []string{"workloads", "blocks", "duration", "max-rate", "seed", "group", "incast"} {
		either(c, "resume", name, func() string {
			return fmt.Sprintf("--%s together with --resume: what goes on is the plan in %s: leave --%[1]s out, or begin anew without --resume", name, f.resume)
		})
	}
	for _, name := range []string{"out", "report", "resume"} {
		either(c, "every", name, func() string {
			return fmt.Sprintf("--every and --%s: each run's result is its pod's log (kubectl logs): leave --%[1]s out", name)
		})
	}
}

// plan is what is measured between two nodes.
func (f *meshFlags) plan() (result.Plan, error) {
	plan := result.Plan{Name: "mesh", Blocks: f.blocks, Seed: f.seed, Networks: result.NetworksNamed(catalog.Baseline), Paths: []string{catalog.CrossHost}}
	judged := map[string]string{} // by metric
	for _, name := range list(f.workloads, nil) {
		if !slices.Contains(ofMeshes, name) {
			return plan, &exitError{exitWrong, experiment.Unknown("workload of a mesh", name, ofMeshes)}
		}
		kind, _ := workload.Find(name)
		if other, there := judged[kind.Headline]; there {
			return plan, wrong("--workloads %s: %s and %s are both judged by %s: measure one after the other", f.workloads, other, name, kind.Headline)
		}
		judged[kind.Headline] = name
		plan.Workloads = append(plan.Workloads, result.WorkloadPlan{Name: name})
	}
	duration, err := result.ParseSeconds(f.duration)
	if err != nil || duration <= 0 || f.blocks < 1 || len(plan.Workloads) == 0 {
		return plan, wrong("--duration %s, --blocks %d, --workloads %s: each must be more than nothing", f.duration, f.blocks, f.workloads)
	}
	if f.incast < 0 {
		return plan, wrong("--incast %d: it is how many nodes all others send to: write 1 or more", f.incast)
	}
	plan.Duration, plan.Warmup = duration, duration/10
	if f.maxRate != "" {
		if plan.MaxRate, err = result.ParseBitsPerSecond(f.maxRate); err != nil {
			return plan, wrong("--max-rate %s: %w", f.maxRate, err)
		}
	}
	return experiment.Complete(plan), nil
}

// mesh reaches the nodes, measures, and reports.
func (f *meshFlags) mesh(ctx context.Context, s streams, plan result.Plan, flags *pflag.FlagSet) (err error) {
	m := experiment.Meshing{Plan: plan, Tool: tool(), Save: func(*result.Result) error { return nil }}
	if f.resume != "" {
		if m.Resume, err = result.ReadFile(f.resume); err != nil {
			return &exitError{exitWrong, err}
		}
		if m.Resume.Mesh == nil {
			return wrong("%s: it is no mesh: name a result of tare mesh", f.resume)
		}
		m.Plan = m.Resume.Plan
		if f.out == "" {
			f.out = f.resume
		}
	}
	if err := f.checkFiles(); err != nil {
		return err
	}
	if f.out != "" {
		m.Save = func(res *result.Result) error { return res.WriteFile(f.out) }
	}
	progress := newProgress(s)
	defer progress.end()
	m.Progress = progress.show
	end, lost, err := f.reach(ctx, &m, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if m.Resume != nil {
		if err := same(m.Resume, m.Nodes); err != nil {
			return err
		}
	}
	if m.Incast = f.incast; m.Incast >= len(m.Nodes) {
		return wrong("--incast %d of %d nodes leaves nobody to send: choose fewer", m.Incast, len(m.Nodes))
	}
	m.Dense = f.dense || !flags.Changed("dense") && experiment.Apart(m.Nodes)
	res, err := experiment.Mesh(ctx, m)
	if res == nil {
		return err
	}
	for _, why := range lost {
		res.Warnings = append(res.Warnings, "unreached: "+result.Plain(why.Error()))
	}
	return errors.Join(err, f.print(s, res, m.Save))
}

// checkFiles checks before anything is measured that the files can be written.
func (f *meshFlags) checkFiles() error {
	if format, _ := report.FormatOf(f.page); f.page != "" && !format.Mesh {
		return wrong("--report %s: the file's name must end in .html", f.page)
	}
	if err := checkWritable(f.out, reportBytes); err != nil {
		return err
	}
	return checkWritable(f.page, reportBytes)
}

// print writes the result, for people or programs.
func (f *meshFlags) print(s streams, res *result.Result, save func(*result.Result) error) error {
	if err := save(res); err != nil {
		return err
	}
	if f.page != "" {
		if err := writeReport(s, []*result.Result{res}, reportFlags{out: f.page, lang: f.lang}); err != nil {
			return err
		}
	}
	if f.json {
		return res.Write(s.out)
	}
	shown := f.lang.shownOn(s.out, s.manner)
	if err := report.Terminal(s.out, res, shown); err != nil || f.out == "" && f.page == "" {
		return err
	}
	return report.Files(s.out, f.out, f.page, true, shown)
}

// reach reaches the nodes. end ends what it started; lost is why some are left out.
func (f *meshFlags) reach(ctx context.Context, m *experiment.Meshing, progress *progress) (end func() error, lost []error, err error) {
	groups, err := f.groupOf()
	if err != nil {
		return nil, nil, err
	}
	var names []string
	if f.lab != "" {
		end, names, err = f.joinLab(ctx, m)
	} else {
		end, names, lost, err = f.reachMachines(ctx, m, progress)
	}
	if err != nil {
		return nil, nil, err
	}
	for n := range m.Nodes {
		m.Nodes[n].Group = cmp.Or(groups[m.Nodes[n].Name], m.Nodes[n].Group)
		delete(groups, m.Nodes[n].Name)
	}
	for name := range groups {
		if !slices.Contains(names, name) {
			return nil, nil, errors.Join(&exitError{exitWrong, experiment.Unknown("node", name, names)}, end())
		}
	}
	for _, why := range lost {
		progress.say(result.Plain(why.Error()))
	}
	if n := len(m.Nodes); n < leastNodes {
		return nil, nil, errors.Join(wrong("%d nodes: a mesh has %d at least, since who is slow is found by comparing them: name more", n, leastNodes), end())
	}
	return end, lost, nil
}
