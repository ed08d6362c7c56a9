package experiment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tare/experiment/schedule"
	"tare/lab"
	"tare/network/kinds"
	"tare/result"
	"tare/site"
	"tare/weigh"
	"tare/workload"
)

const (
	// contrastTime is how long at most is measured besides a plan, to divide its tolls.
	// It is as long as the plan took, but not less than shortContrast.
	contrastTime  = 15 * time.Second
	shortContrast = 10 * time.Second
	// contrastBlocks are enough for an interval, with one to spare: a contrast ends with
	// so many that give every cell a toll.
	contrastBlocks = schedule.LeastBlocks + 1
	// contrastAgain is how much longer it may take, as a factor, where a busy machine is
	// late for the slots of some.
	contrastAgain = 1.5
	// contrastSlots is for how long a cell is measured in a block, where there is time: a
	// block of few cycles is lost with two or three late slots.
	contrastSlots = 0.2
)

// Contrast is what is measured besides a result to divide its tolls further: networks
// that its plan lacks, next to those whose tolls they divide.
type Contrast struct {
	Spec   site.Spec // the clusters to be built besides those of the result's lab
	plan   result.Plan
	groups []group
}

// ContrastOf is the contrast of a result that was measured in a lab. A changed lab is one
// that existed before the run, so that anybody may have changed it: its networks are
// measured next to untouched ones. span is for how long the result was measured: a
// contrast takes no longer, but may take shortContrast, and contrastAgain times as long
// on a busy machine. ok is false where nothing would divide a toll, or nothing in that
// time, and where the CPU is emulated: its amounts are no machine's, nor are their parts.
func ContrastOf(res *result.Result, t site.Topology, changed bool, span time.Duration) (c Contrast, ok bool) {
	if res.Environment.Emulated() {
		return c, false
	}
	c.plan = res.Plan
	c.plan.Name, c.plan.Blocks = "contrast", contrastBlocks
	c.plan.Warmup = min(c.plan.Warmup, max(schedule.LeastWarmup, c.plan.Duration/4))
	if c.plan.Design == result.DesignSlots {
		c.plan.Duration = max(c.plan.Duration, contrastSlots)
	}
	c.plan.Looks, c.plan.Precision, c.plan.MaxTime, c.plan.Needs = false, 0, 0, nil
	open := divisible(res, changed)
	for _, o := range open {
		for _, n := range o.below {
			if !slices.Contains(c.plan.Networks, n) {
				c.plan.Networks = append(slices.Clone(c.plan.Networks), n)
			}
		}
	}
	if slices.ContainsFunc(open, func(o divided) bool { return o.nic }) {
		c.plan.Axes = c.plan.Axes.With("nic", result.AddOnce(slices.Clone(c.plan.Axes["nic"]), any(string(lab.NICFull)))...)
	}
	all := groupsOf(c.plan)
	steers := steering(t, all)
	within := min(max(span, shortContrast), contrastTime)
	for _, o := range open { // the largest toll first
		groups := slices.Clone(c.groups)
		for _, g := range all {
			if o.within(g, c.plan, steers) {
				groups = o.join(groups, g)
			}
		}
		if c.fits(groups, within) {
			c.groups = groups
		}
	}
	c.plan.Blocks = 2 * contrastBlocks // Run ends before, with as many whole ones as it needs
	c.plan.MaxTime = result.Seconds(contrastAgain * within.Seconds())
	c.Spec = c.missing(t)
	return c, len(c.Spec.Clusters) > 0
}

// steering is which clusters of some groups steer what arrives: those to be built will do
// as the lab's baselines do.
func steering(t site.Topology, groups []group) map[string]bool {
	steers := map[string]bool{}
	alike := slices.ContainsFunc(t.Clusters, func(b site.Built) bool { return b.Baseline && b.RPS })
	for _, g := range groups {
		for _, p := range g.places {
			steers[p.cluster] = alike
		}
	}
	for _, b := range t.Clusters {
		steers[b.Name] = b.RPS
	}
	return steers
}

// Run measures the contrast in the labs of the result and of the contrast.
func (c Contrast) Run(ctx context.Context, o Options) (*result.Result, error) {
	o.only, o.whole = c.groups, contrastBlocks
	return Run(ctx, c.plan, o)
}

// divided is a cell whose toll can be divided further, and by what.
type divided struct {
	cell  *result.Cell
	toll  float64
	below []result.NetworkPlan // networks to be measured besides
	nic   bool                 // also with the interface that cuts a tunnel's segments
}

