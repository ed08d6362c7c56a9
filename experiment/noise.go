package experiment

import (
	"fmt"
	"slices"
	"time"

	"tare/network"
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
	foreignSample  = 300 * time.Millisecond
	foreignMuch    = 0.25 // of one CPU, from which it is looked for again
	foreignLooks   = 4    // at most
	tickSeconds    = 0.02 // what a few ticks of the kernel's counters may be off
)

// gateBefore looks at the machine for a moment, before anything is measured
// and while this process idles.
func (r *runner) gateBefore() error {
	noise := &r.res.Noise
	if r.res.Environment.Emulated() {
		emulated := result.Emulated + ": QEMU translates this CPU's instructions: no time is a machine's, so nothing is ranked, and cells are measured in windows"
		r.gates, r.res.Warnings = append(r.gates, emulated), append(r.res.Warnings, emulated)
	}
	if r.elsewhere() {
		noise.Steal, noise.Pressure = -1, -1 // not known
		r.res.Warnings = append(r.res.Warnings, "noise: what else runs on the machines of the places is not looked at")
		return nil
	}
	start := time.Now()
	before, known, err := probe.CPUPressure("/")
	if err != nil {
		return err
	}
	if noise.ForeignCPU, err = lastingCPU(); err != nil {
		return err
	}
	noise.Pressure = -1
	if known {
		after, _, err := probe.CPUPressure("/")
		if err != nil {
			return err
		}
		noise.Pressure = float64(after-before) / float64(time.Since(start))
	}
	if noise.ForeignCPU > gateForeignCPU+tickSeconds/foreignSample.Seconds() {
		r.gates = append(r.gates, fmt.Sprintf("foreign-cpu: other work kept %.2f CPUs busy before the run", noise.ForeignCPU))
	}
	if noise.Pressure > gatePressure {
		r.gates = append(r.gates, fmt.Sprintf("pressure: tasks waited for a CPU %.0f %% of the time before the run", 100*noise.Pressure))
	}
	return r.stat.Read(&r.before)
}

// lastingCPU is how many CPUs other work keeps busy for longer than a moment: an
// engine may still be working for the previous command. If many are busy it
// measures again, and takes the least.
func lastingCPU() (cores float64, err error) {
	for look := range foreignLooks {
		busy, err := probe.ForeignCPU("/", foreignSample)
		if err != nil {
			return 0, err
		}
		if look == 0 || busy < cores {
			cores = busy
		}
		if cores < foreignMuch {
			break
		}
	}
	return cores, nil
}

// finishNoise reads what the hypervisor took during the run, and the daemons of
// other networks.
func (r *runner) finishNoise() {
	r.res.Noise.Daemons = r.daemons.result()
	if used := r.res.Noise.Daemons; used != nil && used.CPU > gateDaemons {
		r.gates = append(r.gates, fmt.Sprintf("daemons: those of other networks kept %.2f CPUs busy", used.CPU))
	}
	if r.elsewhere() {
		return
	}
	var now probe.CPU
	if err := r.stat.Read(&now); err != nil {
		r.res.Warnings = append(r.res.Warnings, err.Error())
		return
	}
	spent := now.Since(r.before)
	if spent.Total > 0 {
		r.res.Noise.Steal = float64(spent.Steal / spent.Total)
	}
	if r.res.Noise.Steal > gateSteal {
		r.gates = append(r.gates, fmt.Sprintf("steal: the hypervisor took %.1f %% of the CPU time", 100*r.res.Noise.Steal))
	}
}

// warningsFor are what affects every number of a cell: the gates, those of its
// hosts (the first of a baseline's two), and what its samples reported.
func (r *runner) warningsFor(cell *result.Cell) []string {
	warnings := slices.Clone(r.gates)
	warnings = append(warnings, r.warned[cell.Clusters[0]]...)
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

// preciseEnough reports whether a plan with a precision may stop: the headline
// toll of every cell has an interval no wider than asked for, to each side.
func (r *runner) preciseEnough(blocks int) bool {
	if r.plan.Precision <= 0 || blocks < leastBlocks {
		return false
	}
	for _, cell := range r.res.Cells {
		if cell.Status != result.StatusOK || cell.Network == network.Baseline && len(r.groups[0].places) > 2 {
			continue
		}
		m := weigh.Headline(&cell)
		if m == nil || m.Toll == nil || m.Toll.Low == nil || (*m.Toll.High-*m.Toll.Low)/2 > r.plan.Precision {
			return false
		}
	}
	return true
}

// wholeEnough reports whether a run that ends with so many whole blocks has them.
func (r *runner) wholeEnough() bool {
	if r.whole == 0 {
		return false
	}
	var cells []*result.Cell
	for _, key := range r.order {
		cells = append(cells, r.cells[key])
	}
	return weigh.WholeBlocks(weigh.GroupsOf(cells)) >= r.whole
}
