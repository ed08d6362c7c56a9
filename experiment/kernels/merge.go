package kernels

import (
	"maps"
	"slices"

	"tare/result"
	"tare/weigh"
)

// axis is the parameter that says on which kernel a cell was measured.
const axis = "kernel"

// merge is one result of all machines; nil: none has any.
func merge(plan result.Plan, seats []*seat, tool result.Tool) *result.Result {
	k := &result.Kernels{Machines: []result.KernelMachine{}, Twin: []result.Cell{}}
	merged := &result.Result{Schema: result.Schema, Tool: tool, Plan: plan, Kernels: k, Comparisons: compared(seats)}
	for n, s := range seats {
		m := result.KernelMachine{Image: s.Image, Release: s.Release, Accelerator: s.Accelerator}
		switch {
		case s.res == nil:
			m.Reason = "its machine gave no result"
		case n == twin:
			m.Environment, k.Twin = s.res.Environment, onKernel(s.res.Cells, s.Release)
		default:
			m.Environment = s.res.Environment
			add(merged, s.res, s.Release)
		}
		k.Machines = append(k.Machines, m)
	}
	if len(merged.Cells) == 0 {
		return nil
	}
	merged.SetGroups()
	return merged
}

// compared compares each other kernel with the first. The cells have no kernel yet, so that
// they are alike.
func compared(seats []*seat) []result.Comparison {
	all := []result.Comparison{}
	none := &result.Result{}
	one, again := seats[first].res, none
	if one == nil {
		return all
	}
	if seats[twin].res != nil {
		again = seats[twin].res
	}
	for _, s := range seats[twin+1:] {
		if s.res != nil {
			all = append(all, weigh.Kernels(one, again, s.res, s.Release, seats[first].Release))
		}
	}
	return all
}

// add adds what a machine measured to a result.
func add(to, one *result.Result, release string) {
	if to.ID == "" {
		to.ID, to.Environment, to.States, to.Unread = one.ID, one.Environment, one.States, one.Unread
		to.Plan.Design, to.Plan.Duration, to.Plan.Warmup = one.Plan.Design, one.Plan.Duration, one.Plan.Warmup // as it was measured
		to.Noise.Pressure = one.Noise.Pressure
	} else {
		to.Environment.Kernel += ", " + release
	}
	to.Cells = append(to.Cells, onKernel(one.Cells, release)...)
	for _, f := range one.Findings {
		if !slices.ContainsFunc(to.Findings, func(other result.Finding) bool { return other.ID == f.ID && other.Cause == f.Cause }) {
			to.Findings = append(to.Findings, f)
		}
	}
	for _, w := range one.Warnings {
		to.Warnings = result.AddOnce(to.Warnings, w)
	}
	for _, left := range one.Plan.Skipped {
		left.Reason = "kernel " + release + ": " + left.Reason
		to.Plan.Skipped = append(to.Plan.Skipped, left)
	}
	for _, aa := range one.Noise.AA {
		aa.Params = withKernel(aa.Params, release)
		to.Noise.AA = append(to.Noise.AA, aa)
	}
	for _, c := range one.Noise.CarryOver {
		c.Params = withKernel(c.Params, release)
		to.Noise.CarryOver = append(to.Noise.CarryOver, c)
	}
	to.Noise.Steal = max(to.Noise.Steal, one.Noise.Steal)
	to.Noise.Pressure = max(to.Noise.Pressure, one.Noise.Pressure)
	to.Noise.ForeignCPU = max(to.Noise.ForeignCPU, one.Noise.ForeignCPU)
}

// onKernel are cells with the kernel that they were measured on. Their groups follow from it.
func onKernel(cells []result.Cell, release string) []result.Cell {
	cells = slices.Clone(cells)
	for n := range cells {
		cells[n].Params, cells[n].Group = withKernel(cells[n].Params, release), ""
	}
	return cells
}

func withKernel(p result.Params, release string) result.Params {
	p = maps.Clone(p)
	if p == nil {
		p = result.Params{}
	}
	p[axis] = release
	return p
}
