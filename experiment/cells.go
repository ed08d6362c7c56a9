package experiment

import (
	"fmt"
	"slices"
	"strconv"

	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/workload"
)

// The layouts of the baseline: it is measured twice, on two pairs of hosts.
const (
	layoutA = "a"
	layoutB = "b"
)

// group is what is compared with each other: the cells of one path under one
// workload and one nic, the two baselines among them.
type group struct {
	path     string
	workload result.WorkloadPlan
	nic      string
	cells    []place
}

// place is where one run happens: a network on an underlay.
type place struct {
	network  network.Network
	underlay string
	layout   string // of a baseline: "a" or "b"
	link     result.BitsPerSecond
	settings result.Settings // of the network
}

// groupsOf expands a plan. Paths that no network but the baseline serves are
// left out unless the baseline is all that was asked for.
func groupsOf(p result.Plan) []group {
	var groups []group
	for _, path := range p.Paths {
		for _, nic := range slices.Concat(p.NIC, extraNICs(p)) {
			cells := cellsOn(p, path, nic)
			if len(cells) == 0 {
				continue
			}
			for _, w := range p.Workloads {
				if kind, _ := workload.Find(w.Name); kind.Cycle == nil || attaches(kind, p, path, nic) {
					groups = append(groups, group{path: path, workload: w, nic: nic, cells: cells})
				}
			}
		}
	}
	return append(groups, pathless(p)...)
}

// extraNICs are the models that only encapsulating networks run under.
func extraNICs(p result.Plan) []string {
	var extra []string
	for _, nic := range p.EncapNIC {
		if !slices.Contains(p.NIC, nic) {
			extra = append(extra, nic)
		}
	}
	return extra
}

// cellsOn are the two baselines and every network that serves the path.
func cellsOn(p result.Plan, path, nic string) []place {
	encapOnly := !slices.Contains(p.NIC, nic)
	var cells []place
	baselineAsked := false
	for at, np := range p.Networks {
		n, known := network.Find(np.Name)
		switch {
		case !known || !n.Serves(path):
		case n.Name == network.Baseline:
			baselineAsked = !encapOnly
		case encapOnly && (!n.Encapsulates() || network.Within(path)):
			// Within a host nothing is encapsulated.
		case np.Link > 0 && slices.Index(p.NIC, nic) != 0:
			// A link implies frames, whatever the nic: once is enough.
		default:
			cells = append(cells, placeOf(p, at, n, nic))
		}
	}
	if len(cells) == 0 && !baselineAsked {
		return nil
	}
	return append(baselinesOn(p, nic), cells...)
}

// placeOf is where the plan's network of that place runs.
func placeOf(p result.Plan, at int, n network.Network, nic string) place {
	return place{
		network: n, underlay: underlayName(p, variantName(p, at), nic, ""),
		link: or(p.Networks[at].Link, p.Link), settings: p.Networks[at].Params,
	}
}

// baselinesOn are the two baselines.
func baselinesOn(p result.Plan, nic string) []place {
	baseline, _ := network.Find(network.Baseline)
	return []place{
		{network: baseline, underlay: underlayName(p, baseline.Name, nic, layoutA), layout: layoutA, link: p.Link},
		{network: baseline, underlay: underlayName(p, baseline.Name, nic, layoutB), layout: layoutB, link: p.Link},
	}
}

// variantName is a network's name; where the plan holds it more than once, with
// other parameters, the second is NAME-2.
func variantName(p result.Plan, at int) string {
	again := 1
	for _, earlier := range p.Networks[:at] {
		if earlier.Name == p.Networks[at].Name {
			again++
		}
	}
	if again == 1 {
		return p.Networks[at].Name
	}
	return fmt.Sprintf("%s-%d", p.Networks[at].Name, again)
}

// underlayName is the network's own name, with what sets it apart.
func underlayName(p result.Plan, name, nic, layout string) string {
	if len(p.NIC) == 0 || nic != p.NIC[0] {
		name += "-" + nic
	}
	if layout == layoutB {
		name += "-b"
	}
	return name
}

// Spec is the lab that a plan needs: one underlay per network and nic, two for
// the baseline.
func Spec(p result.Plan, hosts, containers int) site.Spec {
	spec := site.Spec{CC: p.CC, Pin: p.Pin, CPUs: p.CPUs, RPS: p.RPS == rpsOn, Underlays: []site.UnderlaySpec{}}
	seen := map[string]bool{}
	for _, g := range groupsOf(p) {
		for _, cell := range g.cells {
			if seen[cell.underlay] {
				continue
			}
			seen[cell.underlay] = true
			spec.Underlays = append(spec.Underlays, withSettings(cell.settings, site.UnderlaySpec{
				Name: cell.underlay, Network: cell.network.Name, NIC: g.nic, MTU: p.MTU,
				Link: float64(cell.link), Hosts: hosts, Containers: containers,
				Baseline: cell.layout != "",
			}))
		}
	}
	joinAlike(spec.Underlays)
	return spec
}

// joinAlike joins the hosts of every underlay by a switch where one has more
// than two: they are weighed against each other.
func joinAlike(underlays []site.UnderlaySpec) {
	if !slices.ContainsFunc(underlays, func(u site.UnderlaySpec) bool { return u.Hosts > 2 }) {
		return
	}
	for i := range underlays {
		underlays[i].Switch = true
	}
}

// withSettings gives an underlay the parameters of its network. Check has seen
// that those of number are numbers.
func withSettings(settings result.Settings, u site.UnderlaySpec) site.UnderlaySpec {
	if settings == "" {
		return u
	}
	u.Params = settings.Map()
	for name, into := range map[string]*int{network.Hosts: &u.Hosts, network.Containers: &u.Containers} {
		if n, err := strconv.Atoi(u.Params[name]); err == nil {
			*into = n
		}
	}
	return u
}

// params identify a cell beside network, path and workload.
func params(p result.Plan, g group, cell place, rps bool) result.Params {
	nic := g.nic
	if cell.link > 0 {
		nic = string(lab.NICFrames)
	}
	run := runOf(p, g.workload)
	values := result.Params{
		"nic": nic, "mtu": p.MTU, "pin": p.Pin, "rps": rps, "cc": p.CC,
		"warmup": float64(p.Warmup), "duration": run.Duration.Seconds(),
	}
	if cell.link > 0 {
		values["link"] = float64(cell.link)
	}
	for name, text := range cell.settings.Map() {
		values[name] = text
		if n, err := strconv.Atoi(text); err == nil {
			values[name] = float64(n)
		}
	}
	addRun(values, g.workload.Name, run)
	addEquipment(values, g.workload.Name, run)
	return values
}
