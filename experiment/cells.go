package experiment

import (
	"cmp"
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

// between is what connects the hosts of a cluster.
type between struct {
	nic  string
	link result.BitsPerSecond // 0: as fast as the CPU
	ip   wire.IP              // version that the workloads use
	mtu  int                  // bytes
	cpus int                  // of each host; 0: all that it gets
	live bool                 // its devices take the frames of a program
}

// place is where one run happens: a network on its cluster.
type place struct {
	network  network.Network
	cluster  string
	layout   string // of a baseline: "a" or "b"
	link     result.BitsPerSecond
	mtu      int             // of the links between its hosts, bytes
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
				if kind, _ := workload.Find(w.Name); len(cells) > 0 && (kind.Cycle == nil || attaches(kind, p, path, b)) {
					groups = append(groups, separated(p, group{path: path, workload: w, between: b, places: cells})...)
				}
			}
		}
	}
	return append(groups, pathless(p)...)
}

// betweenOf multiplies the plan's nics by its links, versions of IP, MTUs and CPUs.
func betweenOf(p result.Plan) []between {
	var all []between
	for _, link := range linksOf(p) {
		for _, nic := range slices.Concat(p.NIC, extraNICs(p)) {
			for _, ip := range versionsOf(p) {
				for _, mtu := range mtusOf(p) {
					for _, cpus := range cpusOf(p) {
						all = append(all, between{nic: nic, link: link, ip: ip, mtu: mtu, cpus: cpus})
					}
				}
			}
		}
	}
	return all
}

// mtusOf are the MTUs of the links that every network is measured at.
func mtusOf(p result.Plan) []int {
	if len(p.MTUs) > 0 {
		return p.MTUs
	}
	return []int{p.MTU}
}

// cpusOf are the numbers of CPUs of each host that every network is measured with; 0: all that
// a host gets.
func cpusOf(p result.Plan) []int {
	if len(p.CPUsEach) > 0 {
		return p.CPUsEach
	}
	return []int{0}
}

// versionsOf are the versions of IP that every network is measured with.
func versionsOf(p result.Plan) []wire.IP {
	if len(p.IP) == 0 {
		return []wire.IP{wire.IPv4}
	}
	var all []wire.IP
	for _, ip := range p.IP {
		all = append(all, wire.IP(ip))
	}
	return all
}

// linksOf are the link rates that every network is measured at.
func linksOf(p result.Plan) []result.BitsPerSecond {
	if len(p.Links) > 0 {
		return p.Links
	}
	return []result.BitsPerSecond{p.Link}
}

// extraNICs are the models that only encapsulating networks are measured with.
func extraNICs(p result.Plan) []string {
	var extra []string
	for _, nic := range p.EncapNIC {
		if !slices.Contains(p.NIC, nic) {
			extra = append(extra, nic)
		}
	}
	return extra
}

// cellsOn are the two baselines, where the plan has them, and every network that serves the path.
func cellsOn(p result.Plan, path string, b between) []place {
	encapOnly := !slices.Contains(p.NIC, b.nic)
	var cells []place
	baselineAsked := false
	for at, np := range p.Networks {
		n, known := kinds.Find(np.Name)
		switch {
		case !known || !n.Serves(path), b.ip == wire.IPv6 && !n.IPv6:
		case n.Name == catalog.Baseline:
			baselineAsked = !encapOnly
		case encapOnly && (!n.Encapsulates() || catalog.Within(path)):
			// Within a host nothing is encapsulated.
		case np.Link > 0 && (b.nic != betweenOf(p)[0].nic || b.link != betweenOf(p)[0].link):
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
	return place{
		network: n, cluster: clusterName(p, variantName(p, at), b, ""), mtu: b.mtu,
		link: cmp.Or(p.Networks[at].Link, b.link), settings: p.Networks[at].Params,
	}
}

// baselinesOn are the two baselines.
func baselinesOn(p result.Plan, b between) []place {
	baseline, _ := kinds.Find(catalog.Baseline)
	return []place{
		{network: baseline, cluster: clusterName(p, baseline.Name, b, layoutA), layout: layoutA, link: b.link, mtu: b.mtu},
		{network: baseline, cluster: clusterName(p, baseline.Name, b, layoutB), layout: layoutB, link: b.link, mtu: b.mtu},
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

// clusterName is the network's name with the parameters that distinguish it.
func clusterName(p result.Plan, name string, b between, layout string) string {
	if len(p.NIC) == 0 || b.nic != p.NIC[0] {
		name += "-" + b.nic
	}
	if b.link != linksOf(p)[0] {
		name += "-" + b.link.String()
	}
	if b.ip != versionsOf(p)[0] {
		name += "-ip" + strconv.Itoa(int(b.ip))
	}
	if b.mtu != mtusOf(p)[0] {
		name += "-mtu" + strconv.Itoa(b.mtu)
	}
	if b.cpus != cpusOf(p)[0] {
		name += "-cpus" + strconv.Itoa(b.cpus)
	}
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

// Spec is the lab that a plan needs: one cluster per network, nic and link, two
// for the baseline.
func Spec(p result.Plan, hosts, containers int) site.Spec {
	spec := site.Spec{CC: p.CC, Pin: p.Pin, CPUs: p.CPUs, RPS: p.RPS == rpsOn, Clusters: []site.ClusterSpec{}}
	seen := map[string]bool{}
	for _, g := range groupsOf(p) {
		for _, cell := range g.places {
			if seen[cell.cluster] {
				continue
			}
			seen[cell.cluster] = true
			spec.Clusters = append(spec.Clusters, withSettings(cell.settings, site.ClusterSpec{
				Name: cell.cluster, Network: cell.network.Name, NIC: g.nic, MTU: cell.mtu, CPUsEach: g.cpus, GSOMax: p.GSOMax,
				Link: float64(cell.link), Wire: p.Wire, IP: g.ip, Hosts: hosts, Containers: containers,
				Baseline: cell.layout != "", Live: g.live,
			}))
		}
	}
	joinAlike(spec.Clusters)
	return spec
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
	nic := g.nic
	if cell.link > 0 || !p.Wire.IsZero() {
		nic = string(lab.NICFrames)
	}
	run := runOf(p, g.workload)
	values := result.Params{
		"nic": nic, "mtu": cell.mtu, "pin": p.Pin, "rps": rps, "cc": p.CC,
		"warmup": float64(p.Warmup), "duration": run.Duration.Seconds(),
	}
	if cell.link > 0 {
		values["link"] = float64(cell.link)
	}
	if g.ip == wire.IPv6 {
		values["ip"] = float64(g.ip)
	}
	if g.cpus > 0 {
		values["cpus"] = float64(g.cpus)
	}
	if p.GSOMax > 0 {
		values["gso_max"] = p.GSOMax
	}
	if p.CC == "" {
		delete(values, "cc") // it is not one
	}
	if p.Site != "" { // it is as it is there
		for _, name := range []string{"nic", "pin", "rps"} {
			delete(values, name)
		}
	}
	maps.Copy(values, p.Wire.Params())
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
