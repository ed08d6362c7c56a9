package workload

import "context"

// lifecycle makes containers without a network and removes them.
func lifecycle() Workload {
	return Workload{
		Cycle: func(ctx context.Context, run Run, a Attacher) (Tally, error) {
			all, err := metered(ctx, run, a.Lifecycle)
			if err != nil {
				return Tally{}, err
			}
			return all.tally(), nil
		},
	}
}
