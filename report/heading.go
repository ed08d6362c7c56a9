package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// top begins a report.
func (p *page) top(res *result.Result, groups []*weigh.Group) {
	p.head(res, groups)
	if hasToll(res) {
		p.item("", p.say("toll_is", "baseline", catalog.Baseline))
	}
}

// head prints what was weighed, where, how, and how quiet the machine was.
func (p *page) head(res *result.Result, groups []*weigh.Group) {
	p.strong(p.weighed(res, groups))
	p.item("", p.machine(res.Environment))
	p.item("", p.setUp(res.Plan))
	if text := p.applications(groups, res.Environment.Parts); text != "" {
		p.item("", text)
	}
	p.item("", p.quiet(res, groups))
	p.interrupted(res)
}

// brief is what an answer needs of the head: how it was measured is with the tables.
func (p *page) brief(res *result.Result, groups []*weigh.Group) {
	p.strong(p.weighed(res, groups))
	env := res.Environment
	env.LabUp = 0
	p.item("", p.machine(env))
	p.item("", p.quiet(res, groups))
	p.interrupted(res)
}

func (p *page) interrupted(res *result.Result) {
	if res.Finished == "" {
		p.line(p.paint(p.say("interrupted"), yellow))
	}
}

// mostNamed is up to how many networks and paths a heading names; it counts more.
const mostNamed = 3

// weighed says what was compared, of what was asked for: by name where that is few.
func (w words) weighed(res *result.Result, groups []*weigh.Group) string {
	var networks, paths, workloads []string
	baseline := false
	for _, g := range askedOf(res.Plan, groups) {
		for _, c := range g.Cells {
			switch {
			case c.Status != result.StatusOK:
				continue
			case c.Network == catalog.Baseline:
				baseline = true
			default:
				networks = result.AddOnce(networks, clip(result.Plain(c.Network), 24))
			}
			paths, workloads = result.AddOnce(paths, c.Path), result.AddOnce(workloads, c.Workload)
		}
	}
	name := "tare"
	if plan := result.Plain(res.Plan.Name); plan != "" {
		name += " " + clip(plan, 30)
	}
	if len(paths) == 0 {
		return w.say("weighed_nothing", "name", name, "blocks", w.blocksDone(res))
	}
	compared, between, under := w.count("network", len(networks)), w.say("on", "paths", w.count("path", len(paths))), w.count("workload", len(workloads))
	if n := len(networks); n > 0 && n <= mostNamed && !slices.Contains(networks, "") { // what was imported has no names
		compared = w.allOf(networks)
	}
	switch {
	case len(networks) == 0:
		compared = catalog.Baseline
	case baseline:
		compared = w.say("against", "networks", compared, "baseline", catalog.Baseline)
	}
	if len(paths) == 1 && paths[0] != "" {
		between = w.between(paths[0])
	}
	if n := len(workloads); n > 0 && n <= mostNamed {
		under = clip(result.Plain(w.list(workloads)), 40)
	}
	return w.say("weighed", "name", name, "networks", compared, "paths", between, "workloads", under, "blocks", w.blocksDone(res))
}

// between says where a path leads.
func (w words) between(path string) string {
	switch path {
	case catalog.SameHost:
		return w.say("within_host")
	case catalog.CrossHost:
		return w.say("between_hosts")
	}
	return w.say("on", "paths", clip(result.Plain(path), 30))
}

// allOf names some things, the last after an "and".
func (w words) allOf(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return w.list(names[:last]) + w.say("and") + names[last]
}

// blocksDone is how many blocks were measured, and of how many.
func (w words) blocksDone(res *result.Result) string {
	least, done := measured(res)
	switch planned := res.Plan.Blocks; {
	case done == 0:
		return w.say("no_samples")
	case len(res.Pairs) > 0: // each is a block
		return w.say("pairs_done", "n", strconv.Itoa(done), "pairs", w.count("pair", len(res.Pairs)))
	case res.Plan.Looks && least < done:
		return w.say("blocks_from", "n", strconv.Itoa(least), "blocks", w.count("block", done))
	case planned > done && !res.Plan.Looks: // else nobody knew beforehand
		return w.say("blocks_done", "n", strconv.Itoa(done), "blocks", w.count("block", planned))
	}
	return w.count("block", done)
}

