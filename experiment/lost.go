package experiment

import (
	"context"

	"tare/network"
	"tare/result"
)

// loser is a site that can report the clusters whose network no longer is what is weighed.
type loser interface {
	Lost(ctx context.Context) (map[string]string, error)
}

// checkLost fails the cells of networks that have lost what they were to be weighed with. What
// was measured of them until now is no sample: nobody knows since when.
func (r *runner) checkLost(ctx context.Context) error {
	l, can := r.Site.(loser)
	if !can || !carriesPassengers(r.plan) {
		return nil
	}
	lost, err := l.Lost(ctx)
	if err != nil {
		return err
	}
	for n, g := range r.groups {
		for _, p := range g.places {
			cell := r.cells[keyOf(n, p)]
			if why, is := lost[p.cluster]; is && cell.Status == result.StatusOK {
				cell.Status, cell.Reason, cell.Samples = result.StatusFailed, why, nil
			}
		}
	}
	return nil
}

// carriesPassengers reports whether a network of the plan has a passenger.
func carriesPassengers(p result.Plan) bool {
	for _, n := range p.Networks {
		if n.Params.Map()[network.With] != "" {
			return true
		}
	}
	return false
}
