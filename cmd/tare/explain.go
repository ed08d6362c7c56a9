package main

import (
	"context"
	"errors"
	"time"

	"tare/diagnose"
	"tare/experiment"
	"tare/result"
	"tare/site"
)

// explain names the causes of a result's tolls and, while their lab exists, why
// paths carry no packets.
func explain(ctx context.Context, l *site.Lab, res *result.Result, labName string) error {
	diagnose.Weigh(res, labName)
	known := map[experiment.Pair][]result.Finding{}
	var errs []error
	for n := range res.Cells {
		cell := &res.Cells[n]
		pair, broken := brokenPath(l.Topology, cell)
		if !broken {
			continue
		}
		if _, looked := known[pair]; !looked {
			found, err := examinePath(ctx, l, pair, labName, res.Plan.Axes.Word("cc"))
			known[pair], errs = found, append(errs, err)
		}
		cell.Findings = append(cell.Findings, known[pair]...)
	}
	return errors.Join(errs...)
}

// brokenPath gives the ends of a cell that failed although its network was set up.
// A path from a host to itself has nothing on it that could be broken.
func brokenPath(t site.Topology, cell *result.Cell) (experiment.Pair, bool) {
	for _, built := range t.Clusters {
		ends, served := built.Paths[cell.Path]
		if cell.Status == result.StatusFailed && served && ends.Client != ends.Server && built.Error == "" && len(cell.Clusters) > 0 && built.Name == cell.Clusters[0] {
			return experiment.Pair{From: built.Name + "." + ends.Client, To: built.Name + "." + ends.Server, Path: cell.Path}, true
		}
	}
	return experiment.Pair{}, false
}

func examinePath(ctx context.Context, l *site.Lab, pair experiment.Pair, labName, cc string) ([]result.Finding, error) {
	all, err := experiment.Examine(ctx, l, l.Topology, experiment.Asked{Pair: &pair})
	if err != nil {
		return nil, err
	}
	var found []result.Finding
	for _, one := range all {
		found = append(found, diagnose.Find(&diagnose.Evidence{
			Examination: one, Lab: labName, Prefix: l.Topology.Prefix(one.Cluster), CC: cc,
		})...)
	}
	return found, nil
}

// contrast measures besides what divides the tolls of a result further, in a second lab
// next to its own. took is how long the result was measured. What fails there is a
// warning: the result is whole without.
func (f runFlags) contrast(ctx context.Context, l *site.Lab, res *result.Result, took time.Duration, progress *progress) error {
	if limit := res.Plan.MaxTime.Duration(); limit > 0 {
		took = min(took, limit-took)
	}
	c, due := experiment.ContrastOf(res, l.Topology, f.labName != "", took)
	if !due {
		return nil
	}
	progress.print("measuring besides what divides the tolls")
	shown, err := besides(ctx, l, c, progress)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		res.Warnings = append(res.Warnings, "contrast: the tolls are not divided further: "+err.Error())
		return nil
	}
	diagnose.Divide(res, shown, f.labName)
	return nil
}

func besides(ctx context.Context, l *site.Lab, c experiment.Contrast, progress *progress) (shown *result.Result, err error) {
	beside, err := site.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, beside.Close()) }()
	if err := beside.Build(ctx, c.Spec); err != nil {
		return nil, err
	}
	labs := site.Together{l, beside}
	return c.Run(ctx, experiment.Options{
		Site: labs, Topology: labs.Topology(), Tool: tool(), Save: func(*result.Result) error { return nil }, Progress: progress.show,
	})
}
