package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
	"tare/stats"
	"tare/wire"
	"tare/workload"
)

const (
	// quickBlocks is how many blocks the quick plan has.
	quickBlocks = 10
	// longestOnLink is how long a window is at most that a slow link asks for.
	longestOnLink = 10.0
	// precisionCap is how many blocks a plan with a precision may take.
	precisionCap = 60
	// framesPerWindow steadies a window on a link: fewer full frames, and the
	// last burst of a window's edge would show.
	framesPerWindow = 6000
	// trips is how many round trips a window has at least: TCP finds the rate of a long
	// path in some ten.
	trips = 50
)

// Whether arriving packets are steered to the host's own CPUs.
const (
	rpsOn  = "on"
	rpsOff = "off"
)

// Quick is the plan of `tare run` without arguments.
func Quick() result.Plan {
	return result.Plan{
		Name:      "quick",
		Networks:  result.NetworksNamed(Plain()...),
		Paths:     catalog.Paths(),
		Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}, {Name: "tcp_rr"}},
		Axes:      result.DefaultAxes(),
		EncapNIC:  []string{string(lab.NICTSO)},
		Blocks:    quickBlocks,
		Margin:    stats.DeclaredMargin,
		Design:    result.DesignSlots,
		Looks:     true,
	}
}

// Everything names every network.
func Everything() []string {
	return result.Names(kinds.All(), func(n network.Network) string { return n.Name })
}

// Plain names every network that needs only the kernel.
func Plain() []string {
	var names []string
	for _, n := range kinds.All() {
		if len(n.Needs) == 0 {
			names = append(names, n.Name)
		}
	}
	return names
}

// Workloads names every workload.
func Workloads() []string {
	return result.Names(workload.All(), func(w workload.Workload) string { return w.Name })
}

// Complete fills in what the plan leaves open from the quick plan, and the
// window from the number of cells. It does not look at the machine.
func Complete(p result.Plan) result.Plan {
	quick := Quick()
	if len(p.Networks) == 0 {
		p.Networks = quick.Networks
	}
	if len(p.Paths) == 0 {
		p.Paths = quick.Paths
	}
	if len(p.Workloads) == 0 {
		p.Workloads = quick.Workloads
	}
	p.Workloads = completeWorkloads(p.Workloads)
	p = withBaseline(p)
	p.Axes = p.Axes.Completed()
	if p.Axes.Linked() { // a link counts each wire frame, so it implies frames
		p.Axes, p.EncapNIC = p.Axes.With("nic", string(lab.NICFrames)), nil
	}
	p = withVersions(p)
	p.Margin = cmp.Or(p.Margin, quick.Margin)
	p.Design = cmp.Or(p.Design, quick.Design)
	return budgeted(p)
}

// Segments reports whether a workload of the plan sends more in one write than fits
// into a segment: other workloads are the same to every interface.
func Segments(p result.Plan) bool {
	room := wire.InnerMTU(largestMTU(p), wire.VXLAN()) - segmentHeaders(wire.IPv4) - answerHeaders
	return slices.ContainsFunc(p.Workloads, func(w result.WorkloadPlan) bool {
		kind, _ := workload.Find(w.Name)
		return kind.Cycle == nil && (!kind.Application() || cmp.Or(w.Size, kind.Size.Default) > room)
	})
}

// largestMTU is the largest of a plan's links, in bytes.
func largestMTU(p result.Plan) int { return int(slices.Max(p.Axes.Completed().Numbers("mtu"))) }

// answerHeaders is more than those of a server's answer take, in bytes.
const answerHeaders = 300

// completeWorkloads gives a workload that is measured with several numbers of
// connections a place for each, and every application the layer-4 workloads
// from which the share of its toll that its packets explain is computed.
func completeWorkloads(asked []result.WorkloadPlan) []result.WorkloadPlan {
	var all []result.WorkloadPlan
	var explain []string
	for _, w := range asked {
		kind, _ := workload.Find(w.Name)
		if kind.Application() {
			trips, bulk := kind.Below()
			explain = append(explain, trips, bulk)
		}
		if w.Flows > 0 || len(kind.FlowsDefault) < 2 {
			all = append(all, w)
			continue
		}
		for _, flows := range kind.FlowsDefault {
			w.Flows = flows
			all = append(all, w)
		}
	}
	for _, below := range explain {
		if below != "" && !slices.ContainsFunc(all, func(w result.WorkloadPlan) bool { return w.Name == below }) {
			all = append(all, result.WorkloadPlan{Name: below, Explains: true})
		}
	}
	return all
}

