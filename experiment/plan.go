package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	// mostLink is beyond any link, in bit/s.
	mostLink = 1e14
	// mostSegments is the largest packet of segments that a kernel takes, in bytes
	// (GSO_MAX_SIZE in include/linux/netdevice.h).
	mostSegments = 8 * 65535
	// mostDelay is beyond any path on Earth, in s.
	mostDelay = 5
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
		NIC:       []string{string(lab.NICFull)},
		EncapNIC:  []string{string(lab.NICTSO)},
		MTU:       1500,
		Pin:       catalog.PinApart,
		RPS:       rpsOn,
		CC:        "cubic",
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
	if len(p.NIC) == 0 {
		p.NIC = quick.NIC
	}
	if len(p.Links) == 1 {
		p.Link, p.Links = p.Links[0], nil
	}
	if p.Link > 0 || len(p.Links) > 0 || !p.Wire.IsZero() { // a link counts each wire frame, so it implies frames
		p.NIC, p.EncapNIC = []string{string(lab.NICFrames)}, nil
	}
	p = withVersions(p)
	if len(p.MTUs) == 1 {
		p.MTU, p.MTUs = p.MTUs[0], nil
	}
	if len(p.MTUs) == 0 {
		p.MTU = cmp.Or(p.MTU, quick.MTU)
	}
	p.Pin = cmp.Or(p.Pin, quick.Pin)
	p.RPS = cmp.Or(p.RPS, quick.RPS)
	p.CC = cmp.Or(p.CC, quick.CC)
	p.Margin = cmp.Or(p.Margin, quick.Margin)
	p.Design = cmp.Or(p.Design, quick.Design)
	return budgeted(p)
}

// Segments reports whether a workload of the plan sends more in one write than fits
// into a segment: other workloads are the same to every interface.
func Segments(p result.Plan) bool {
	room := wire.InnerMTU(cmp.Or(slices.Max(mtusOf(p)), Quick().MTU), wire.VXLAN()) - segmentHeaders(wire.IPv4) - answerHeaders
	return slices.ContainsFunc(p.Workloads, func(w result.WorkloadPlan) bool {
		kind, _ := workload.Find(w.Name)
		return kind.Cycle == nil && (!kind.Application() || cmp.Or(w.Size, kind.Size.Default) > room)
	})
}

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
			all = append(all, result.WorkloadPlan{Name: below})
		}
	}
	return all
}

// window divides the budget between the runs: few cells are measured for longer. On a slow
// link a window is as long as its frames need.
func window(p result.Plan) result.Seconds {
	each := lengthsOf(p).Buys(timedOf(p, groupsOf(p)), p.Design == result.DesignSlots, measuring(p))
	if link := slowestLink(p); link > 0 {
		frame := float64((slices.Max(mtusOf(p)) + wire.Ethernet) * 8)
		each = max(each, result.Seconds(math.Min(longestOnLink, framesPerWindow*frame/float64(link))))
	}
	each = max(each, min(longestOnLink, trips*2*p.Wire.Delay))
	return result.Seconds(math.Round(float64(each)*1e3) / 1e3)
}

// slowestLink is 0 where nothing of the plan has a link.
func slowestLink(p result.Plan) result.BitsPerSecond {
	var slowest result.BitsPerSecond
	links := linksOf(p)
	for _, n := range p.Networks {
		links = append(slices.Clone(links), n.Link)
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
			return Unknown("network", np.Name, Everything())
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
	for _, nic := range append(slices.Clone(p.NIC), p.EncapNIC...) {
		if !slices.Contains(lab.NICs(), nic) {
			return Unknown("nic", nic, lab.NICs())
		}
	}
	if !slices.Contains(catalog.Pins(), p.Pin) {
		return Unknown("pin", p.Pin, catalog.Pins())
	}
	if p.RPS != rpsOn && p.RPS != rpsOff {
		return Unknown("rps", p.RPS, []string{rpsOn, rpsOff})
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

// checkTwice refuses what a plan names twice: both would be one cell.
func checkTwice(p result.Plan) error {
	networks := make([]string, len(p.Networks))
	for i, n := range p.Networks {
		networks[i] = strings.TrimSpace(n.Name + " " + n.Params.String())
	}
	for _, of := range []struct {
		kind  string
		names []string
	}{
		{"network", networks}, {"path", p.Paths}, {"nic", p.NIC}, {"encap_nic", p.EncapNIC}, {"link", result.Names(p.Links, result.BitsPerSecond.String)},
		{"ip", result.Names(p.IP, strconv.Itoa)}, {"mtu", result.Names(p.MTUs, strconv.Itoa)}, {"cpus_each", result.Names(p.CPUsEach, strconv.Itoa)},
	} {
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
		{"gso_max", float64(p.GSOMax), 0, mostSegments, " bytes"},
		{"blocks", float64(p.Blocks), 1, 10000, ""},
		{"link", float64(p.Link), 0, mostLink, " bit/s"},
		{"delay of the link", float64(p.Wire.Delay), 0, mostDelay, " s"},
		{"loss of the link", p.Wire.Loss, 0, 0.5, ""},
		{"reorder of the link", p.Wire.Reorder, 0, 1, ""},
		{"margin", p.Margin, 0, 1, ""},
		{"precision", p.Precision, 0, 1, ""},
		{"max_time", float64(p.MaxTime), 0, 7 * 86400, " s"},
		{"max_rate", float64(p.MaxRate), 0, mostLink, " bit/s"},
	}
	for _, mtu := range mtusOf(p) {
		bounds = append(bounds, bound{"mtu", float64(mtu), 576, 65535, " bytes"})
	}
	for _, cpus := range p.CPUsEach {
		bounds = append(bounds, bound{"cpus_each", float64(cpus), 1, catalog.MaxCPUs, " CPUs"})
	}
	for _, link := range p.Links {
		bounds = append(bounds, bound{"link", float64(link), 1, mostLink, " bit/s"})
	}
	for _, n := range p.Networks {
		bounds = append(bounds, bound{"link of " + n.Name, float64(n.Link), 0, mostLink, " bit/s"})
	}
	if p.Wire.Reorder > 0 && p.Wire.Delay == 0 {
		return &InputError{"reorder of the link: it needs a delay, which some frames do not have: --link delay=5ms,reorder=1%"}
	}
	if p.Reference != "" && p.Site == "" {
		return &InputError{"reference: a lab has hosts, and they are the baseline: leave it out"}
	}
	if p.Link > 0 && len(p.Links) > 0 {
		return &InputError{"link and links are both in the plan: keep links, which takes them all"}
	}
	if p.MTU > 0 && len(p.MTUs) > 0 {
		return &InputError{"mtu and mtus are both in the plan: keep mtus, which takes them all"}
	}
	if len(p.CPUsEach) > 0 && (len(p.CPUs) > 0 || p.Pin == catalog.PinNone) {
		return &InputError{"cpus_each: hosts that are on chosen CPUs, or on none, have no number of them: leave out cpus, and pin none"}
	}
	if err := checkBounds(append(bounds, windowBounds(p)...)); err != nil {
		return err
	}
	if err := checkPathless(p); err != nil {
		return err
	}
	if len(groupsOf(p)) == 0 {
		return &InputError{"none of these networks serves any of these paths: tare list networks shows which does"}
	}
	return nil
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
