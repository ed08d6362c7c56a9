package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/result"
)

// Trace writes what was seen by following packets: for each cell the hops as a
// waterfall, which of them the toll is in, what was lost, and where the CPUs
// were. The only error is that of w.
func Trace(w io.Writer, res *result.Result, opts Options) error {
	p := newPage(opts)
	p.head(res, groupsOf(res))
	for n := range res.Cells {
		p.traced(&res.Cells[n])
	}
	p.findings(res)
	p.warnings(res)
	return p.to(w, "report")
}

func (p *page) traced(c *result.Cell) {
	of := []string{c.Network, c.Path}
	if nic := c.Params.Text("nic"); nic != "" { // places that tare did not build have no model of theirs
		of = append(of, "nic "+nic)
	}
	p.title(p.of(p.join(append(of, "mtu "+c.Params.Text("mtu"))...), c.Workload+" ("+c.Mode+")"))
	t := c.Trace
	if t == nil {
		p.item("  ", cmp.Or(c.Reason, p.say("untraced")))
		return
	}
	p.item("  ", p.say("tier", "n", strconv.Itoa(t.Tier), "text", p.tier(t)))
	p.overhead(t)
	if len(t.Hops) > 0 {
		p.line("")
		p.print(p.waterfall(t))
		p.item("  ", p.sum(t))
	}
	if p.tolls(t); len(t.Tolls) == 0 && len(t.Hops) > 0 && c.Network != catalog.Baseline && t.Metric == "rtt_p50" {
		p.item("  ", p.say("no_toll_by_hop"))
	}
	p.ledger(t)
	p.cpu(t.CPU)
}

// tier is what could be seen, and why not more.
func (w words) tier(t *result.Trace) string {
	seen := [...]string{w.say("tier_counters"), w.say("tier_hops"), w.say("tier_cpu")}[t.Tier]
	return strings.Join(append([]string{seen}, t.Lacks...), w.say("semicolon"))
}

func (p *page) overhead(t *result.Trace) {
	if t.Metric == "" {
		return
	}
	q, _ := result.QuantityOf(t.Metric)
	s := scaleFor(q.Unit, t.Clean)
	number, _ := scaleFor("ratio", 1).difference(t.Overhead, nil, nil)
	p.item("  ", p.say("trace_costs", "metric", p.heading(t.Metric), "clean", s.withUnit(t.Clean), "traced", s.withUnit(t.Traced), "percent", number))
}

const (
	barColumns  = 30 // the room of the waterfall's bars
	longestName = 32 // where names of devices, functions and reasons are cut
)

// waterfall is a row for each hop, its bar where it is on the packet's way.
func (w words) waterfall(t *result.Trace) grid {
	columns := grid{
		{head: w.say("hop")}, {head: w.say("at")}, {head: w.say("device")},
		{head: w.say("clean"), unit: "us", right: true}, {head: w.say("share"), unit: "%", right: true},
		{head: w.say("traced"), unit: "p50 us", right: true}, {unit: "p99 us", right: true}, {head: ""},
	}
	name := func(text string) string { return clip(result.Plain(text), longestName) }
	begin, direction := 0.0, ""
	for _, h := range t.Hops {
		if h.Direction != direction {
			direction = h.Direction
			columns.add(name(direction), "", "", "", "", "", "", "")
		}
		scaled := ""
		if h.Clean != nil {
			scaled = fixed(*h.Clean*1e6, 2)
		}
		columns.add(" "+name(h.Name), name(h.At), name(h.Device), scaled, fixed(100*h.Share, 1), fixed(h.P50*1e6, 2), fixed(h.P99*1e6, 2), bar(begin, h.Share))
		begin += h.Share
	}
	if t.Hops[0].Clean == nil {
		columns = slices.Delete(columns, cleanColumn, cleanColumn+1)
	}
	return columns
}

// cleanColumn is that of times without the tracer, which not every workload
// has.
const cleanColumn = 3

// bar is a hop's own, between the shares of the way where it begins and ends;
// it is exact to an eighth of a column.
func bar(begin, share float64) string {
	const eighths = 8
	first := int(begin*barColumns*eighths + 0.5)
	last := max(first+1, int((begin+share)*barColumns*eighths+0.5))
	lead, length := first/eighths, (last-first+eighths-1)/eighths
	if lead+length > barColumns {
		lead = max(0, barColumns-length)
	}
	text := strings.Repeat("█", (last-first)/eighths)
	if rest := (last - first) % eighths; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return strings.Repeat(" ", lead) + text
}

