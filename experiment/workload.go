package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/workload"
)

// checkWorkload reports what is wrong with the parameters of a workload.
func checkWorkload(w result.WorkloadPlan) error {
	kind, known := workload.Find(w.Name)
	if !known {
		return Unknown("workload", w.Name, Workloads(), catalog.WorkloadsCalled(w.Name)...)
	}
	if w.Mode != "" && !slices.Contains(kind.Modes, w.Mode) {
		return Unknown("mode of "+w.Name, w.Mode, kind.Modes)
	}
	if w.Flows < 0 || w.Flows > kind.Flows {
		return &InputError{fmt.Sprintf("flows %d of %s: it must be from 1 to %d", w.Flows, w.Name, kind.Flows)}
	}
	if w.Flows > 1 && workload.SendsFrames(w.Mode) {
		return &InputError{fmt.Sprintf("flows %d of %s: mode %s has one: leave flows out", w.Flows, w.Name, w.Mode)}
	}
	if w.Size != 0 && kind.Sizes != "" {
		return &InputError{fmt.Sprintf("size %d of %s: it visits many: name them as sizes, as in %s", w.Size, w.Name, kind.Sizes)}
	}
	if w.Size != 0 && kind.Size.Most == 0 {
		return &InputError{fmt.Sprintf("size %d of %s: it has none: leave it out", w.Size, w.Name)}
	}
	if w.Size != 0 && (w.Size < kind.Size.Least || w.Size > kind.Size.Most) {
		return &InputError{fmt.Sprintf("size %d of %s: it must be from %d to %d bytes", w.Size, w.Name, kind.Size.Least, kind.Size.Most)}
	}
	if w.Sizes != "" {
		if err := checkSizes(w, kind.Size); err != nil {
			return err
		}
	}
	if err := checkRate(w, kind); err != nil {
		return err
	}
	if err := checkEquipment(w, kind); err != nil {
		return err
	}
	return checkExtras(w, kind)
}

func checkSizes(w result.WorkloadPlan, b catalog.Bounds) error {
	sizes, err := result.ParseSizes(w.Sizes)
	if err != nil {
		return &InputError{fmt.Sprintf("sizes of %s: %v", w.Name, err)}
	}
	if sizes[0] < b.Least || sizes[len(sizes)-1] > b.Most {
		return &InputError{fmt.Sprintf("sizes %s of %s: they must be from %d to %d bytes", w.Sizes, w.Name, b.Least, b.Most)}
	}
	return nil
}

func checkRate(w result.WorkloadPlan, kind workload.Workload) error {
	switch {
	case w.Rate.Value == 0:
		return nil
	case w.Rate.Value < 0:
		return &InputError{fmt.Sprintf("rate %v of %s: it must be above zero", w.Rate, w.Name)}
	case kind.RateUnit == "":
		return &InputError{fmt.Sprintf("rate of %s: it sends as fast as it can: only %s take a rate", w.Name, strings.Join(takers(func(k workload.Workload) bool { return k.RateUnit != "" }), ", "))}
	case w.Rate.Unit != "" && w.Rate.Unit != kind.RateUnit:
		example := map[string]string{catalog.PayloadBits: "100mbit", catalog.PerSecond: "5000/s"}[kind.RateUnit]
		return &InputError{fmt.Sprintf("rate %v of %s: its rate is in %s: write it as %s", w.Rate, w.Name, kind.RateUnit, example)}
	}
	return nil
}

// checkExtras refuses parameters that the workload would ignore.
func checkExtras(w result.WorkloadPlan, kind workload.Workload) error {
	for _, one := range []struct {
		extra catalog.Extra
		asked bool
	}{
		{catalog.TakesSizes, w.Sizes != ""}, {catalog.TakesBytes, w.Bytes != 0}, {catalog.TakesReverse, w.Reverse},
		{catalog.TakesBidir, w.Bidir}, {catalog.TakesCC, w.CC != ""},
	} {
		if one.asked && !slices.Contains(kind.Takes, one.extra) {
			who := takers(func(k workload.Workload) bool { return slices.Contains(k.Takes, one.extra) })
			return &InputError{fmt.Sprintf("%s of %s: it does not take it: only %s", one.extra, w.Name, strings.Join(who, ", "))}
		}
	}
	if w.Bytes < 0 {
		return &InputError{fmt.Sprintf("bytes %d of %s: it must be above zero", w.Bytes, w.Name)}
	}
	if w.Reverse && w.Bidir {
		return &InputError{"reverse and bidir of " + w.Name + ": both ends send with bidir: leave reverse out"}
	}
	return nil
}

// takers are the workloads that take something.
func takers(takes func(workload.Workload) bool) []string {
	var names []string
	for _, kind := range workload.All() {
		if takes(kind) {
			names = append(names, kind.Name)
		}
	}
	return names
}

// flowsDefault is how many flows a workload has by default.
func flowsDefault(kind workload.Workload) []int {
	if len(kind.FlowsDefault) > 0 {
		return kind.FlowsDefault
	}
	return []int{1}
}

// runOf is the run that a workload's checked plan asks for, its defaults
// filled in.
func runOf(p result.Plan, w result.WorkloadPlan) workload.Run {
	kind, known := workload.Find(w.Name)
	if !known {
		return workload.Run{}
	}
	mode := cmp.Or(w.Mode, kind.Modes[0])
	run := workload.Run{
		Mode: mode, Flows: cmp.Or(w.Flows, flowsDefault(kind)[0]), Size: cmp.Or(w.Size, kind.DefaultSize(mode)),
		Rate: cmp.Or(w.Rate.Value, kind.Rate), Warmup: p.Warmup.Duration(), Duration: p.Duration.Duration(),
		Bytes: w.Bytes, Reverse: w.Reverse, Bidir: w.Bidir, CC: w.CC, Server: notOurs(w.Server), Tool: notOurs(w.Tool),
	}
	if tool, has := kind.FindTool(run.Tool); has && tool.Least != nil {
		run.Duration = max(run.Duration, tool.Least(run.Flows))
	}
	if spec := cmp.Or(w.Sizes, kind.Sizes); spec != "" {
		run.Sizes, _ = result.ParseSizes(spec) // checked; those of the table are tested
	}
	if run.Duration >= 2*seriesStep {
		run.Interval = seriesStep
	}
	return run
}

// atOnce is what a cell's parameters call a workload's flows.
func atOnce(name string) string {
	kind, _ := workload.Find(name)
	switch {
	case kind.Application():
		return "connections"
	case kind.Cycle != nil:
		return "workers"
	}
	return "flows"
}

// addRun adds what a run of a workload was asked for to a cell's parameters. What belongs to
// few workloads is there only where it was asked for.
func addRun(values result.Params, name string, run workload.Run) {
	values[atOnce(name)] = run.Flows
	if kind, _ := workload.Find(name); kind.Cycle != nil {
		delete(values, "warmup") // it has none
	}
	if run.Size > 0 {
		values["size"] = run.Size
	}
	if run.Rate > 0 {
		values["rate"] = run.Rate
	}
	if len(run.Sizes) > 0 {
		values["sizes"] = run.Sizes
	}
	if run.Bytes > 0 {
		values["bytes"] = run.Bytes
	}
	if run.Reverse {
		values["reverse"] = true
	}
	if run.Bidir {
		values["bidir"] = true
	}
	if run.CC != "" {
		values["cc"] = run.CC
	}
}
