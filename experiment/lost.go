package experiment

import (
	"context"

	"tare/catalog"
	"tare/result"
)

// loser is a site that can report the clusters whose network no longer is what is weighed.
type loser interface {
	Lost(ctx context.Context) (map[string]string, error)
}

// lost are the clusters that have lost what they were to be weighed with, and why.
func (c *conductor) lost(ctx context.Context) (map[string]string, error) {
	l, can := c.site.(loser)
	if !can || !carriesPassengers(c.plan) {
		return nil, nil
	}
	return l.Lost(ctx)
}

// lose fails the cells of clusters that are lost. What was measured of them until now is no
// sample: nobody knows since when.
func (r *recorder) lose(lost map[string]string) {
	for n, g := range r.groups {
		for _, p := range g.places {
			cell := r.cells[keyOf(n, p)]
			if why, is := lost[p.cluster]; is && cell.Status == result.StatusOK {
				cell.Status, cell.Reason, cell.Samples = result.StatusFailed, why, nil
			}
		}
	}
}

// carriesPassengers reports whether a network of the plan has a passenger.
func carriesPassengers(p result.Plan) bool {
	for _, n := range p.Networks {
		if n.Params.Map()[catalog.With] != "" {
			return true
		}
	}
	return false
}