// divisible are the cells of a result whose tolls can be divided further, those of the
// largest tolls first.
func divisible(res *result.Result, changed bool) (all []divided) {
	groups := weigh.Groups(res)
	for n := range res.Cells {
		cell := &res.Cells[n]
		kind, _ := workload.Find(cell.Workload)
		m := weigh.Slower(cell)
		if cell.Status != result.StatusOK || kind.Cycle != nil || m == nil || m.Toll.Value < weigh.LeastPart {
			continue
		}
		if alone, _ := weigh.Alone(groups, cell); alone != nil {
			continue // what it lacks is divided where the network is alone
		}
		settings := cell.Params.Settings()
		lack := weigh.Lacking(groups, cell, m.Name)
		o := divided{cell: cell, toll: m.Toll.Value, nic: lack.NIC && cell.Params.Text("nic") == string(lab.NICTSO)}
		if own, _ := kinds.Find(cell.Network); changed && len(own.Needs) == 0 {
			o.below = append(o.below, result.NetworkPlan{Name: cell.Network, Params: settings})
		}
		if lack.Without != "" {
			settings = settings.With(lack.Without, "")
			o.below = append(o.below, result.NetworkPlan{Name: cell.Network, Params: settings})
		}
		for _, name := range lack.Networks {
			o.below = append(o.below, result.NetworkPlan{Name: name, Params: accepted(name, settings)})
		}
		for n := range o.below {
			if changed {
				o.below[n].Params = o.below[n].Params.With(weigh.Untouched, "true")
			}
		}
		if o.nic || len(o.below) > 0 {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b divided) int { return cmp.Compare(b.toll, a.toll) })
	return all
}

// accepted are those of some settings that a network takes.
func accepted(name string, settings result.Settings) result.Settings {
	n, _ := kinds.Find(name)
	own := settings.Map()
	for setting, value := range own {
		if n.CheckParam(setting, value) != nil {
			own[setting] = ""
		}
	}
	return result.MakeSettings(own)
}

// within reports whether a group of the contrast is that of the cell, or the one with the
// better interface.
func (o divided) within(g group, p result.Plan, steers map[string]bool) bool {
	key := g.key(p, steers)
	return key == o.cell.Group || o.better(g) && result.Without(key, "nic") == result.Without(o.cell.Group, "nic")
}

// better reports whether a group has the better interface that the cell is compared with.
func (o divided) better(g group) bool { return o.nic && g.axes["nic"] == string(lab.NICFull) }

// join adds to groups what a group has of the cell's: its baselines, its network and
// those besides.
func (o divided) join(groups []group, g group) []group {
	at := slices.IndexFunc(groups, func(had group) bool {
		return had.path == g.path && had.workload == g.workload && had.axes["nic"] == g.axes["nic"] && had.places[0].cluster == g.places[0].cluster
	})
	joined := g
	joined.places = nil
	for _, p := range g.places {
		had := at >= 0 && slices.ContainsFunc(groups[at].places, func(other place) bool { return other.cluster == p.cluster })
		if had || p.layout != "" || o.wants(p, g) {
			joined.places = append(joined.places, p)
		}
	}
	if at < 0 {
		return append(groups, joined)
	}
	groups[at] = joined
	return groups
}

// wants reports whether a place in a group is to be measured: the cell's network, an
// untouched one of it, and those below, with the best interface that there is.
func (o divided) wants(p place, in group) bool {
	besides := slices.ContainsFunc(o.below, func(n result.NetworkPlan) bool { return n.Name == p.network.Name && n.Params == p.settings })
	if p.network.Name == o.cell.Network {
		again := p.settings == o.cell.Params.Settings() && (!o.better(in) || !o.changed())
		return again || besides
	}
	return besides && o.better(in) == o.nic
}

// changed reports whether the cell is measured next to an untouched one.
func (o divided) changed() bool {
	return slices.ContainsFunc(o.below, func(n result.NetworkPlan) bool { return n.Name == o.cell.Network })
}

// fits chooses for how long each cell is measured in a block so that the groups take no
// longer than a time, and reports whether they can.
func (c *Contrast) fits(groups []group, within time.Duration) bool {
	lengths, fit := lengthsOf(c.plan).Within(timedOf(c.plan, groups), within)
	if fit {
		c.plan.Duration, c.plan.Warmup = lengths.Duration, lengths.Warmup
	}
	return fit
}

// missing is the lab of those clusters that the result's lab has not.
func (c Contrast) missing(t site.Topology) site.Spec {
	spec := t.Spec
	spec.Name, spec.Cgroup, spec.Clusters = "", "", nil
	has := map[string]bool{}
	for _, b := range t.Clusters {
		has[b.Name] = true
	}
	like := slices.IndexFunc(t.Clusters, func(b site.Built) bool { return b.Baseline }) // it has no parameters of its network
	if like < 0 {
		return spec
	}
	for _, g := range c.groups {
		for _, p := range g.places {
			if has[p.cluster] {
				continue
			}
			has[p.cluster] = true
			cluster := t.Clusters[like].ClusterSpec
			cluster.Name, cluster.Network, cluster.Axes, cluster.Baseline = p.cluster, p.network.Name, ofCluster(p.axes), p.layout != ""
			cluster.Live = g.live
			spec.Clusters = append(spec.Clusters, withSettings(accepted(p.network.Name, p.settings), cluster))
		}
	}
	return spec
}
