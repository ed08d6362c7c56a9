package experiment

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"tare/agent"
	"tare/result"
	"tare/weigh"
	"tare/workload"
)

// Single is one run against a tare serve, without a lab around it: nothing is
// set up, weighed or repeated.
type Single struct {
	To       netip.AddrPort
	Secret   string // the server's token
	Workload result.WorkloadPlan
	Warmup   result.Seconds
	Duration result.Seconds
	Interval time.Duration // of the series; zero: as in every run
	Pin      string        // CPUs of this end, as given; recorded
	Path     string        // of http: the server is any, and this is what it is asked for
	Host     string        // of http: the name that requests are for
}

// Plan is the run as a plan, which Check can look at.
func (s Single) Plan() result.Plan {
	return result.Plan{
		Networks: []result.NetworkPlan{}, Paths: []string{}, Workloads: []result.WorkloadPlan{s.Workload},
		Axes: result.PlanAxes{}.With("cc", s.Workload.CC), Blocks: 1, Warmup: s.Warmup, Duration: s.Duration,
	}
}

// Check reports what is wrong with the run: an *InputError.
func (s Single) Check() error {
	if err := checkWorkload(s.Workload); err != nil {
		return err
	}
	kind, _ := workload.Find(s.Workload.Name)
	switch {
	case kind.Send == nil:
		return &InputError{fmt.Sprintf("workload %s: it makes containers, which takes a lab: tare run --workloads %s", kind.Name, kind.Name)}
	case kind.Serve == nil:
		return &InputError{fmt.Sprintf("workload %s: only real servers serve it: tare run --workloads %s starts one", kind.Name, kind.Name)}
	}
	return checkBounds(windowBounds(s.Plan()))
}

// Run does the run. The result holds one cell, of no network and no path: what
// connects the two ends is not known here. A run that failed is a failed cell.
func (s Single) Run(ctx context.Context, tool result.Tool, env result.Environment) (*result.Result, error) {
	plan := s.Plan()
	run := runOf(plan, s.Workload)
	if s.Interval > 0 {
		run.Interval = s.Interval
	}
	var err error
	if run.Token, err = workload.NewToken(); err != nil {
		return nil, err
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	res := &result.Result{
		Schema: result.Schema, ID: id, Tool: tool, Plan: plan, Environment: env,
		Started: time.Now().UTC().Format(time.RFC3339), Findings: []result.Finding{}, Warnings: []string{},
		Noise: result.Noise{AA: []result.AA{}},
	}
	cell := result.Cell{
		Workload: s.Workload.Name, Mode: run.Mode, Status: result.StatusOK,
		Samples: []result.Sample{}, Findings: []result.Finding{}, Metrics: []result.Metric{},
		Params: result.Params{"warmup": float64(plan.Warmup), "duration": float64(plan.Duration)},
	}
	addRun(cell.Params, s.Workload.Name, run)
	if s.Pin != "" {
		cell.Params["pin"] = s.Pin
	}
	out, err := s.drive(ctx, run, tool)
	if err != nil {
		cell.Status, cell.Reason = result.StatusFailed, err.Error()
	} else {
		cell.Samples = append(cell.Samples, out.Sample())
		if cc := out.CC(); cc != "" {
			cell.Params["cc"] = cc
		}
	}
	for _, m := range weigh.Unweighed(&cell) {
		m.Warnings = append(append(m.Warnings, cell.Samples[0].Warnings...), testerLimited(&cell)...)
		cell.Metrics = append(cell.Metrics, m)
	}
	res.Finished = time.Now().UTC().Format(time.RFC3339)
	res.Cells = []result.Cell{cell}
	return res, ctx.Err()
}

// drive does the run, against a tare serve or against a server of HTTP.
func (s Single) drive(ctx context.Context, run workload.Run, tool result.Tool) (agent.Outcome, error) {
	if s.Path == "" {
		return agent.Caller{Secret: s.Secret, Version: tool.Version}.Call(ctx, s.To, s.Workload.Name, run)
	}
	run.Path, run.Host = s.Path, s.Host
	return agent.Ask(ctx, s.To, s.Workload.Name, run)
}