// window divides the budget between the runs: few cells are measured for longer. On a slow
// link a window is as long as its frames need.
func window(p result.Plan) result.Seconds {
	each := lengthsOf(p).Buys(timedOf(p, groupsOf(p)), p.Design == result.DesignSlots, measuring(p))
	if link := slowestLink(p); link > 0 {
		frame := float64((largestMTU(p) + wire.Ethernet) * 8)
		each = max(each, result.Seconds(math.Min(longestOnLink, framesPerWindow*frame/float64(link))))
	}
	each = max(each, min(longestOnLink, trips*2*result.Seconds(p.Axes.Number("delay"))))
	return result.Seconds(math.Round(float64(each)*1e3) / 1e3)
}

// slowestLink is 0 where nothing of the plan has a link.
func slowestLink(p result.Plan) result.BitsPerSecond {
	var slowest result.BitsPerSecond
	var links []result.BitsPerSecond
	for _, link := range p.Axes.Numbers("link") {
		links = append(links, result.BitsPerSecond(link))
	}
	for _, n := range p.Networks {
		links = append(links, n.Link)
	}
	for _, link := range links {
		if link > 0 && (slowest == 0 || link < slowest) {
			slowest = link
		}
	}
	return slowest
}

// Check reports what is wrong with a completed plan: an *InputError that names
// the offending word and the nearest valid one.
func Check(p result.Plan) error {
	for _, np := range p.Networks {
		n, known := kinds.Find(np.Name)
		if !known {
			return Unknown("network", np.Name, Everything(), catalog.NetworksCalled(np.Name)...)
		}
		for name, value := range np.Params.Map() {
			if err := n.CheckParam(name, value); err != nil {
				return &InputError{err.Error()}
			}
		}
		if _, _, err := neighbourOf(np.Params); err != nil {
			return err
		}
	}
	for _, path := range p.Paths {
		if !slices.Contains(catalog.Paths(), path) {
			return Unknown("path", path, catalog.Paths())
		}
	}
	for _, w := range p.Workloads {
		if err := checkWorkload(w); err != nil {
			return err
		}
	}
	if err := checkAxes(p); err != nil {
		return err
	}
	if designs := []string{result.DesignSlots, result.DesignWindows}; !slices.Contains(designs, p.Design) {
		return Unknown("design", p.Design, designs)
	}
	for host, list := range p.CPUs {
		if _, err := lab.ParseCPUSet(list); err != nil {
			return &InputError{fmt.Sprintf("cpus of %s: %v", host, err)}
		}
	}
	if err := errors.Join(checkSweep(p), checkTwice(p), checkBy(p)); err != nil {
		return err
	}
	if err := checkVersions(p); err != nil {
		return err
	}
	return checkNumbers(p)
}

