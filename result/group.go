package result

import (
	"slices"
	"strings"
)

// BaselineName is the network that all others are weighed against.
const BaselineName = "host"

// The words of a group's key that are no axes.
const (
	InExperiment = "experiment" // of a case, which holds several
	OnPath       = "path"
	UnderLoad    = "workload"
	InMode       = "mode"
)

// GroupKey names the group of the cells that are compared with each other: the
// same path, workload and mode, and the same parameters but those of the network
// and how long it was measured. params are the baseline's, since a network may
// have its own link. The key is words of the form name=value, in the order of
// Axes; an axis at the value that its absence means is left out, so that an
// axis that is new changes no older key.
func GroupKey(path, workload, mode string, params Params) string {
	words := []string{}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+inKey.Replace(value))
		}
	}
	add(OnPath, path)
	add(UnderLoad, workload)
	add(InMode, mode)
	for _, a := range Axes() {
		if text := params.Text(a.Name); a.Of != OfTime && text != Text(a.Absent) {
			add(a.Name, text)
		}
	}
	return strings.Join(words, " ")
}

// GroupIn is the key of a group of one of several experiments in a result.
func GroupIn(experiment, key string) string {
	return InExperiment + "=" + inKey.Replace(experiment) + " " + key
}

// inKey writes a value as one word.
var inKey = strings.NewReplacer("%", "%25", " ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D")

// Without is a group's key without the words of some names: equal texts, groups
// that differ in nothing else.
func Without(key string, names ...string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(key), func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return slices.Contains(names, name)
	}), " ")
}

// SetGroups gives each cell that has none the key of its group, as files of
// earlier versions lack it. A network with its own link is in the group of
// the baseline that it agrees with otherwise; a cell that failed before its mode
// or parameters were known is in the first group that it does not contradict.
func (res *Result) SetGroups() {
	var measured, late []*Cell
	var baselines []string
	for i := range res.Cells {
		switch c := &res.Cells[i]; {
		case c.Group != "":
		case c.Network == BaselineName:
			c.Group = GroupKey(c.Path, c.Workload, c.Mode, c.Params)
			baselines = append(baselines, c.Group)
		case c.Status == StatusOK:
			c.Group = GroupKey(c.Path, c.Workload, c.Mode, c.Params)
			measured = append(measured, c)
		default:
			late = append(late, c)
		}
	}
	for _, c := range measured {
		c.Group = baselinesGroup(c.Group, baselines)
	}
	for _, c := range late {
		c.Group = res.agreeingGroup(c)
	}
}

// baselinesGroup is the first of the baselines' groups that agrees with a key in
// all but the link, and the nic that a link implies; the key itself where a
// baseline has it, or none agrees.
func baselinesGroup(key string, baselines []string) string {
	if slices.Contains(baselines, key) {
		return key
	}
	for _, but := range [][]string{{"link"}, {"link", "nic"}} {
		if len(but) > 1 && Without(key, "link") == key {
			break // it has no link that would imply a nic
		}
		bare := Without(key, but...)
		for _, baseline := range baselines {
			if bare == Without(baseline, but...) {
				return baseline
			}
		}
	}
	return key
}

// agreeingGroup is the group of the first cell that differs from one in nothing
// that both name, links and the networks' own parameters aside.
func (res *Result) agreeingGroup(c *Cell) string {
	own := GroupKey(c.Path, c.Workload, c.Mode, c.Params)
	if slices.ContainsFunc(res.Cells, func(other Cell) bool { return other.Group == own }) {
		return own
	}
	for i := range res.Cells {
		other := &res.Cells[i]
		if other.Group != "" && other.Path == c.Path && other.Workload == c.Workload && (c.Mode == "" || c.Mode == other.Mode) && other.Params.Agree(c.Params) {
			return other.Group
		}
	}
	return own
}

// Agree reports whether two sets of parameters differ in no axis that both name,
// links and times aside.
func (p Params) Agree(other Params) bool {
	return !slices.ContainsFunc(Axes(), func(a Axis) bool {
		return a.Name != "link" && a.Of != OfTime && p.Has(a.Name) && other.Has(a.Name) && p.Text(a.Name) != other.Text(a.Name)
	})
}
