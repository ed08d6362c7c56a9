package experiment

import (
	"slices"

	"tare/catalog"
	"tare/result"
)

// Sweepable names what a plan may sweep: the parameters of networks that are numbers, how
// much a workload sends at a time and in how many flows, the links between hosts, and the CPUs of each host.
func Sweepable() []string {
	all := result.Names(SweptParams(), func(p catalog.Param) string { return p.Name })
	return append(append(all, SweptWorkloads()...), result.Names(SweptAxes(), func(a result.Axis) string { return a.Name })...)
}

// SweptAxes are the axes of a lab that can be swept.
func SweptAxes() []result.Axis {
	return slices.DeleteFunc(result.PlannedAxes(), func(a result.Axis) bool { return a.Most == 0 || !a.Many })
}

// SweptParams are the parameters of networks that can be swept.
func SweptParams() []catalog.Param {
	return slices.DeleteFunc(catalog.Params(), func(p catalog.Param) bool { return p.Most == 0 || !p.List })
}

// SweptWorkloads are the axes of workloads that can be swept.
func SweptWorkloads() []string { return []string{"flows", "size", "connections", "workers"} }

// checkSweep refuses a plan that sweeps what can't be swept.
func checkSweep(p result.Plan) error {
	if p.Sweep != "" && !slices.Contains(Sweepable(), p.Sweep) {
		return Unknown("sweep", p.Sweep, Sweepable())
	}
	return nil
}
