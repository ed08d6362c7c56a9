package report

import (
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// view is what the page draws: the comparisons of a result, ready to be shown.
// Its numbers are those of the result, in the units of files.
type view struct {
	Titles   map[string]string   `json:"titles"` // by language
	Started  string              `json:"started"`
	Finished string              `json:"finished"`
	Version  string              `json:"version"`
	Baseline string              `json:"baseline"`
	About    viewAbout           `json:"about"`
	Where    map[string]string   `json:"where"` // what the numbers are from, by language
	Answer   *viewAnswer         `json:"answer,omitempty"`
	Groups   []viewGroup         `json:"groups"`
	Findings []viewFinding       `json:"findings"`
	Rankings []result.Ranking    `json:"rankings"`
	Growths  []viewGrowth        `json:"growths"`
	Case     *result.Case        `json:"case,omitempty"`
	Mesh     *viewMesh           `json:"mesh,omitempty"`
	Notes    map[string][]string `json:"notes"`    // on the kernels of a result, by language
	Compared []viewCompared      `json:"compared"` // cells with each other
	Pairs    []pairsRow          `json:"pairs"`    // on each pair of machines, where several were measured
	Needs    []string            `json:"needs"`
	Warnings []string            `json:"warnings"`
	Unread   []result.Unread     `json:"unread"`
	Units    map[string]string   `json:"units"`
}

// viewAbout is the machine, how quiet it was, and the plan.
type viewAbout struct {
	Environment result.Environment `json:"environment"`
	Quiet       map[string]string  `json:"quiet"` // how quiet it was, by language
	Plan        result.Plan        `json:"plan"`
}

// viewGroup is one comparison: the networks on one path under one workload.
type viewGroup struct {
	Path     string        `json:"path"`
	Title    string        `json:"title"` // the workload with what distinguishes it from others
	Setting  string        `json:"setting"`
	Workload string        `json:"workload"`
	Metric   string        `json:"metric"` // that it is judged by
	Unit     string        `json:"unit"`
	Better   result.Better `json:"better"`
	Margin   float64       `json:"margin"` // the widest that a toll was judged by
	Scale    [2]float64    `json:"scale"`  // the ends of the axis of its tolls, which groups of a kind share; equal: there is none
	Rows     []viewRow     `json:"rows"`
	Ladder   []viewRung    `json:"ladder,omitempty"`
	NICs     []viewSpan    `json:"nics,omitempty"`  // in the first of the groups that differ in nic alone
	Links    []viewSpan    `json:"links,omitempty"` // in the first of the groups that differ in link alone
}

// viewRow is one network of a group.
type viewRow struct {
	Network  string          `json:"network"`
	Label    string          `json:"label"`
	Fidelity string          `json:"fidelity"`
	Status   string          `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Metric   *result.Metric  `json:"metric,omitempty"`
	Others   []result.Metric `json:"others"`
	Blocks   [][2]float64    `json:"blocks"` // the metric: block, value
	Sizes    []viewSize      `json:"sizes,omitempty"`
	Load     []viewLoad      `json:"load,omitempty"`
	Within   *viewWithin     `json:"within,omitempty"`
	Trace    *result.Trace   `json:"trace,omitempty"`
}

// viewFinding is a finding and the cells that it was found in.
type viewFinding struct {
	result.Finding
	Where []string          `json:"where"`
	Named map[string]string `json:"named"` // by language: its ID with its name
	Does  map[string]string `json:"does"`  // likewise what its fix does
}

// viewsOf takes from results what is drawn, on one page.
func viewsOf(results []*result.Result) []view {
	if OnlyMeshes(results) {
		h := historyOf(results)
		v := viewOf(h.newest(), nil)
		v.Mesh.History = historyView(h)
		return []view{v}
	}
	views := []view{}
	var all []*weigh.Group
	for _, res := range results {
		groups := groupsOf(res)
		views = append(views, viewOf(res, groups))
		all = append(all, groups...)
	}
	links, scales := spansOver(all, "link"), axisEnds(all) // of all results: a run has one link
	for n, at := 0, 0; n < len(views); n++ {
		for i := range views[n].Groups {
			views[n].Groups[i].Links, views[n].Groups[i].Scale = links[all[at]], scales[all[at]]
			at++
		}
	}
	return views
}

// viewOf takes from a result what is drawn of it alone.
func viewOf(res *result.Result, groups []*weigh.Group) view {
	v := view{
		Titles: map[string]string{}, Started: res.Started, Finished: res.Finished, Version: res.Tool.Version, Baseline: catalog.Baseline,
		Where: byLanguage(func(w words) string { return w.where(res) }),
		About: viewAbout{
			Environment: res.Environment, Plan: res.Plan,
			Quiet: byLanguage(func(w words) string { return w.quiet(res, groups) }),
		},
		Answer: answerView(res, groups), Groups: []viewGroup{}, Findings: []viewFinding{}, Rankings: res.Rankings, Growths: growthView(res), Case: res.Case, Mesh: meshView(res), Needs: res.Plan.Needs,
		Notes: map[string][]string{}, Compared: comparedView(res), Pairs: pairsOf(res, groups),
		Warnings: res.Warnings, Unread: res.Unread, Units: map[string]string{},
	}
	for _, language := range Languages() {
		v.Notes[language] = append([]string{}, wordsOf(language).kernelNotes(res)...)
		if v.Titles[language] = wordsOf(language).weighed(res, groups); res.Mesh != nil {
			v.Titles[language] = wordsOf(language).meshHead(res)
		}
	}
	for _, q := range result.Quantities() {
		v.Units[q.Name] = q.Unit
	}
	nics := spansOver(groups, "nic")
	for _, g := range groups {
		shown := groupView(g, groups)
		shown.Ladder, shown.NICs = ladderView(g, groups), nics[g]
		v.Groups = append(v.Groups, shown)
	}
	chinese := wordsOf(Chinese) // the only language with names of causes
	for _, c := range causes(res) {
		v.Findings = append(v.Findings, viewFinding{
			c.Finding, c.where, map[string]string{Chinese: chinese.causeID(c.ID)}, map[string]string{Chinese: chinese.does(c.Finding)},
		})
	}
	return v
}

func groupView(of *weigh.Group, groups []*weigh.Group) viewGroup {
	name := headline(of)
	g := viewGroup{
		Path: of.Path, Title: describe(of, groups), Workload: of.Workload, Metric: name, Rows: []viewRow{},
	}
	var set []string
	for _, axis := range result.Axes() {
		if text := axisText(axis, of.Params); axis.Of == result.OfLab && text != "" {
			set = append(set, axis.Name+" "+text)
		}
	}
	g.Setting = strings.Join(set, ", ")
	for _, r := range rowsOf([]*weigh.Group{of}) {
		c := r.cells[0]
		if c == nil {
			continue
		}
		row := rowView(r, c, name)
		if row.Metric != nil {
			g.Unit, g.Better = row.Metric.Unit, row.Metric.Better
			if row.Metric.Toll != nil {
				g.Margin = max(g.Margin, row.Metric.Toll.Margin)
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func rowView(r row, c *result.Cell, name string) viewRow {
	v := viewRow{
		Network: c.Network, Label: r.name(), Fidelity: c.Fidelity, Status: c.Status, Reason: c.Reason,
		Metric: r.metric(0, name), Others: []result.Metric{}, Blocks: blocksOf(c, name), Trace: c.Trace,
		Sizes: sizesOf(c), Load: loadCurve(c), Within: withinOf(c),
	}
	if c.Status == result.StatusOK {
		for _, m := range c.Metrics {
			if m.Name != name {
				v.Others = append(v.Others, m)
			}
		}
	}
	return v
}