// measured is how many blocks the cells have that have any, at least and at most.
func measured(res *result.Result) (least, most int) {
	for _, c := range res.Cells {
		done := map[int]bool{}
		for _, s := range c.Samples {
			done[s.Block] = true
		}
		if n := len(done); n > 0 {
			most = max(most, n)
			if least == 0 || n < least {
				least = n
			}
		}
	}
	return least, most
}

// machine is where it was measured.
func (w words) machine(env result.Environment) string {
	parts := []string{"Linux " + w.orUnknown(env.Kernel), "CPU " + w.orUnknown(env.CPUModel)}
	if env.CPUs > 0 {
		parts = append(parts, w.count("cpu", env.CPUs))
	}
	switch env.Virtualisation {
	case "":
	case "none":
		parts = append(parts, w.say("bare_metal"))
	default:
		parts = append(parts, w.say("virtualised", "name", clip(w.state(env.Virtualisation), 40)))
	}
	if env.Privilege != "" {
		parts = append(parts, w.say("as_user", "name", clip(w.state(env.Privilege), 40)))
	}
	return w.say("machine_is", "text", w.join(parts...)) + w.labCost(env)
}

// labCost is what the lab took of the machine.
func (w words) labCost(env result.Environment) string {
	if env.LabUp <= 0 {
		return ""
	}
	up := scaleFor("s", float64(env.LabUp)).withUnit(float64(env.LabUp))
	if env.LabMemoryBytes > 0 {
		return w.say("lab_up_memory", "time", up, "memory", strconv.FormatInt(int64(env.LabMemoryBytes>>20), 10))
	}
	return w.say("lab_up", "time", up)
}

func (w words) orUnknown(text string) string {
	if text = result.Plain(text); text == "" {
		return w.say("unknown")
	}
	return clip(text, 60)
}

// linkText is the link between the hosts: its rates, and what it does besides.
func (w words) linkText(plan result.Plan) string {
	var all []string
	for _, axis := range result.PlannedAxes() {
		var texts []string
		for _, value := range plan.Axes[axis.Name] {
			if text := axisText(axis, result.Params{axis.Name: value}); text != "" {
				texts = append(texts, text)
			}
		}
		if axis.Frames && len(texts) > 0 {
			all = append(all, axis.Name+" "+strings.Join(texts, w.say("and")))
		}
	}
	if len(all) == 0 {
		return w.say("link_open")
	}
	return w.join(all...)
}

