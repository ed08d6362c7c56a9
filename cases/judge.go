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
// each claim. refereed is Published after a referee has checked it. Claims about
// experiments that were not measured yet stay open.
func (c Case) Judge(results map[string]*result.Result, refereed *result.Result) (*result.Result, error) {
	p, err := c.read()
	if err != nil {
		return nil, err
	}
	e := evidence(results)
	judged := &result.Case{
		ID: c.ID, Title: p.Title, Experiments: []result.CaseExperiment{}, Claims: []result.Claim{},
		Figures: c.figures(p, e), Odd: c.odd(p, refereed), Defects: append([]string{}, p.Defects...), Recommends: p.Recommends,
	}
	for n, claim := range c.Claims {
		a := claim.judgeIt(e)
		judged.Claims = append(judged.Claims, result.Claim{
			Text: claim.text, Kind: p.Claims[n].Kind, Note: p.Claims[n].Note, Verdict: a.verdict, Because: a.because,
		})
	}
	judged.Ours, judged.Because = c.recommend(e)
	whole := c.join(results)
	for _, x := range c.Experiments {
		if res := results[x.Name]; res != nil {
			judged.Experiments = append(judged.Experiments, result.CaseExperiment{Name: x.Name, Doc: x.Doc, Plan: res.Plan})
		}
	}
	if whole != nil {
		whole.Case = judged
	}
	return whole, nil
}

// recommend names the candidate that costs least, those that are not measurably
// worse on this machine, and the reason. Stand-ins and networks that were not
// measured are no candidates.
func (c Case) recommend(e evidence) (name, because string) {
	type ranked struct {
		at   spot
		toll weigh.Weighing
	}
	var all []ranked
	var without []string
	for _, at := range c.Candidates {
		switch {
		case e.lacks(at) != "" || e.lacks(at.host()) != "":
			without = append(without, at.network+" (not measured)")
		case e.standIn(at):
			without = append(without, at.network+" (a stand-in here)")
		case e.cell(at).Emulated():
			without = append(without, at.network+" (measured on an emulated CPU)")
		default:
			all = append(all, ranked{at, e.weigh(at, at.host())})
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
	first, best := all[0], []string{all[0].at.network}
	texts := []string{fmt.Sprintf("%s costs %s on %s (%s)", first.at.network, interval(first.toll), first.at.metric, first.at.path)}
	for _, next := range all[1:] {
		behind := e.weigh(next.at, first.at)
		text := fmt.Sprintf("%s costs %s", next.at.network, interval(next.toll))
		if next.at.path != first.at.path {
			text += " (" + next.at.path + ")"
		}
		if behind.Verdict != stats.Slower {
			text += ", no measurable difference"
			best = append(best, next.at.network)
		}
		texts = append(texts, text)
	}
	return strings.Join(best, " or "), strings.Join(texts, "; ") + left
}

// join puts the cells of all experiments into one result, with a plan that names
// the case; nil: there is none.
func (c Case) join(results map[string]*result.Result) *result.Result {
	var whole *result.Result
	for _, x := range c.Experiments {
		res := results[x.Name]
		switch {
		case res == nil:
		case whole == nil:
			first := *res
			whole = &first
			whole.Cells = cellsIn(x.Name, res)
			whole.Plan.Name, whole.Plan.Case = c.ID, c.ID
			whole.Environment.Parts = maps.Clone(res.Environment.Parts)
		default:
			add(whole, res, x.Name)
		}
	}
	if whole != nil && len(results) < len(c.Experiments) {
		whole.Finished = ""
	}
	return whole
}

// add puts a later experiment behind the others.
func add(whole, res *result.Result, experiment string) {
	whole.Finished = res.Finished
	whole.Plan = joinPlans(whole.Plan, res.Plan)
	maps.Copy(whole.Environment.Parts, res.Environment.Parts)
	whole.Noise.AA = slices.Concat(whole.Noise.AA, res.Noise.AA)
	whole.Noise.Steal = max(whole.Noise.Steal, res.Noise.Steal)
	whole.Noise.Pressure = max(whole.Noise.Pressure, res.Noise.Pressure)
	whole.Noise.ForeignCPU = max(whole.Noise.ForeignCPU, res.Noise.ForeignCPU)
	whole.Cells = slices.Concat(whole.Cells, cellsIn(experiment, res))
	whole.Findings = slices.Concat(whole.Findings, res.Findings)
	whole.States = slices.Concat(whole.States, res.States)
	whole.Unread = union(whole.Unread, res.Unread)
	whole.Warnings = union(whole.Warnings, res.Warnings)
}

// cellsIn are the cells of an experiment, whose groups are no other's.
func cellsIn(experiment string, res *result.Result) []result.Cell {
	res.SetGroups()
	cells := slices.Clone(res.Cells)
	for n := range cells {
		cells[n].Group = result.GroupIn(experiment, cells[n].Group)
	}
	return cells
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
	a.Seed = 0
	a.Duration = 0
	return a
}

func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, v := range b {
		all = result.AddOnce(all, v)
	}
	return all
}
