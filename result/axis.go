package result

import (
	"slices"
	"sync"
)

// Axis is a parameter that a cell was measured with. It is declared here, once:
// what is not in the list is a parameter of the cell's network, which the
// network's own file declares.
type Axis struct {
	Name string
	Unit string // of a number, as in files, or UnitShare; empty: a word, a count or a switch
	Of   Owner
	// Absent is what a cell that does not name it was measured with; nil: it is
	// not known, or there is no such thing there.
	Absent any
	// Loose axes may differ between two results whose cells are compared; the
	// difference is named.
	Loose bool
	// Titled axes are named in the title of every table; others only where they
	// vary.
	Titled bool

	// Read reads a value as people write it. Axes that have it are what a plan sets.
	Read  reader
	Words []string // the values that there are; empty: all that Read reads
	// Least and Most bound a number; both 0: it has no bounds, or others than these.
	Least, Most float64
	Default     any    // of a plan that does not set it; nil: as it comes
	Many        bool   // a plan may have several values: every network runs with each
	Whole       bool   // it is set for the whole lab; else for each cluster
	Frames      bool   // of links that count each frame, so that interfaces cut them (nic frames)
	Flag        string // of tare run; axes may share one, as in 1gbit,delay=20ms: one that is set by its name has no Help
	Help        string // of the flag
	Key         string // of a plan in YAML; empty: the name
	Older       string // a key that is read too
	In          string // the mapping of a plan in YAML that has the key; empty: the plan itself
}

// UnitShare is the unit of a part of a whole, from 0 to 1.
const UnitShare = "share"

// Owner is what an axis belongs to.
type Owner int

// The owners. Cells are compared with each other where they agree in the axes
// of the first two; cells that were measured for different times are compared.
const (
	OfLab      Owner = iota // the hosts and what connects them
	OfWorkload              // what is sent, by which programs
	OfTime                  // how long it is measured
)

// Axes lists every axis in the order in which people read them.
func Axes() []Axis { return slices.Clone(axes()) }

// axes is that list, made once, since cells ask about it in loops. Nothing changes it.
var axes = sync.OnceValue(func() []Axis { return slices.Concat(labAxes(), workloadAxes(), timeAxes()) })

const (
	// MostLink is beyond any link, in bit/s.
	MostLink = 1e14
	// mostDelay is beyond any path on Earth, in s.
	mostDelay = 5
	// mostSegments is the largest packet of segments that a kernel takes, in bytes
	// (GSO_MAX_SIZE in include/linux/netdevice.h).
	mostSegments = 8 * 65535
	// MaxCPUs is what the kernel's cpu_set_t holds.
	MaxCPUs = 1024
)

