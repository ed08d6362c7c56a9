package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tare/result"
)

// Trace writes what following packets told: for each cell the hops as a
// waterfall, which of them the toll is in, what was lost, and where the CPUs
// were. The only error is that of w.
func Trace(w io.Writer, res *result.Result, opts Options) error {
	p := &page{columns: maxWidth, colour: opts.Colour}
	p.head(res, loadsOf(res))
	for n := range res.Cells {
		p.traced(&res.Cells[n])
	}
	p.findings(res)
	p.warnings(res)
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (p *page) traced(c *result.Cell) {
	p.title(fmt.Sprintf("%s, %s, nic %v, mtu %v: %s (%s)", c.Network, c.Path, c.Params["nic"], c.Params["mtu"], c.Workload, c.Mode))
	t := c.Trace
	if t == nil {
		p.item("  ", or(c.Reason, "not traced: no window could be measured"))
		return
	}
	p.item("  ", fmt.Sprintf("tier %d: %s", t.Tier, tierText(t)))
	p.overhead(t)
	if len(t.Hops) > 0 {
		p.line("")
		p.print(waterfall(t))
		p.item("  ", sumText(t))
	}
	p.tolls(t)
	p.ledger(t)
	p.cpu(t.CPU)
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func tierText(t *result.Trace) string {
	text := [...]string{"the kernel's counters alone", "hops and losses", "hops, losses and CPU"}[t.Tier]
	for _, lack := range t.Lacks {
		text += "; " + lack
	}
	return text
}

func (p *page) overhead(t *result.Trace) {
	if t.Metric == "" {
		return
	}
	q, _ := result.QuantityOf(t.Metric)
	s := scaleFor(q.Unit, t.Clean)
	number, _ := scaleFor("ratio", 1).difference(t.Overhead, nil, nil)
	p.item("  ", fmt.Sprintf("%s: %s clean, %s traced: tracing costs %s %%", heading(t.Metric), s.withUnit(t.Clean), s.withUnit(t.Traced), number))
}

const (
	barColumns  = 30 // the room of the waterfall's bars
	longestName = 32 // where names of devices, functions and reasons are cut
)

// waterfall is a row for each hop, its bar where it stands on the packet's way.
func waterfall(t *result.Trace) grid {
	columns := grid{
		{head: "hop"}, {head: "at"}, {head: "device"},
		{head: "clean", unit: "us", right: true}, {head: "share", unit: "%", right: true},
		{head: "traced", unit: "p50 us", right: true}, {unit: "p99 us", right: true}, {head: ""},
	}
	add := func(texts ...string) {
		for n, text := range texts {
			columns[n].cells = append(columns[n].cells, cell{text: text})
		}
	}
	name := func(text string) string { return clip(clean(text), longestName) }
	begin, direction := 0.0, ""
	for _, h := range t.Hops {
		if h.Direction != direction {
			direction = h.Direction
			add(name(direction), "", "", "", "", "", "", "")
		}
		scaled := ""
		if h.Clean != nil {
			scaled = fixed(*h.Clean*1e6, 2)
		}
		add(" "+name(h.Name), name(h.At), name(h.Device), scaled, fixed(100*h.Share, 1), fixed(h.P50*1e6, 2), fixed(h.P99*1e6, 2), bar(begin, h.Share))
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
// eighths of a column are told.
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

func sumText(t *result.Trace) string {
	us := func(s float64) string { return fixed(s*1e6, 2) + " us" }
	text := fmt.Sprintf("hops of %d ways, traced, add up to %s", t.Ways, us(t.Sum))
	if t.Metric == "rtt_p50" {
		text += fmt.Sprintf("; the workload's clock has %s (%s)", us(t.Traced), percent(t.Sum/t.Traced))
	}
	return text
}

// tolls says which hop the toll is in.
func (p *page) tolls(t *result.Trace) {
	if len(t.Tolls) == 0 {
		return
	}
	columns := grid{
		{head: "toll by hop"}, {head: "added", unit: "us", right: true}, {head: "share", unit: "%", right: true},
		{head: "traced", unit: "here us", right: true}, {unit: "host us", right: true},
	}
	whole := result.HopToll{Name: "all"}
	add := func(h result.HopToll) {
		added, _ := scale{unit: "us", size: 1e-6}.difference(h.Delta, nil, nil)
		for n, text := range []string{clip(clean(h.Name), longestName), added, fixed(100*h.Share, 0), fixed(h.Value*1e6, 2), fixed(h.Baseline*1e6, 2)} {
			columns[n].cells = append(columns[n].cells, cell{text: text})
		}
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
		p.item("  ", "lost: where and why is not seen")
	} else {
		p.item("  ", balance(l))
	}
	p.losses("lost", l.Losses)
	p.losses("no loss to it", l.Others)
	var texts []string
	for _, c := range l.Counters {
		texts = append(texts, fmt.Sprintf("%s %s +%d", c.At, c.Name, c.Value))
	}
	p.item("  counters: ", or(strings.Join(texts, ", "), "none of those that tell of lost packets has grown"))
}

// balance says whether every packet that the workload misses was seen to be
// lost.
func balance(l *result.Ledger) string {
	switch {
	case l.Found == 0 && (l.Lost == nil || *l.Lost == 0):
		return "lost: none of the workload's packets"
	case l.Lost == nil:
		return fmt.Sprintf("lost: %d of the workload's packets; it does not count them itself", l.Found)
	case *l.Lost == l.Found:
		return fmt.Sprintf("lost: %d packets, as many as the workload misses", l.Found)
	case *l.Lost < l.Found:
		return fmt.Sprintf("lost: %d packets; the workload misses %d, the others were not in its window", l.Found, *l.Lost)
	}
	return fmt.Sprintf("lost: %d packets seen, where the workload misses %d: shortfall %d, see the counters", l.Found, *l.Lost, *l.Lost-l.Found)
}

func (p *page) losses(name string, losses []result.Loss) {
	if len(losses) == 0 {
		return
	}
	columns := grid{{head: name}, {head: "packets", right: true}, {head: "at"}, {head: "device"}, {head: "function"}}
	for _, l := range losses {
		for n, text := range []string{l.Reason, fmt.Sprint(l.Packets), l.At, l.Device, l.Function} {
			columns[n].cells = append(columns[n].cells, cell{text: clip(clean(text), longestName)})
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
	p.item("  ", fmt.Sprintf("CPU: %s CPUs busy with it, by %d samples", fixed(c.CPUs, 2), c.Samples))
	var columns grid
	rows := 0
	for _, list := range []struct {
		name   string
		shares []result.Share
	}{{"context", c.Contexts}, {"layer", c.Layers}, {"kind", c.Kinds}} {
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
