package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"tare/result"
)

// Imported writes cells that were read from other tools' outputs as tables: one
// per file, a line per run, and what touches the numbers below. The only error
// is that of w.
func Imported(w io.Writer, res *result.Result, opts Options) error {
	p := &page{columns: maxWidth, colour: opts.Colour}
	if opts.Width > 0 {
		p.columns = min(max(opts.Width, minWidth), maxWidth)
	}
	p.line(plural(len(res.Cells), "run"))
	var n notes
	for cells := res.Cells; len(cells) > 0; {
		file, next := given(cells[0], "file"), 1
		for next < len(cells) && given(cells[next], "file") == file {
			next++
		}
		if file == "-" {
			file = "standard input"
		}
		p.title(file)
		p.print(importedGrid(cells[:next], &n))
		cells = cells[next:]
	}
	p.line("")
	p.legend(&n)
	p.item("  ", "percentiles, counters and the series per interval: --json")
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// importedGrid is the table of a file, with the columns that some run fills.
func importedGrid(cells []result.Cell, n *notes) grid {
	all := grid{
		{head: "tool"}, {head: "workload"}, {head: "side"}, {head: "flows", right: true}, {head: "size", unit: "bytes", right: true},
		{head: "measured"}, {head: "lost"},
	}
	for _, c := range cells {
		load := c.Workload
		if way := given(c, "direction"); way == "reverse" || way == "bidir" {
			load += " " + way
		}
		measured := measuredText(c, n) + n.mark(aboutRun(c))
		for i, text := range []string{
			clean(c.Mode), clean(load), clean(given(c, "side")), given(c, "flows", "connections", "threads", "workers"), given(c, "size"),
			measured, lostText(c, n),
		} {
			all[i].cells = append(all[i].cells, cell{text: clip(orDash(text), 40)})
		}
	}
	g := all[:1]
	for _, c := range all[1:] {
		if !c.empty() {
			g = append(g, c)
		}
	}
	return g
}

// given is the first of the params that is known.
func given(c result.Cell, names ...string) string {
	for _, name := range names {
		switch v := c.Params[name].(type) {
		case nil:
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		default:
			return fmt.Sprint(v)
		}
	}
	return ""
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// measuredText is what a run found: the number of its workload first.
func measuredText(c result.Cell, n *notes) string {
	throughput, rate := []string{"throughput"}, []string{"rate", "offered_rate"}
	latency := []string{"rtt_p50", "rtt_mean", "latency_one_way", "latency_mean"}
	order := [][]string{rate, latency} // of requests: bytes are not what they are about
	switch {
	case strings.HasSuffix(c.Workload, "_rr"):
		order = [][]string{latency, rate}
	case metricOf(&c, "rate") == nil:
		order = [][]string{throughput, rate, latency}
	}
	var texts []string
	for _, names := range order {
		for _, name := range names {
			if m := metricOf(&c, name); m != nil {
				text := scaleFor(m.Unit, m.Value).withUnit(m.Value) + " " + called(name)
				if m.Ceiling != nil {
					text = strings.TrimSpace(text) + " (" + percent(m.Ceiling.Ratio) + " of the wire)"
				}
				texts = append(texts, strings.TrimSpace(text)+n.mark(m.Warnings))
				break
			}
		}
	}
	for _, s := range c.Samples {
		if back, told := s.Counters["throughput_reverse"]; told {
			texts = append(texts, scaleFor("bit/s", back).withUnit(back)+" back")
		}
	}
	if c.Status != result.StatusOK {
		texts = append(texts, clean(c.Status))
	}
	return strings.Join(texts, ", ")
}

// lostText is what did not arrive, or had to be sent again.
func lostText(c result.Cell, n *notes) string {
	if m := metricOf(&c, "loss"); m != nil {
		return scaleFor(m.Unit, m.Value).withUnit(m.Value) + n.mark(m.Warnings)
	}
	if m := metricOf(&c, "retransmits"); m != nil {
		return scaleFor(m.Unit, m.Value).withUnit(m.Value) + " resent" + n.mark(m.Warnings)
	}
	return ""
}

// called is what a metric is, in a word.
func called(name string) string {
	switch name {
	case "offered_rate":
		return "sent"
	case "rtt_p50":
		return "rtt p50"
	case "rtt_mean":
		return "rtt mean"
	case "latency_one_way":
		return "one way"
	case "latency_mean":
		return "mean"
	}
	return ""
}

// aboutRun is what touches a run as a whole.
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