// labAxes are those of the hosts and what connects them.
func labAxes() []Axis {
	return []Axis{
		{Name: "kernel", Titled: true},
		{Name: "nic", Titled: true, Read: readWord, Words: []string{"full", "tso", "frames", "plain"}, Default: "full", Many: true,
			Flag: "nic", Help: "models of the hosts' interfaces, a comma list or all: full, tso, frames, plain"},
		{Name: "ip", Absent: 4.0, Titled: true, Read: readVersion, Many: true,
			Flag: "ip", Help: "versions of IP, a comma list: 4, 6; both weigh IPv6 against IPv4 too (default 4)"},
		{Name: "mtu", Unit: "bytes", Loose: true, Titled: true, Read: readMTU, Least: 576, Most: 65535, Default: 1500.0, Many: true, Older: "mtus",
			Flag: "mtu", Help: "MTU of the link between hosts, in bytes, or several, as in 1500,9000 (default 1500)"},
		{Name: "gso_max", Unit: "bytes", Absent: 65536.0, Titled: true, Read: readSize, Most: mostSegments,
			Flag: "gso-max", Help: "largest packet of segments, in bytes: 196608 for BIG TCP (default: 64 KiB)"},
		{Name: "pin", Read: readWord, Words: []string{"apart", "same", "none"}, Default: "apart", Whole: true,
			Flag: "pin", Help: "CPUs of the hosts: apart, same, none (default apart)"},
		{Name: "cpus", Read: readCount, Least: 1, Most: MaxCPUs, Many: true, Key: "cpus_each",
			Flag: "cpus-each", Help: "number of CPUs of each host, or several, as in 1,2,4 (default: all that it gets by --pin)"},
		{Name: "rps", Read: readWord, Words: []string{"on", "off"}, Default: "on", Whole: true,
			Flag: "rps", Help: "steer arriving packets to the host's own CPUs: on, off (default on)"},
		{Name: "cc", Loose: true, Read: readWord, Default: "cubic", Whole: true,
			Flag: "cc", Help: "TCP congestion control of both ends (default cubic)"},
		{Name: "link", Unit: "bit/s", Absent: 0.0, Titled: true, Read: readRate, Least: 1, Most: MostLink, Many: true, Frames: true, Older: "links",
			Flag: "link", Help: "link between hosts: its rate, for example 10gbit, or several, and what it does besides, as in 1gbit,delay=20ms,loss=0.1%,reorder=1% (default: limited by the CPU only)"},
		{Name: "delay", Unit: "s", Absent: 0.0, Titled: true, Read: readSpan, Most: mostDelay, Frames: true, Flag: "link", In: "wire"},
		{Name: "loss", Unit: UnitShare, Absent: 0.0, Titled: true, Read: readShare, Most: 0.5, Frames: true, Flag: "link", In: "wire"},
		{Name: "reorder", Unit: UnitShare, Absent: 0.0, Titled: true, Read: readShare, Most: 1, Frames: true, Flag: "link", In: "wire"},
	}
}

// workloadAxes are those of what is sent, by which programs. How much a workload does at the
// same time is one of three axes, which are different things: streams that the engine keeps
// full, connections of an application's client, makers of containers. A plan sets each as flows.
func workloadAxes() []Axis {
	axes := []Axis{
		{Name: "flows"},
		{Name: "connections"},
		{Name: "workers"},
		{Name: "size", Unit: "bytes"},
		{Name: "sizes", Unit: "bytes"},
		{Name: "rate"}, // bit/s or 1/s, by workload
		{Name: "bytes", Unit: "bytes"},
		{Name: "reverse", Absent: false},
		{Name: "bidir", Absent: false},
		{Name: "server"},
		{Name: "tool"},

		// Of what other tools measured.
		{Name: "tool_version"},
		{Name: "file"},
		{Name: "side"},
		{Name: "direction"},
		{Name: "url"},
		{Name: "threads"},
		{Name: "pipelining"},
		{Name: "test"},
		{Name: "protocol"},

		{Name: "design", Absent: DesignWindows},
	}
	for n := range axes {
		axes[n].Of = OfWorkload
	}
	return axes
}

// timeAxes are those of how long it is measured.
func timeAxes() []Axis {
	return []Axis{
		{Name: "warmup", Unit: "s", Of: OfTime},
		{Name: "duration", Unit: "s", Of: OfTime},
	}
}

// PlannedAxes lists those that a plan sets, in the order in which their values multiply: the
// first, those of links, change last.
func PlannedAxes() []Axis { return slices.Clone(planned()) }

var planned = sync.OnceValue(func() []Axis {
	var ofLinks, others []Axis
	for _, a := range labAxes() {
		switch {
		case a.Read == nil:
		case a.Frames:
			ofLinks = append(ofLinks, a)
		default:
			others = append(others, a)
		}
	}
	return append(ofLinks, others...)
})

// AxisOf finds an axis by name.
func AxisOf(name string) (Axis, bool) {
	return First(axes(), func(a Axis) bool { return a.Name == name })
}

// NamesOf names the axes of which something holds, in their order.
func NamesOf(holds func(Axis) bool) []string {
	var names []string
	for _, a := range axes() {
		if holds(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// WorkloadAxes names the axes of workloads.
func WorkloadAxes() []string {
	return NamesOf(func(a Axis) bool { return a.Of == OfWorkload })
}

// LooseAxes names those that may differ between two results.
func LooseAxes() []string { return NamesOf(func(a Axis) bool { return a.Loose }) }