// setUp is how the plan had it measured.
func (w words) setUp(plan result.Plan) string {
	var parts []string
	say := func(key, value string) {
		if value = clip(result.Plain(value), 40); value != "" {
			parts = append(parts, w.say(key, "value", value))
		}
	}
	add := func(name, value string) {
		if value = clip(result.Plain(value), 40); value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	axis := func(name string) { add(name, strings.Join(plan.Axes.Words(name), w.say("and"))) }
	switch length := scaleFor("s", float64(plan.Duration)).withUnit(float64(plan.Duration)); {
	case plan.Duration == 0:
	case plan.Design == result.DesignSlots:
		say("in_slots", length)
	default:
		say("window", length)
	}
	if plan.Site == "" {
		axis("nic")
		if len(plan.EncapNIC) > 0 {
			say("encap_nic", strings.Join(plan.EncapNIC, w.say("and")))
		}
		parts = append(parts, w.linkText(plan))
	}
	axis("mtu")
	if plan.Site == "" {
		axis("pin")
		axis("cpus")
	}
	axis("cc")
	parts = append(parts, commonOf(plan)...)
	if plan.Seed != 0 {
		add("seed", strconv.FormatUint(plan.Seed, 10))
	}
	return w.say("set_up", "text", w.join(parts...))
}

// commonOf are the settings that each network of a plan always has, where it is there with several.
func commonOf(plan result.Plan) (texts []string) {
	of := map[string][]result.Settings{}
	for _, n := range plan.Networks {
		of[n.Name] = append(of[n.Name], n.Params)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if common := alike(of[name]); common != "" {
			texts = append(texts, clip(result.Plain(name+" "+common.String()), 80))
		}
	}
	return texts
}

// applications names the programs at the two ends of each application.
func (w words) applications(groups []*weigh.Group, versions map[string]string) string {
	program := func(text string) string {
		return strings.TrimSpace(clip(result.Plain(text), 20) + " " + clip(result.Plain(versions[text]), 20))
	}
	var programs []string
	for _, g := range groups {
		for _, c := range g.Cells {
			if !c.Params.Has("server") || !c.Params.Has("tool") {
				continue
			}
			text := w.say("application", "workload", clip(result.Plain(c.Workload), 20), "server", program(c.Params.Text("server")), "tool", program(c.Params.Text("tool")))
			programs = result.AddOnce(programs, text)
		}
	}
	if len(programs) == 0 {
		return ""
	}
	return w.say("applications", "text", w.join(programs...))
}

// quiet describes how much the machine disturbed the run.
func (w words) quiet(res *result.Result, groups []*weigh.Group) string {
	noise, margin := res.Noise, res.Plan.Margin
	text, halfWidth, differ := w.baselinesApart(judged(noise.AA, groups))
	parts := []string{text}
	if noise.Steal >= 0 {
		parts = append(parts, w.say("stolen", "share", percent(noise.Steal)))
	}
	if noise.Pressure >= 0 {
		parts = append(parts, w.say("pressure", "share", percent(noise.Pressure)))
	}
	if noise.ForeignCPU > 0 {
		parts = append(parts, w.say("busy", "n", clip(fixed(noise.ForeignCPU, 1), 8)))
	}
	if text := w.idleDaemons(noise.Daemons); text != "" {
		parts = append(parts, text)
	}
	noisiness := w.join(parts...)
	switch {
	case differ, halfWidth > 3*margin, noise.Steal > 0.05, noise.Pressure > 0.3:
		return w.say("machine_noisy", "text", noisiness)
	case !(halfWidth > 0):
		return w.say("machine_unknown", "text", noisiness)
	case halfWidth > margin, noise.Steal > 0.01, noise.Pressure > 0.1:
		return w.say("machine_fairly_quiet", "text", noisiness)
	}
	return w.say("machine_quiet", "text", noisiness)
}

// leastDaemons is the share of a CPU from which idle daemons are mentioned.
const leastDaemons = 0.001

// idleDaemons is the CPU time that the daemons of other networks took, the most
// first.
func (w words) idleDaemons(used *result.Daemons) string {
	if used == nil || !(used.CPU >= leastDaemons) {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(used.Each), func(a, b string) int {
		return cmp.Or(cmp.Compare(used.Each[b], used.Each[a]), cmp.Compare(a, b))
	})
	var each []string
	for _, name := range names[:min(len(names), 3)] {
		if used.Each[name] >= leastDaemons {
			each = append(each, clip(result.Plain(name), 15)+" "+percent(used.Each[name]))
		}
	}
	text := w.say("idle_daemons", "share", percent(used.CPU))
	if len(each) > 0 {
		text += w.aside(w.join(each...))
	}
	return text
}

// judged are the A/A comparisons of the metrics that verdicts are about.
func judged(list []result.AA, groups []*weigh.Group) []result.AA {
	return slices.DeleteFunc(slices.Clone(list), func(aa result.AA) bool {
		return !slices.ContainsFunc(groups, func(g *weigh.Group) bool { return matches(g, aa) && headline(g) == aa.Metric })
	})
}

// baselinesApart gives the widest interval of a baseline against itself, and whether
// any of them differ. halfWidth is 0 where there is no interval.
func (w words) baselinesApart(list []result.AA) (text string, halfWidth float64, differ bool) {
	apart := 0
	var widest result.AA
	for _, aa := range list {
		if halfWidthOf(aa) > halfWidth {
			widest, halfWidth = aa, halfWidthOf(aa)
		}
		if v := stats.Verdict(aa.Verdict); v == stats.Slower || v == stats.Faster {
			apart++
		}
	}
	if halfWidth == 0 {
		return w.say("aa_unknown"), 0, false
	}
	text = w.say("aa_widest", "share", percent(halfWidth), "path", clip(result.Plain(widest.Path), 30),
		"workload", clip(result.Plain(widest.Workload), 20), "metric", w.heading(widest.Metric))
	if apart > 0 {
		text += w.say("aa_differs", "n", strconv.Itoa(apart), "comparisons", w.count("comparison", len(list)))
	}
	return text, halfWidth, apart > 0
}

func hasToll(res *result.Result) bool {
	return slices.ContainsFunc(res.Cells, func(c result.Cell) bool {
		return slices.ContainsFunc(c.Metrics, func(m result.Metric) bool { return m.Toll != nil })
	})
}
