package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
	"tare/site"
	"tare/weigh"
	"tare/wire"
	"tare/workload"
)

// The layouts of the baseline: it is measured twice, on two pairs of hosts.
const (
	layoutA = weigh.LayoutA
	layoutB = weigh.LayoutB
)

// group is what a plan has compared with each other: a cell at each of its places,
// including the two baselines, on one path under one workload, nic and link.
type group struct {
	path     string
	workload result.WorkloadPlan
	between
	places []place // the two baselines first
}

// between is what the hosts of a cluster and their links are like: one of the combinations of
// the values of a plan's axes.
type between struct {
	axes   result.Params
	nth    int    // of the combinations, from 0
	suffix string // of the names of its clusters: the values that are not the plan's first
	live   bool   // its devices take the frames of a program
}

// version is the version of IP that the workloads use.
func (b between) version() wire.IP {
	if b.axes.Has("ip") {
		return wire.IP(b.axes.Count("ip"))
	}
	return wire.IPv4
}

// place is where one run happens: a network on its cluster.
type place struct {
	network  network.Network
	cluster  string
	layout   string          // of a baseline: "a" or "b"
	axes     result.Params   // of its cluster
	settings result.Settings // of the network
}

// groupsOf expands a plan. Paths that no network but the baseline serves are
// left out unless the baseline is all that was asked for.
func groupsOf(p result.Plan) []group {
	var groups []group
	for _, path := range p.Paths {
		for _, b := range betweenOf(p) {
			for _, w := range p.Workloads {
				b.live = workload.SendsFrames(w.Mode)
				cells := cellsOn(p, path, b)
				if kind, _ := workload.Find(w.Name); len(cells) > 0 && (kind.Cycle == nil || attaches(kind, path, b)) {
					groups = append(groups, separated(p, group{path: path, workload: w, between: b, places: cells})...)
				}
			}
		}
	}
	return append(groups, pathless(p)...)
}

// betweenOf multiplies the values of the plan's axes.
func betweenOf(p result.Plan) []between {
	all := []between{{}}
	for _, a := range result.PlannedAxes() {
		values := p.Axes[a.Name]
		if a.Name == "nic" {
			values = append(slices.Clone(values), extraNICs(p)...)
		}
		if len(values) == 0 {
			continue
		}
		var more []between
		for _, b := range all {
			for _, value := range values {
				axes := result.Params{a.Name: value}
				maps.Copy(axes, b.axes)
				more = append(more, between{axes: axes})
			}
		}
		all = more
	}
	for n := range all {
		all[n].nth, all[n].suffix = n, suffixOf(p, all[n].axes)
	}
	return all
}

// suffixOf names the values that are not the plan's first: words and rates, which say what they
// are, before the others.
func suffixOf(p result.Plan, axes result.Params) string {
	var bare, named string
	for _, a := range result.Axes() {
		value := axes[a.Name]
		_, word := value.(string)
		switch {
		case value == p.Axes.First(a.Name):
		case word || a.Unit == "bit/s":
			bare += "-" + a.Written(value)
		default:
			named += "-" + a.Name + a.Written(value)
		}
	}
	return bare + named
}

// extraNICs are the models that only encapsulating networks are measured with.
func extraNICs(p result.Plan) []any {
	var extra []any
	for _, nic := range p.EncapNIC {
		if !slices.Contains(p.Axes["nic"], any(nic)) {
			extra = append(extra, nic)
		}
	}
	return extra
}

// cellsOn are the two baselines, where the plan has them, and every network that serves the path.
func cellsOn(p result.Plan, path string, b between) []place {
	encapOnly := !slices.Contains(p.Axes["nic"], b.axes["nic"])
	var cells []place
	baselineAsked := false
	for at, np := range p.Networks {
		n, known := kinds.Find(np.Name)
		switch {
		case !known || !n.Serves(path), b.version() == wire.IPv6 && !n.IPv6:
		case n.Name == catalog.Baseline:
			baselineAsked = !encapOnly
		case encapOnly && (!n.Encapsulates() || catalog.Within(path)):
			// Within a host nothing is encapsulated.
		case np.Link > 0 && (b.axes["nic"] != p.Axes.First("nic") || b.axes["link"] != p.Axes.First("link")):
			// A link implies frames, whatever the nic: once is enough.
		default:
			cells = append(cells, placeOf(p, at, n, b))
		}
	}
	if len(cells) == 0 && !baselineAsked {
		return nil
	}
	if p.Reference != "" {
		return cells
	}
	return append(baselinesOn(p, b), cells...)
}

// placeOf is the place of the plan's network with that index.
func placeOf(p result.Plan, at int, n network.Network, b between) place {
	axes := b.axes
	if own := p.Networks[at].Link; own > 0 {
		axes = maps.Clone(axes)
		axes["link"] = float64(own)
	}
	return place{network: n, cluster: clusterName(p, variantName(p, at), b, ""), axes: axes, settings: p.Networks[at].Params}
}

