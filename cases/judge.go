package cases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// Judge joins the results of a case's experiments, by name, and gives a verdict on
// each claim. Claims about experiments that were not measured yet stay open. It returns nil where
// none was measured.
func (c Case) Judge(results map[string]*result.Result) *result.Result {
	whole := c.join(results)
	if whole == nil {
		return nil
	}
	e := evidence(results)
	judged := &result.Case{
		ID: c.ID, Title: c.Title, Experiments: []result.CaseExperiment{}, Claims: []result.Claim{},
		Figures: []result.Figure{}, Odd: c.Contradictions, Defects: append([]string{}, c.Defects...), Recommends: c.Recommends,
	}
	for _, x := range c.Experiments {
		if res := results[x.Name]; res != nil {
			judged.Experiments = append(judged.Experiments, result.CaseExperiment{Name: x.Name, Doc: x.Doc, Plan: res.Plan})
		}
	}
	for _, one := range c.Claims {
		a := one.judge(e)
		judged.Claims = append(judged.Claims, result.Claim{Text: one.Text, Kind: one.Kind, Note: one.Note, Verdict: a.verdict, Because: a.because})
	}
	for _, f := range c.Figures {
		judged.Figures = append(judged.Figures, c.compare(f, e))
	}
	judged.Ours, judged.Because = c.recommend(e)
	whole.Case = judged
	return whole
}

// recommend names the candidate that costs least, those that are not measurably
// worse on this machine, and the reason. Stand-ins and networks that were not
// measured are no candidates.
func (c Case) recommend(e evidence) (name, because string) {
	if len(c.Candidates) == 0 {
		return "", "it compares one network with itself"
	}
	type ranked struct {
		at   spot
		toll weigh.Weighing
	}
	var all []ranked
	var without []string
	for _, at := range c.Candidates {
		switch {
		case e.lacks(at) != "" || e.lacks(at.host()) != "":
			without = append(without, at.Network+" (not measured)")
		case e.standIn(at):
			without = append(without, at.Network+" (a stand-in here)")
		case e.cell(at).Emulated():
			without = append(without, at.Network+" (measured on an emulated CPU)")
		default:
			all = append(all, ranked{at, e.toll(at)})
		}
	}
	left := ""
	if len(without) > 0 {
		left = ". Not ranked: " + strings.Join(without, ", ")
	}
	if len(all) == 0 {
		return "", "none of the networks in question could be ranked here" + left
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.toll.Value, b.toll.Value) })
	first, best := all[0], []string{all[0].at.Network}
	texts := []string{fmt.Sprintf("%s costs %s on %s (%s)", first.at.Network, interval(first.toll), first.at.Metric, first.at.Path)}
	for _, next := range all[1:] {
		behind := e.weigh(next.at, first.at)
		text := fmt.Sprintf("%s costs %s", next.at.Network, interval(next.toll))
		if next.at.Path != first.at.Path {
			text += " (" + next.at.Path + ")"
		}
		if behind.Verdict != stats.Slower {
			text += ", no measurable difference"
			best = append(best, next.at.Network)
		}
		texts = append(texts, text)
	}
	return strings.Join(best, " or "), strings.Join(texts, "; ") + left
}

// join puts the cells of all experiments into one result, with a plan that names
// the case; nil: there is none. Each experiment's groups are no other's.
func (c Case) join(results map[string]*result.Result) *result.Result {
	var whole *result.Result
	var cells []result.Cell
	for _, x := range c.Experiments {
		res := results[x.Name]
		if res == nil {
			continue
		}
		res.SetGroups()
		for _, cell := range res.Cells {
			cell.Group = result.GroupIn(x.Name, cell.Group)
			cells = append(cells, cell)
		}
		if whole != nil {
			add(whole, res)
			continue
		}
		first := *res
		whole = &first
		whole.Plan.Name, whole.Plan.Case = c.ID, c.ID
		whole.Environment.Parts = maps.Clone(res.Environment.Parts)
	}
	if whole == nil {
		return nil
	}
	whole.Cells = cells
	if len(results) < len(c.Experiments) {
		whole.Finished = ""
	}
	return whole
}

// add adds all of a later experiment but its cells.
func add(whole, res *result.Result) {
	whole.Finished = res.Finished
	whole.Plan = joinPlans(whole.Plan, res.Plan)
	maps.Copy(whole.Environment.Parts, res.Environment.Parts)
	whole.Noise.AA = slices.Concat(whole.Noise.AA, res.Noise.AA)
	whole.Noise.Steal = max(whole.Noise.Steal, res.Noise.Steal)
	whole.Noise.Pressure = max(whole.Noise.Pressure, res.Noise.Pressure)
	whole.Noise.ForeignCPU = max(whole.Noise.ForeignCPU, res.Noise.ForeignCPU)
	whole.Findings = slices.Concat(whole.Findings, res.Findings)
	whole.States = slices.Concat(whole.States, res.States)
	whole.Unread = union(whole.Unread, res.Unread)
	whole.Warnings = union(whole.Warnings, res.Warnings)
}

// joinPlans lists what either plan measures. Each cell has the parameters in which
// they differ.
func joinPlans(a, b result.Plan) result.Plan {
	a.Networks = union(a.Networks, b.Networks)
	a.Paths = union(a.Paths, b.Paths)
	a.Workloads = union(a.Workloads, b.Workloads)
	a.Skipped = union(a.Skipped, b.Skipped)
	pins := a.Axes.Word("pin")
	if pin := b.Axes.Word("pin"); pins != pin && !strings.Contains(pins, pin) {
		pins += " and " + pin
	}
	a.Axes = a.Axes.With("nic", union(a.Axes["nic"], b.Axes["nic"])...).With("pin", pins).With("link").With("mtu")
	a.Seed, a.Duration = 0, 0
	return a
}

func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, v := range b {
		all = result.AddOnce(all, v)
	}
	return all
}
