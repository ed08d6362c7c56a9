package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// Imported writes cells that were read from other tools' outputs as tables: one
// per file, a line per run, and what affects the numbers below. The only error
// is that of w.
func Imported(w io.Writer, res *result.Result, opts Options) error {
	p := newPage(opts)
	p.line(p.count("run", len(res.Cells)))
	var n notes
	for cells := res.Cells; len(cells) > 0; {
		file, next := given(cells[0], "file"), 1
		for next < len(cells) && given(cells[next], "file") == file {
			next++
		}
		if file == "-" {
			file = p.say("standard_input")
		}
		p.title(file)
		p.print(p.importedGrid(cells[:next], &n))
		cells = cells[next:]
	}
	p.line("")
	p.legend(&n)
	if text := p.framing(res.Cells); text != "" {
		p.item("  ", text)
	}
	p.item("  ", p.say("import_more"))
	return p.to(w, "table")
}

// importedGrid is the table of a file, with the columns that some run fills.
func (w words) importedGrid(cells []result.Cell, n *notes) grid {
	all := grid{
		{head: w.say("tool")}, {head: w.say("load")}, {head: w.say("side")}, {head: w.say("flows"), right: true}, {head: w.say("size"), unit: "bytes", right: true},
		{head: w.say("measured_head")}, {head: w.say("lost")},
	}
	for _, c := range cells {
		load := c.Workload
		if way := given(c, "direction"); way == "reverse" || way == "bidir" {
			load += " " + way
		}
		measured := w.measured(c, n) + n.mark(aboutRun(c))
		row := []string{
			result.Plain(c.Mode), result.Plain(load), result.Plain(given(c, "side")), given(c, "flows", "connections", "threads", "workers"), given(c, "size"),
			measured, w.lost(c, n),
		}
		for i, text := range row {
			row[i] = clip(cmp.Or(text, "-"), 40)
		}
		all.add(row...)
	}
	return append(all[:1], slices.DeleteFunc(all[1:], column.empty)...)
}

// given is the first of the params that is known.
func given(c result.Cell, names ...string) string {
	for _, name := range names {
		if c.Params.Has(name) {
			return c.Params.Text(name)
		}
	}
	return ""
}

// measured is what a run found: the number of its workload first.
func (w words) measured(c result.Cell, n *notes) string {
	throughput, rate := []string{"throughput"}, []string{"rate", "offered_rate"}
	latency := []string{"rtt_p50", "rtt_mean", "latency_one_way", "latency_mean"}
	kind, _ := catalog.FindWorkload(c.Workload)
	order := [][]string{rate, latency} // of requests: bytes are not what they are about
	switch {
	case strings.HasPrefix(kind.Headline, "rtt_"):
		order = [][]string{latency, rate}
	case weigh.Metric(&c, "rate") == nil:
		order = [][]string{throughput, rate, latency}
	}
	var texts []string
	for _, names := range order {
		for _, name := range names {
			if m := weigh.Metric(&c, name); m != nil {
				text := w.called(name, scaleFor(m.Unit, m.Value).withUnit(m.Value))
				if m.Ceiling != nil {
					text += w.aside(w.say("of_wire", "value", percent(m.Ceiling.Ratio)))
				}
				texts = append(texts, text+n.mark(m.Warnings))
				break
			}
		}
	}
	for _, s := range c.Samples {
		if back, known := s.Counters["throughput_reverse"]; known {
			texts = append(texts, w.say("back", "value", scaleFor("bit/s", back).withUnit(back)))
		}
	}
	if c.Status != result.StatusOK {
		texts = append(texts, w.state(c.Status))
	}
	return w.join(texts...)
}

// framing is what the headers of the network whose runs these are take; empty where
// that is not known.
func (w words) framing(cells []result.Cell) string {
	for _, c := range cells {
		if m := weigh.Metric(&c, "throughput"); m != nil && m.Ceiling != nil && m.Ceiling.Framing > 0 {
			return w.say("headers_take", "network", clip(result.Plain(c.Network), 40), "value", percent(m.Ceiling.Framing))
		}
	}
	return ""
}

// lost is what did not arrive, or had to be sent again.
func (w words) lost(c result.Cell, n *notes) string {
	if m := weigh.Metric(&c, "loss"); m != nil {
		return scaleFor(m.Unit, m.Value).withUnit(m.Value) + n.mark(m.Warnings)
	}
	if m := weigh.Metric(&c, "retransmits"); m != nil {
		return w.say("resent", "value", scaleFor(m.Unit, m.Value).withUnit(m.Value)) + n.mark(m.Warnings)
	}
	return ""
}

// called is a value with the name of its metric.
func (w words) called(metric, value string) string {
	switch metric {
	case "offered_rate":
		return w.say("sent", "value", value)
	case "rtt_p50":
		return w.say("rtt_p50_is", "value", value)
	case "rtt_mean":
		return w.say("rtt_mean_is", "value", value)
	case "latency_one_way":
		return w.say("one_way", "value", value)
	case "latency_mean":
		return w.say("mean", "value", value)
	}
	return value
}

// aboutRun is what affects a run as a whole.
func aboutRun(run result.Cell) []string {
	var texts []string
	if run.Status != result.StatusOK {
		texts = append(texts, run.Reason)
	}
	for _, s := range run.Samples {
		texts = append(texts, s.Warnings...)
	}
	return texts
}