// baselinesOn are the two baselines.
func baselinesOn(p result.Plan, b between) (both []place) {
	baseline, _ := kinds.Find(catalog.Baseline)
	for _, layout := range []string{layoutA, layoutB} {
		both = append(both, place{network: baseline, cluster: clusterName(p, baseline.Name, b, layout), layout: layout, axes: b.axes})
	}
	return both
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

// clusterName is the network's name with the values that distinguish it.
func clusterName(p result.Plan, name string, b between, layout string) string {
	name += b.suffix
	if b.live && mixesLive(p) && p.Site == "" {
		name += "-live"
	}
	if layout == layoutB {
		name += "-b"
	}
	return name
}

// mixesLive reports whether some of a plan's workloads send frames of a program, and others
// do not: each has clusters for itself, since the devices differ.
func mixesLive(p result.Plan) bool {
	live := func(w result.WorkloadPlan) bool { return workload.SendsFrames(w.Mode) }
	return slices.ContainsFunc(p.Workloads, live) && slices.ContainsFunc(p.Workloads, func(w result.WorkloadPlan) bool { return !live(w) })
}

// Spec is the lab that a plan needs: one cluster per network and combination of the values of
// the plan's axes, two for the baseline.
func Spec(p result.Plan, hosts, containers int) site.Spec {
	spec := site.Spec{
		CC: p.Axes.Word("cc"), Pin: p.Axes.Word("pin"), CPUs: p.CPUs, RPS: p.Axes.Word("rps") == rpsOn, Clusters: []site.ClusterSpec{},
	}
	seen := map[string]bool{}
	for _, g := range groupsOf(p) {
		for _, cell := range g.places {
			if seen[cell.cluster] {
				continue
			}
			seen[cell.cluster] = true
			spec.Clusters = append(spec.Clusters, withSettings(cell.settings, site.ClusterSpec{
				Name: cell.cluster, Network: cell.network.Name, Axes: ofCluster(cell.axes), Hosts: hosts, Containers: containers,
				Baseline: cell.layout != "", Live: g.live,
			}))
		}
	}
	joinAlike(spec.Clusters)
	return spec
}

// ofCluster are those values that are set for each cluster.
func ofCluster(axes result.Params) result.Params {
	own := maps.Clone(axes)
	maps.DeleteFunc(own, func(name string, _ any) bool {
		a, _ := result.AxisOf(name)
		return a.Whole
	})
	return own
}

// joinAlike connects the hosts of every cluster by a switch if any cluster has more
// than two hosts: what is compared is then connected alike.
func joinAlike(clusters []site.ClusterSpec) {
	if !slices.ContainsFunc(clusters, func(spec site.ClusterSpec) bool { return spec.Hosts > 2 }) {
		return
	}
	for i := range clusters {
		clusters[i].Switch = true
	}
}

// withSettings gives a cluster the parameters of its network. Check has seen
// that those of number are numbers.
func withSettings(settings result.Settings, spec site.ClusterSpec) site.ClusterSpec {
	if settings == "" {
		return spec
	}
	spec.Params = settings.Map()
	for name, into := range map[string]*int{catalog.Hosts: &spec.Hosts, catalog.Containers: &spec.Containers} {
		if n, err := strconv.Atoi(spec.Params[name]); err == nil {
			*into = n
		}
	}
	if spec.Params[catalog.Neighbour] != "" {
		spec.Containers = max(spec.Containers, network.NeighbourContainers)
	}
	return spec
}

// key is the group's key in a result; rps has the clusters that steer what arrives.
func (g group) key(p result.Plan, rps map[string]bool) string {
	first := g.places[0]
	return result.GroupKey(g.path, g.workload.Name, runOf(p, g.workload).Mode, params(p, g, first, rps[first.cluster]))
}

// params identify a cell, together with its network, path and workload.
func params(p result.Plan, g group, cell place, rps bool) result.Params {
	run := runOf(p, g.workload)
	values := result.Params{"rps": rps, "warmup": float64(p.Warmup), "duration": run.Duration.Seconds()}
	for name, value := range cell.axes {
		if name != "rps" { // the plan's is a word, of what was asked for
			values[name] = value
		}
	}
	if cell.axes.Linked() {
		values["nic"] = string(lab.NICFrames)
	}
	if g.version() == wire.IPv4 {
		delete(values, "ip") // it is what a cell has that names none
	}
	if p.Site != "" { // it is as it is there
		for _, name := range []string{"nic", "pin", "rps"} {
			delete(values, name)
		}
	}
	for name, text := range cell.settings.Map() {
		values[name] = text
		if n, err := strconv.Atoi(text); err == nil {
			values[name] = float64(n)
		}
	}
	if takesTurns(p, g) {
		values["design"] = result.DesignSlots
	}
	addRun(values, g.workload.Name, run)
	addEquipment(values, g.workload.Name, run)
	return values
}
