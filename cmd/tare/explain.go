package main

import (
	"context"
	"errors"

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
			found, err := examinePath(ctx, l, pair, labName, res.Plan.CC)
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
	all, err := experiment.Examine(ctx, l, l.Topology, &pair)
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
