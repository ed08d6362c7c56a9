package workload

import "context"

// lifecycle makes containers without a network and removes them.
func lifecycle() Workload {
	return Workload{
		Name: "lifecycle", Doc: "create, start and delete containers without a network: an engine's rate",
		Modes: []string{closedLoop}, Camel: "Lifecycle", Headline: "rate", Work: PerTransaction, Flows: mostWorkers, FlowsDefault: []int{1, 10}, Pathless: true,
		Cycle: func(ctx context.Context, run Run, a Attacher) (Tally, error) {
			all, err := metered(ctx, run, a.Lifecycle)
			if err != nil {
				return Tally{}, err
			}
			return all.tally(), nil
		},
	}
}
