package diagnose

import (
	"fmt"

	"tare/result"
)

const (
	migrationsPerSecond = 5.0 // from which a thread counts as one that migrates
	// migrationCost is what a thread loses by one change of its CPU, in seconds: its caches are
	// cold, and it waits to be scheduled there. It is an assumption, of about the right size.
	migrationCost = 20e-6
	spread        = 0.05 // between windows, relative, from which that affects the result
	foreignCPUs   = 0.5  // CPUs busy with other work, from which they affect the result
)

// coreMigration finds threads that move between CPUs.
func coreMigration() Rule {
	return Rule{
		ID: "core-migration", Models: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			seconds := e.seconds()
			for _, at := range []string{e.Client, e.Server} {
				moved := e.counted(at, "/proc/self/task/*/sched", "migrations")
				if seconds == 0 || moved/seconds < migrationsPerSecond || e.varies() < spread {
					continue
				}
				lost := migrationCost * moved / seconds
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("the threads in %s changed their CPU %.0f times per second, and windows differ by %.0f %%: at about %.0f us for each (assumed, not measured) that is %.2g %% of the time",
						at, moved/seconds, 100*e.varies(), 1e6*migrationCost, 100*lost),
					Evidence: []result.Evidence{
						seen("migrations", moved, at, "/proc/self/task/*/sched"),
						{Name: "seconds that a migration costs", Value: migrationCost, Source: "an assumption, not measured"},
						{Name: "relative spread of the windows", Value: e.varies(), Source: "this result"},
					},
					Fix:        "taskset -c CPU COMMAND  # in a lab: tare run --pin apart",
					Confidence: 0.8, Share: e.ofTime(lost),
				})
			}
			return found
		},
	}
}

// seconds is how long a cell was measured in total, warm-ups included.
func (e *Evidence) seconds() float64 {
	return float64(len(e.Cell.Samples)) * (e.Cell.Params.Number("duration") + e.Cell.Params.Number("warmup"))
}

// headline is the mean of the cell's first metric over its windows.
func (e *Evidence) headline() float64 {
	if len(e.Cell.Metrics) == 0 {
		return 0
	}
	var sum float64
	for _, s := range e.Cell.Samples {
		sum += s.Metrics[e.Cell.Metrics[0].Name]
	}
	return sum / max(1, float64(len(e.Cell.Samples)))
}

// varies is the mean relative distance of the windows' headline from its mean.
func (e *Evidence) varies() float64 {
	if len(e.Cell.Metrics) == 0 {
		return 0
	}
	name := e.Cell.Metrics[0].Name
	var sum, off float64
	for _, s := range e.Cell.Samples {
		sum += s.Metrics[name]
	}
	mean := sum / max(1, float64(len(e.Cell.Samples)))
	for _, s := range e.Cell.Samples {
		off += max(s.Metrics[name]-mean, mean-s.Metrics[name])
	}
	if sum == 0 {
		return 0
	}
	return off / sum
}

// noisyNeighbour finds a machine whose CPUs do other work too.
func noisyNeighbour() Rule {
	return Rule{
		ID: "noisy-neighbour",
		Match: func(e *Evidence) []result.Finding {
			if e.Noise.ForeignCPU < foreignCPUs {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("other work kept %.1f CPUs of the machine busy before the run", e.Noise.ForeignCPU),
				Evidence: []result.Evidence{
					{Name: "foreign_cpu", Value: e.Noise.ForeignCPU, Source: "/proc/stat"},
					{Name: "pressure", Value: e.Noise.Pressure, Source: "/proc/pressure/cpu"},
				},
				Fix:        "top -b -n 1 -o %CPU | head -12  # then stop it, or bind it to CPUs that the lab does not use",
				Confidence: 0.75, // which of the numbers it affected is unknown
			}}
		},
	}
}
