package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// top begins a report.
func (p *page) top(res *result.Result, loads []*load) {
	p.head(res, loads)
	if hasToll(res) {
		p.item("", "A toll is what a network costs against "+network.Baseline+": + is worse. [low, high] is its 95 % interval.")
	}
	if res.Finished == "" {
		p.line(p.paint("Interrupted: this is what was measured until then.", yellow))
	}
}

// head says what was weighed, where, how, and how quiet the machine was.
func (p *page) head(res *result.Result, loads []*load) {
	p.line(p.paint(clip(weighed(res, loads), p.columns), bold))
	p.item("", machine(res.Environment))
	p.item("", setUp(res.Plan))
	if text := applications(loads, res.Environment.Parts); text != "" {
		p.item("", text)
	}
	p.item("", quiet(res, loads))
}

// weighed counts what was measured.
func weighed(res *result.Result, loads []*load) string {
	networks, paths := map[string]bool{}, map[string]bool{}
	var workloads []string
	for _, l := range loads {
		for _, c := range l.cells {
			if c.Status != result.StatusOK {
				continue
			}
			networks[c.Network], paths[c.Path] = true, true
			if !slices.Contains(workloads, c.Workload) {
				workloads = append(workloads, c.Workload)
			}
		}
	}
	text := "tare"
	if name := clean(res.Plan.Name); name != "" {
		text += " " + clip(name, 30)
	}
	under := plural(len(workloads), "workload")
	if n := len(workloads); n > 0 && n < 4 {
		under = clip(clean(strings.Join(workloads, ", ")), 40)
	}
	return fmt.Sprintf("%s: %s on %s under %s, %s", text, plural(len(networks), "network"),
		plural(len(paths), "path"), under, blocksDone(res))
}

// blocksDone is how many blocks were measured, and of how many.
func blocksDone(res *result.Result) string {
	done := map[int]bool{}
	for _, c := range res.Cells {
		for _, s := range c.Samples {
			done[s.Block] = true
		}
	}
	switch planned := res.Plan.Blocks; {
	case len(done) == 0:
		return "no samples"
	case planned > len(done):
		return fmt.Sprintf("%d of %s", len(done), plural(planned, "block"))
	}
	return plural(len(done), "block")
}

// machine is where it was measured.
func machine(env result.Environment) string {
	parts := []string{"Linux " + orUnknown(env.Kernel), "CPU " + orUnknown(env.CPUModel)}
	if env.CPUs > 0 {
		parts = append(parts, plural(env.CPUs, "CPU"))
	}
	switch env.Virtualisation {
	case "":
	case "none":
		parts = append(parts, "bare metal")
	default:
		parts = append(parts, "virtualised by "+clip(clean(env.Virtualisation), 40))
	}
	if env.Privilege != "" {
		parts = append(parts, "as "+clip(clean(env.Privilege), 40))
	}
	return "Machine: " + strings.Join(parts, ", ") + "." + labCost(env)
}

// labCost is what the lab took of the machine.
func labCost(env result.Environment) string {
	if env.LabUp <= 0 {
		return ""
	}
	text := " Lab: up in " + scaleFor("s", float64(env.LabUp)).withUnit(float64(env.LabUp))
	if env.LabMemoryBytes > 0 {
		text += fmt.Sprintf(", %d MB", env.LabMemoryBytes>>20)
	}
	return text + "."
}

func orUnknown(text string) string {
	if text = clean(text); text == "" {
		return "unknown"
	}
	return clip(text, 60)
}

// linkText is what the hosts are joined by.
func linkText(plan result.Plan) string {
	var rates []string
	for _, link := range append([]result.BitsPerSecond{plan.Link}, plan.Links...) {
		if link > 0 {
			rates = append(rates, scaleFor("bit/s", float64(link)).withUnit(float64(link)))
		}
	}
	if len(rates) == 0 {
		return "as fast as the CPU"
	}
	return strings.Join(rates, " and ")
}

