package result

import "strconv"

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
func Axes() []Axis {
	return []Axis{
		{Name: "kernel", Of: OfLab, Titled: true},
		{Name: "nic", Of: OfLab, Titled: true},
		{Name: "ip", Of: OfLab, Absent: 4.0, Titled: true},
		{Name: "mtu", Unit: "bytes", Of: OfLab, Loose: true, Titled: true},
		{Name: "gso_max", Unit: "bytes", Of: OfLab, Absent: 65536.0, Titled: true},
		{Name: "pin", Of: OfLab},
		{Name: "cpus", Of: OfLab},
		{Name: "rps", Of: OfLab},
		{Name: "cc", Of: OfLab, Loose: true},
		{Name: "link", Unit: "bit/s", Of: OfLab, Absent: 0.0, Titled: true},
		{Name: "delay", Unit: "s", Of: OfLab, Absent: 0.0, Titled: true},
		{Name: "loss", Unit: UnitShare, Of: OfLab, Absent: 0.0, Titled: true},
		{Name: "reorder", Unit: UnitShare, Of: OfLab, Absent: 0.0, Titled: true},

		// How much a workload does at the same time is one of three axes, which
		// are different things: streams that the engine keeps full, connections of an
		// application's client, makers of containers. A plan sets each as flows.
		{Name: "flows", Of: OfWorkload},
		{Name: "connections", Of: OfWorkload},
		{Name: "workers", Of: OfWorkload},
		{Name: "size", Unit: "bytes", Of: OfWorkload},
		{Name: "sizes", Unit: "bytes", Of: OfWorkload},
		{Name: "rate", Of: OfWorkload}, // bit/s or 1/s, by workload
		{Name: "bytes", Unit: "bytes", Of: OfWorkload},
		{Name: "reverse", Of: OfWorkload, Absent: false},
		{Name: "bidir", Of: OfWorkload, Absent: false},
		{Name: "server", Of: OfWorkload},
		{Name: "tool", Of: OfWorkload},

		// Of what other tools measured.
		{Name: "tool_version", Of: OfWorkload},
		{Name: "file", Of: OfWorkload},
		{Name: "side", Of: OfWorkload},
		{Name: "direction", Of: OfWorkload},
		{Name: "url", Of: OfWorkload},
		{Name: "threads", Of: OfWorkload},
		{Name: "pipelining", Of: OfWorkload},
		{Name: "test", Of: OfWorkload},

		{Name: "design", Of: OfWorkload, Absent: DesignWindows},
		{Name: "warmup", Unit: "s", Of: OfTime},
		{Name: "duration", Unit: "s", Of: OfTime},
	}
}

// AxisOf finds an axis by name.
func AxisOf(name string) (Axis, bool) {
	return First(Axes(), func(a Axis) bool { return a.Name == name })
}

// NamesOf names the axes of which something holds, in their order.
func NamesOf(holds func(Axis) bool) []string {
	var names []string
	for _, a := range Axes() {
		if holds(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// WorkloadAxes names the axes of workloads.
func WorkloadAxes() []string { return NamesOf(func(a Axis) bool { return a.Of == OfWorkload }) }

// LooseAxes names those that may differ between two results.
func LooseAxes() []string { return NamesOf(func(a Axis) bool { return a.Loose }) }

// Word writes a value of the axis, as Text gives it, as a person writes it: "10gbit", "20ms", "1%".
func (a Axis) Word(value string) string {
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	switch a.Unit {
	case "bit/s":
		return BitsPerSecond(number).String()
	case "s":
		return Seconds(number).Duration().String()
	case UnitShare:
		return Percent(number)
	}
	return value
}