// checkAxes refuses axes that there are not, and values that an axis does not take.
func checkAxes(p result.Plan) error {
	axes := result.PlannedAxes()
	for _, name := range slices.Sorted(maps.Keys(p.Axes)) {
		if !slices.ContainsFunc(axes, func(a result.Axis) bool { return a.Name == name }) {
			return Unknown("axis", name, result.Names(axes, func(a result.Axis) string { return a.Name }))
		}
	}
	for _, a := range axes {
		words := p.Axes.Words(a.Name)
		if len(words) > 1 && !a.Many {
			return &InputError{fmt.Sprintf("%s %s: it takes one value: keep one", a.PlanKey(), strings.Join(words, ", "))}
		}
		if a.Name == "nic" {
			words = append(words, p.EncapNIC...)
		}
		for _, word := range words {
			if a.Words != nil && !slices.Contains(a.Words, word) {
				return Unknown(a.Name, word, a.Words)
			}
		}
		for _, value := range p.Axes.Numbers(a.Name) {
			if err := checkBounds([]bound{boundOf(a, value)}); a.Most > 0 && err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTwice refuses what a plan names twice: both would be one cell.
func checkTwice(p result.Plan) error {
	networks := make([]string, len(p.Networks))
	for i, n := range p.Networks {
		networks[i] = strings.TrimSpace(n.Name + " " + n.Params.String())
	}
	type named struct {
		kind  string
		names []string
	}
	all := []named{{"network", networks}, {"path", p.Paths}}
	for _, a := range result.PlannedAxes() {
		all = append(all, named{a.PlanKey(), result.Names(p.Axes[a.Name], a.Written)})
	}
	for _, of := range append(all, named{"encap_nic", p.EncapNIC}) {
		for i, name := range of.names {
			if slices.Contains(of.names[:i], name) {
				return &InputError{of.kind + " " + name + " is there twice: keep one"}
			}
		}
	}
	for i, w := range p.Workloads {
		if slices.Contains(p.Workloads[:i], w) {
			return &InputError{"workload " + w.Name + " is there twice with the same parameters: keep one"}
		}
	}
	return nil
}

// bound is what a number of a plan must keep within.
type bound struct {
	name        string
	value       float64
	least, most float64
	unit        string
}

func checkNumbers(p result.Plan) error {
	bounds := []bound{
		{"blocks", float64(p.Blocks), 1, 10000, ""},
		{"margin", p.Margin, 0, 1, ""},
		{"precision", p.Precision, 0, 1, ""},
		{"max_time", float64(p.MaxTime), 0, 7 * 86400, " s"},
		{"max_rate", float64(p.MaxRate), 0, result.MostLink, " bit/s"},
	}
	for _, n := range p.Networks {
		bounds = append(bounds, bound{"link of " + n.Name, float64(n.Link), 0, result.MostLink, " bit/s"})
	}
	delay, reorder := p.Axes.Number("delay"), p.Axes.Number("reorder")
	if reorder > 0 && delay == 0 {
		return &InputError{"reorder of the link: it needs a delay, which some frames do not have: --link delay=5ms,reorder=1%"}
	}
	if p.Reference != "" && p.Site == "" {
		return &InputError{"reference: a lab has hosts, and they are the baseline: leave it out"}
	}
	if len(p.Axes["cpus"]) > 0 && (len(p.CPUs) > 0 || p.Axes.Word("pin") == catalog.PinNone) {
		return &InputError{"cpus_each: hosts that are on chosen CPUs, or on none, have no number of them: leave out cpus, and pin none"}
	}
	if err := checkBounds(append(bounds, windowBounds(p)...)); err != nil {
		return err
	}
	if err := checkPathless(p); err != nil {
		return err
	}
	if len(groupsOf(p)) == 0 {
		return &InputError{"none of these networks serves any of these paths: " + served(p.Networks)}
	}
	return nil
}

// served says which paths networks have.
func served(networks []result.NetworkPlan) string {
	var each []string
	for _, n := range networks {
		if kind, known := catalog.FindNetwork(n.Name); known && n.Name != catalog.Baseline {
			each = append(each, n.Name+" has "+strings.Join(kind.Paths, ", "))
		}
	}
	return strings.Join(each, "; ")
}

// boundOf is what a value of an axis must keep within.
func boundOf(a result.Axis, value float64) bound {
	name, unit := a.PlanKey(), " "+a.Unit
	if a.In != "" {
		name += " of the link"
	}
	switch {
	case a.Name == "cpus":
		unit = " CPUs"
	case a.Unit == "", a.Unit == result.UnitShare:
		unit = ""
	}
	return bound{name, value, a.Least, a.Most, unit}
}

func windowBounds(p result.Plan) []bound {
	return []bound{
		{"duration", float64(p.Duration), 0.005, 3600, " s"},
		{"warmup", float64(p.Warmup), 0, 600, " s"},
	}
}

func checkBounds(bounds []bound) error {
	for _, b := range bounds {
		if !(b.value >= b.least && b.value <= b.most) {
			return &InputError{fmt.Sprintf("%s %v: it must be from %v to %v%s", b.name, b.value, b.least, b.most, b.unit)}
		}
	}
	return nil
}