// setUp is how the plan had it measured.
func setUp(plan result.Plan) string {
	var parts []string
	add := func(name, value string) {
		if value = clip(clean(value), 40); value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	if plan.Duration > 0 {
		add("window", scaleFor("s", float64(plan.Duration)).withUnit(float64(plan.Duration)))
	}
	add("nic", strings.Join(plan.NIC, " and "))
	if len(plan.EncapNIC) > 0 {
		add("for overlays also", strings.Join(plan.EncapNIC, " and "))
	}
	add("link", linkText(plan))
	if plan.MTU > 0 {
		add("mtu", strconv.Itoa(plan.MTU))
	}
	add("pin", plan.Pin)
	add("cc", plan.CC)
	if plan.Seed != 0 {
		add("seed", strconv.FormatUint(plan.Seed, 10))
	}
	return "Set-up: " + strings.Join(parts, ", ") + "."
}

// applications says which programs stood at the two ends of each application.
func applications(loads []*load, versions map[string]string) string {
	program := func(name any) string {
		text, _ := name.(string)
		return strings.TrimSpace(clip(clean(text), 20) + " " + clip(clean(versions[text]), 20))
	}
	var said []string
	for _, l := range loads {
		for _, c := range l.cells {
			if c.Params["server"] == nil || c.Params["tool"] == nil {
				continue
			}
			text := clip(clean(c.Workload), 20) + " of " + program(c.Params["server"]) + " by " + program(c.Params["tool"])
			if !slices.Contains(said, text) {
				said = append(said, text)
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "Applications: " + strings.Join(said, ", ") + "."
}

// quiet says in words how much the machine disturbed the run.
func quiet(res *result.Result, loads []*load) string {
	noise, margin := res.Noise, res.Plan.Margin
	text, halfWidth, differ := baselinesApart(judged(noise.AA, loads))
	parts := []string{text, "steal " + percent(noise.Steal)}
	if noise.Pressure >= 0 {
		parts = append(parts, "CPU pressure "+percent(noise.Pressure))
	}
	if noise.ForeignCPU > 0 {
		parts = append(parts, clip(fixed(noise.ForeignCPU, 1), 8)+" CPUs busy with other work before the run")
	}
	if text := idleDaemons(noise.Daemons); text != "" {
		parts = append(parts, text)
	}
	word := "Quiet machine: "
	switch {
	case differ, halfWidth > 3*margin, noise.Steal > 0.05, noise.Pressure > 0.3:
		word = "Noisy machine: "
	case !(halfWidth > 0 && halfWidth <= margin), noise.Steal > 0.01, noise.Pressure > 0.1:
		word = "Fairly quiet machine: "
	}
	return word + strings.Join(parts, ", ") + "."
}

// leastDaemons is the share of a CPU from which idle daemons are worth a word.
const leastDaemons = 0.001

// idleDaemons says what the daemons of other networks took, the greatest first.
func idleDaemons(used *result.Daemons) string {
	if used == nil || !(used.CPU >= leastDaemons) {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(used.Each), func(a, b string) int {
		return cmp.Or(cmp.Compare(used.Each[b], used.Each[a]), cmp.Compare(a, b))
	})
	var each []string
	for _, name := range names[:min(len(names), 3)] {
		if used.Each[name] >= leastDaemons {
			each = append(each, clip(clean(name), 15)+" "+percent(used.Each[name]))
		}
	}
	text := "idle daemons of other networks took " + percent(used.CPU) + " of a CPU"
	if len(each) > 0 {
		text += " (" + strings.Join(each, ", ") + ")"
	}
	return text
}

// judged are the A/A comparisons of the metrics that verdicts are about.
func judged(list []result.AA, loads []*load) []result.AA {
	return slices.DeleteFunc(slices.Clone(list), func(aa result.AA) bool {
		return !slices.ContainsFunc(loads, func(l *load) bool { return l.matches(aa) && headline(l) == aa.Metric })
	})
}

// baselinesApart tells the widest interval of a baseline against itself, and
// whether any of them differ. halfWidth is 0 where there is no interval.
func baselinesApart(list []result.AA) (text string, halfWidth float64, differ bool) {
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
		return "no interval of host against itself (A/A)", 0, false
	}
	text = fmt.Sprintf("host against itself (A/A) ±%s at worst (%s, %s, %s)", percent(halfWidth),
		clip(clean(widest.Path), 30), clip(clean(widest.Workload), 20), clip(clean(widest.Metric), 20))
	if apart > 0 {
		text += fmt.Sprintf(" and differs in %d of %s", apart, plural(len(list), "comparison"))
	}
	return text, halfWidth, apart > 0
}

func hasToll(res *result.Result) bool {
	return slices.ContainsFunc(res.Cells, func(c result.Cell) bool {
		return slices.ContainsFunc(c.Metrics, func(m result.Metric) bool { return m.Toll != nil })
	})
}
