package report

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// shownComparison is a comparison of cells of one result with each other, as it is shown: of each network
// with one of them, of IPv6 with IPv4, of a kernel with another, of whatever else differs.
type shownComparison struct {
	result.Comparison
	title, about string
	old, recent  string // the heads of its columns of values
}

// comparisons are those of a result.
func (w words) comparisons(res *result.Result) (all []shownComparison) {
	for _, c := range res.Comparisons {
		all = append(all, w.shown(c))
	}
	return all
}

func (w words) shown(c result.Comparison) shownComparison {
	of, than := clip(result.Plain(c.Of), 60), clip(result.Plain(c.Than), 60)
	a := shownComparison{Comparison: c, old: than, recent: of}
	switch c.Along {
	case "ip":
		a.title, a.about = w.say("versions_title"), w.say("versions_is")
	case "kernel":
		a.title, a.about = w.say("kernels_title", "of", of, "than", than), w.say("kernels_is", "of", of, "than", than)
		a.old, a.recent = w.say("old"), w.say("new")
	case catalog.With:
		a.title, a.about = w.say("passenger_title", "of", of), w.say("passenger_is")
		a.old, a.recent = "without", "with"
	case catalog.Neighbour:
		a.title, a.about = w.say("neighbour_title", "of", of), w.say("neighbour_is")
		a.old, a.recent = "without", "with"
	case result.AlongNetwork:
		a.title, a.about, a.recent = w.say("baseline_title", "than", than), w.say("baseline_is", "than", than), w.say("each_network")
	case result.AlongPath:
		a.title, a.about, a.recent = w.say("reference_title", "than", than), w.say("reference_is", "than", than), w.say("each_path")
	default:
		a.title = w.say("along_title", "by", result.Plain(c.Along), "of", of, "than", than)
		a.about = w.say("along_is", "of", of, "than", than)
	}
	return a
}

// tables are the comparison's, headed by what its sides are.
func (c shownComparison) tables(w words) []*comparisonTable {
	tables := tablesOf(w, c.Comparison)
	for _, t := range tables {
		t.old, t.recent = c.old, c.recent
	}
	return tables
}

// comparisons prints them, and what the kernels of a result lack.
func (p *page) comparisons(res *result.Result) {
	for _, text := range p.kernelNotes(res) {
		p.item("", text)
	}
	for _, c := range p.words.comparisons(res) {
		p.title(c.title)
		p.item("", c.about)
		for _, t := range c.tables(p.words) {
			p.line("")
			p.item("", t.title)
			p.print(t.columns(p.words, c.Judged))
		}
		p.single(c.Single)
	}
}

// markdownComparisons is the same as Markdown.
func markdownComparisons(b *strings.Builder, w words, res *result.Result) {
	for _, text := range w.kernelNotes(res) {
		fmt.Fprintf(b, "\n%s\n", markdownText(text))
	}
	for _, c := range w.comparisons(res) {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", markdownText(c.title), markdownText(c.about))
		for _, t := range c.tables(w) {
			fmt.Fprintf(b, "\n%s\n\n", markdownText(t.title))
			t.columns(w, c.Judged).markdown(b)
		}
	}
}

// kernelNotes are why a kernel of a result has not measured all, and that its CPUs were emulated.
func (w words) kernelNotes(res *result.Result) (texts []string) {
	if res.Kernels == nil {
		return nil
	}
	if res.Environment.Emulated() {
		texts = append(texts, w.say("kernels_emulated"))
	}
	for _, m := range res.Kernels.Machines {
		if m.Reason != "" {
			texts = append(texts, w.say("kernels_lost", "kernel", result.Plain(m.Release), "image", result.Plain(m.Image), "reason", result.Plain(m.Reason)))
		}
	}
	return texts
}

// viewCompared is what the page draws of a comparison.
type viewCompared struct {
	Titles map[string]string `json:"titles"` // by language, as the next three
	About  map[string]string `json:"about"`
	Old    map[string]string `json:"old"` // the heads of the columns
	New    map[string]string `json:"new"`
	Rows   []viewComparedRow `json:"rows"`
}

// viewComparedRow is a metric of a network on both sides.
type viewComparedRow struct {
	Network string                `json:"network"`
	Where   string                `json:"where"` // the path, the workload and the parameters
	Metric  result.ComparedMetric `json:"metric"`
}

// comparedView is what the page draws of a result's comparisons.
func comparedView(res *result.Result) []viewCompared {
	all := []viewCompared{}
	for n, c := range wordsOf(English).comparisons(res) {
		of := func(text func(shownComparison) string) map[string]string {
			return byLanguage(func(w words) string { return text(w.comparisons(res)[n]) })
		}
		one := viewCompared{
			Titles: of(func(a shownComparison) string { return a.title }), About: of(func(a shownComparison) string { return a.about }),
			Old: of(func(a shownComparison) string { return a.old }), New: of(func(a shownComparison) string { return a.recent }), Rows: []viewComparedRow{},
		}
		for _, t := range c.tables(wordsOf(English)) {
			for _, r := range t.rows {
				one.Rows = append(one.Rows, viewComparedRow{r.network, t.title, r.metric})
			}
		}
		all = append(all, one)
	}
	return all
}
