package report

import (
	"fmt"
	"strings"

	"tare/result"
)

// kernels prints how each kernel of a result differs from the first.
func (p *page) kernels(res *result.Result) {
	if res.Kernels == nil {
		return
	}
	if res.Environment.Emulated() {
		p.item("", p.say("kernels_emulated"))
	}
	for _, m := range res.Kernels.Machines {
		if m.Reason != "" {
			p.item("", p.kernelLost(m))
		}
	}
	for _, c := range res.Kernels.Compared {
		p.title(p.kernelsTitle(c))
		p.item("", p.kernelsAre(c))
		for _, t := range tablesOf(p.words, c) {
			p.line("")
			p.item("", t.title)
			p.print(t.columns(p.words, c.Judged))
		}
		p.single(c.Single)
	}
}

func (w words) kernelLost(m result.KernelMachine) string {
	return w.say("kernels_lost", "kernel", result.Plain(m.Release), "image", result.Plain(m.Image), "reason", result.Plain(m.Reason))
}

func (w words) kernelsTitle(c result.Comparison) string {
	return w.say("kernels_title", "old", c.Old.File, "new", c.New.File)
}

func (w words) kernelsAre(c result.Comparison) string {
	return w.say("kernels_are", "old", c.Old.File, "new", c.New.File)
}

// markdownKernels is the same as Markdown.
func markdownKernels(b *strings.Builder, w words, res *result.Result) {
	if res.Kernels == nil {
		return
	}
	if res.Environment.Emulated() {
		fmt.Fprintf(b, "\n%s\n", markdownText(w.say("kernels_emulated")))
	}
	for _, m := range res.Kernels.Machines {
		if m.Reason != "" {
			fmt.Fprintf(b, "\n%s\n", markdownText(w.kernelLost(m)))
		}
	}
	for _, c := range res.Kernels.Compared {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", markdownText(w.kernelsTitle(c)), markdownText(w.kernelsAre(c)))
		for _, t := range tablesOf(w, c) {
			fmt.Fprintf(b, "\n%s\n\n", markdownText(t.title))
			t.columns(w, c.Judged).markdown(b)
		}
	}
}

// viewKernels is what the page draws of the kernels.
type viewKernels struct {
	Emulated bool                   `json:"emulated"`
	Lost     []result.KernelMachine `json:"lost"`
	Compared []viewCompared         `json:"compared"`
}

// viewCompared is a kernel compared with the first, or a version of IP with the other.
type viewCompared struct {
	Old  string            `json:"old"`
	New  string            `json:"new"`
	Rows []viewComparedRow `json:"rows"`
}

// viewComparedRow is a metric of a network on both.
type viewComparedRow struct {
	Network string                `json:"network"`
	Where   string                `json:"where"` // the path, the workload and the parameters
	Metric  result.ComparedMetric `json:"metric"`
}

// kernelsView is what the page draws of a result's kernels; nil: it has one.
func kernelsView(res *result.Result) *viewKernels {
	if res.Kernels == nil {
		return nil
	}
	v := &viewKernels{Emulated: res.Environment.Emulated(), Lost: []result.KernelMachine{}, Compared: []viewCompared{}}
	for _, m := range res.Kernels.Machines {
		if m.Reason != "" {
			v.Lost = append(v.Lost, m)
		}
	}
	for _, c := range res.Kernels.Compared {
		v.Compared = append(v.Compared, comparedView(c))
	}
	return v
}

// comparedView is what the page draws of a comparison within a result.
func comparedView(c result.Comparison) viewCompared {
	one := viewCompared{Old: c.Old.File, New: c.New.File, Rows: []viewComparedRow{}}
	for _, t := range tablesOf(wordsOf(English), c) {
		for _, r := range t.rows {
			one.Rows = append(one.Rows, viewComparedRow{r.network, t.title, r.metric})
		}
	}
	return one
}