// sum is what the hops add up to, compared with the time that the workload measured.
func (w words) sum(t *result.Trace) string {
	us := func(s float64) string { return fixed(s*1e6, 2) + " us" }
	text := w.say("hops_sum", "n", strconv.FormatUint(t.Ways, 10), "sum", us(t.Sum))
	if t.Metric == "rtt_p50" {
		text += w.say("hops_clock", "traced", us(t.Traced), "share", percent(t.Sum/t.Traced))
	}
	return text
}

// tolls prints which hop the toll is in.
func (p *page) tolls(t *result.Trace) {
	if len(t.Tolls) == 0 {
		return
	}
	columns := grid{
		{head: p.say("toll_by_hop")}, {head: p.say("added"), unit: "us", right: true}, {head: p.say("share"), unit: "%", right: true},
		{head: p.say("traced"), unit: p.say("here_us"), right: true}, {unit: "host us", right: true},
	}
	whole := result.HopToll{Name: p.say("all")}
	add := func(h result.HopToll) {
		added, _ := scale{unit: "us", size: 1e-6}.difference(h.Delta, nil, nil)
		columns.add(clip(result.Plain(h.Name), longestName), added, fixed(100*h.Share, 0), fixed(h.Value*1e6, 2), fixed(h.Baseline*1e6, 2))
	}
	for _, h := range t.Tolls {
		add(h)
		whole.Value, whole.Baseline = whole.Value+h.Value, whole.Baseline+h.Baseline
		whole.Delta, whole.Share = whole.Delta+h.Delta, whole.Share+h.Share
	}
	add(whole)
	p.line("")
	p.print(columns)
}

func (p *page) ledger(t *result.Trace) {
	l := t.Ledger
	if l == nil {
		return
	}
	p.line("")
	if t.Tier == 0 {
		p.item("  ", p.say("lost_unseen"))
	} else {
		p.item("  ", p.balance(l))
	}
	p.losses(p.say("lost"), l.Losses)
	p.losses(p.say("lost_to_others"), l.Others)
	var texts []string
	for _, c := range l.Counters {
		texts = append(texts, fmt.Sprintf("%s %s +%d", c.At, c.Name, c.Value))
	}
	p.item("  "+p.say("lead_counters"), cmp.Or(p.join(texts...), p.say("no_counter")))
}

// balance is whether every packet that the workload misses was seen to be lost.
func (w words) balance(l *result.Ledger) string {
	found := strconv.FormatUint(l.Found, 10)
	switch {
	case l.Found == 0 && (l.Lost == nil || *l.Lost == 0):
		return w.say("lost_none")
	case l.Lost == nil:
		return w.say("lost_uncounted", "found", found)
	case *l.Lost == l.Found:
		return w.say("lost_all_found", "found", found)
	}
	lost := strconv.FormatUint(*l.Lost, 10)
	if *l.Lost < l.Found {
		return w.say("lost_outside", "found", found, "lost", lost)
	}
	return w.say("lost_shortfall", "found", found, "lost", lost, "missing", strconv.FormatUint(*l.Lost-l.Found, 10))
}

func (p *page) losses(name string, losses []result.Loss) {
	if len(losses) == 0 {
		return
	}
	columns := grid{{head: name}, {head: p.say("packets"), right: true}, {head: p.say("at")}, {head: p.say("device")}, {head: p.say("function")}}
	for _, l := range losses {
		for n, text := range []string{l.Reason, fmt.Sprint(l.Packets), l.At, l.Device, l.Function} {
			columns[n].cells = append(columns[n].cells, cell{text: clip(result.Plain(text), longestName)})
		}
	}
	p.print(columns)
}

// leastShown is the smallest share of CPU that has a row.
const leastShown = 0.005

// cpu is a table of three lists side by side.
func (p *page) cpu(c *result.CPUUse) {
	if c == nil {
		return
	}
	p.line("")
	p.item("  ", p.say("cpu_busy", "cpus", fixed(c.CPUs, 2), "samples", strconv.FormatUint(c.Samples, 10)))
	var columns grid
	rows := 0
	for _, list := range []struct {
		name   string
		shares []result.Share
	}{{p.say("context"), c.Contexts}, {p.say("layer"), c.Layers}, {p.say("kind"), c.Kinds}} {
		names, shares := column{head: list.name}, column{head: "%", right: true}
		for _, s := range list.shares {
			if s.Share >= leastShown {
				names.cells = append(names.cells, cell{text: s.Name})
				shares.cells = append(shares.cells, cell{text: fixed(100*s.Share, 0)})
			}
		}
		rows = max(rows, len(names.cells))
		columns = append(columns, names, shares)
	}
	for n := range columns {
		columns[n].cells = append(columns[n].cells, make([]cell, rows-len(columns[n].cells))...)
	}
	p.print(columns)
}
