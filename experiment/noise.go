package experiment

import (
	"fmt"
	"maps"
	"slices"

	"tare/probe"
	"tare/result"
	"tare/weigh"
	"tare/workload"
)

// The noise gates: beyond them every number carries a warning.
const (
	gateSteal      = 0.01 // of all CPU time
	gateForeignCPU = 0.05 // of one CPU
	gateDaemons    = 0.05 // of one CPU, of networks that are not measured
	gatePressure   = 0.05 // of the time some task waited for a CPU (PSI)
)

// here is the name of this machine among those of a run.
const here = ""

// on is where something is, for a message.
func on(machine string) string {
	if machine == here {
		return ""
	}
	return " on the machine of " + machine
}

// gate looks at how busy the machines are before anything is measured and while this
// process idles.
func (r *recorder) gate(loads map[string]probe.Load) {
	noise := &r.res.Noise
	if r.res.Environment.Emulated() {
		emulated := result.Emulated + ": QEMU translates this CPU's instructions: no time is a machine's, so nothing is ranked, and cells are measured in windows"
		r.gates = append(r.gates, emulated)
		r.warn(emulated)
	}
	noise.Pressure = -1
	r.before = loads
	for _, name := range slices.Sorted(maps.Keys(loads)) {
		load := loads[name]
		noise.ForeignCPU, noise.Pressure = max(noise.ForeignCPU, load.ForeignCPU), max(noise.Pressure, load.Pressure)
		if load.ForeignCPU > gateForeignCPU+probe.LoadError() {
			r.gates = append(r.gates, fmt.Sprintf("foreign-cpu: other work kept %.2f CPUs busy before the run%s", load.ForeignCPU, on(name)))
		}
		if load.Pressure > gatePressure {
			r.gates = append(r.gates, fmt.Sprintf("pressure: tasks waited for a CPU %.0f %% of the time before the run%s", 100*load.Pressure, on(name)))
		}
	}
}

// yieldCPUs is how many CPUs more than before the run others must keep busy for it to end.
const yieldCPUs = 0.5

// wantedByOthers reports, after a block, whether others need a machine and the run shall end.
func (r *recorder) wantedByOthers(loads map[string]probe.Load, blocks int) bool {
	for _, name := range slices.Sorted(maps.Keys(loads)) {
		if now, then := loads[name].ForeignCPU, r.before[name].ForeignCPU; now > then+yieldCPUs {
			r.warn(fmt.Sprintf("yield: stopped after %d of %d blocks: other work keeps %.1f CPUs busy%s, before the run %.1f",
				blocks, r.plan.Blocks, now, on(name), then))
			return true
		}
	}
	return false
}

// disturbed keeps what hypervisors took during the run, and the daemons of other networks. err is
// why the first is not known.
func (r *recorder) disturbed(daemons *result.Daemons, times map[string]probe.CPUTimes, err error) {
	r.res.Noise.Daemons = daemons
	if daemons != nil && daemons.CPU > gateDaemons {
		r.gates = append(r.gates, fmt.Sprintf("daemons: those of other networks kept %.2f CPUs busy", daemons.CPU))
	}
	if err != nil {
		r.res.Noise.Steal = -1 // not known
		r.warn("noise: what hypervisors took is not known: " + err.Error())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		spent := times[name].Since(r.before[name].CPU)
		if spent.Total <= 0 {
			continue
		}
		steal := float64(spent.Steal / spent.Total)
		r.res.Noise.Steal = max(r.res.Noise.Steal, steal)
		if steal > gateSteal {
			r.gates = append(r.gates, fmt.Sprintf("steal: the hypervisor took %.1f %% of the CPU time%s", 100*steal, on(name)))
		}
	}
}

// warningsFor are what affects every number of a cell: the gates, those of its
// hosts (the first of a baseline's two), and what its samples reported.
func (r *recorder) warningsFor(cell *result.Cell) []string {
	warnings := slices.Clone(r.gates)
	warnings = append(warnings, r.built[cell.Clusters[0]].Warnings...)
	warnings = append(warnings, r.missed[cell]...)
	counted := map[string]int{}
	for _, s := range cell.Samples {
		for _, w := range s.Warnings {
			if counted[w]++; counted[w] == 1 {
				warnings = append(warnings, w)
			}
		}
	}
	return append(warnings, testerLimited(cell)...)
}

// saturated is the share of its windows from which a data thread that is on
// its CPU sets the number.
const saturated = 0.95

// testerLimited warns of a cell whose measuring thread was saturated in most of
// its windows.
func testerLimited(cell *result.Cell) []string {
	var busy []float64
	for _, s := range cell.Samples {
		if share, counted := s.Counters[workload.ThreadBusy]; counted {
			busy = append(busy, share)
		}
	}
	slices.Sort(busy)
	if len(busy) == 0 || busy[len(busy)/2] < saturated {
		return nil
	}
	return []string{"tester-limited: the thread that measures was on its CPU nearly all the time: the path may carry more"}
}

// whole is how many blocks give every cell a toll.
func (r *recorder) whole() int {
	var cells []*result.Cell
	for _, key := range r.order {
		cells = append(cells, r.cells[key])
	}
	return weigh.WholeBlocks(weigh.GroupsOf(cells))
}
