package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// rungID is of the rule that every network meets.
const rungID = "rung-cost"

// rungCost divides a toll among the networks that a network is built upon, as far as
// the same run measured them.
func rungCost() Rule {
	return Rule{
		ID: rungID,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || m.Toll.Value < weigh.LeastPart {
				return nil
			}
			var found []result.Finding
			for _, p := range e.Parts {
				if p.Axis == "" && p.Share.Value >= weigh.LeastPart && (p.Cell.Network != e.Network || !p.Own() || !e.namedOtherwise(m)) {
					found = append(found, e.rung(p, m.Name))
				}
			}
			return found
		},
	}
}

// namedOtherwise reports whether another rule names what the network itself adds.
func (e *Evidence) namedOtherwise(m result.Metric) bool {
	if e.tunnels() || e.copied() {
		return true
	}
	if catalog.ByPublishedPort(e.Path) {
		return len(e.publishes(m)) > 0
	}
	return len(e.translations(m)) > 0 || len(e.detours(m)) > 0
}

// tunnels reports whether the network encapsulates packets on this path.
func (e *Evidence) tunnels() bool {
	kind, known := catalog.FindNetwork(e.Network)
	return known && kind.Encapsulates() && !catalog.Within(e.Path)
}

// rung is the finding of one network of those that a toll is made of.
func (e *Evidence) rung(p weigh.Part, metric string) result.Finding {
	kind, _ := catalog.FindNetwork(p.Cell.Network)
	f := result.Finding{
		Cause:    fmt.Sprintf("%s%s: %s", adding(p.Cell.Network), p.Below.Network, kind.Doc),
		Evidence: []result.Evidence{tollAs(p.Cell.Network, p.Cell, metric), tollAs(p.Below.Network, p.Below, metric)},
		Fix:      e.nature(),
	}
	if len(p.Between) > 0 {
		f.Fix = e.apart(p)
	}
	switch together := strings.Join(p.Between, " and "); {
	case p.Cell.Network != e.Network && together != "":
		f.Cause = fmt.Sprintf("%s is built upon %s, which costs this together with %s below it: the run did not measure them apart", e.Network, p.Cell.Network, together)
	case together != "":
		f.Cause = fmt.Sprintf("%s%s, which it is built upon, add to %s together: the run did not measure them apart", withBelow(e.Network), together, p.Below.Network)
	case p.Cell.Network != e.Network:
		f.Cause = fmt.Sprintf("%s is built upon %s, which costs this by itself: %s", e.Network, p.Cell.Network, kind.Doc)
	}
	return explaining(p, f)
}

// adding is how the cause of a network's own rung begins.
func adding(name string) string { return "what " + name + " adds to " }

// ofItself reports whether a finding is the rung of the network itself.
func ofItself(f result.Finding, name string) bool {
	return f.ID == rungID && strings.HasPrefix(f.Cause, adding(name))
}

// withBelow is how the cause of a network's own rung begins where those below it are in it.
func withBelow(name string) string { return "what " + name + " and " }

// amongOthers reports whether a finding is the rung of the network itself and of those below it.
func amongOthers(f result.Finding, name string) bool {
	return f.ID == rungID && strings.HasPrefix(f.Cause, withBelow(name))
}

// tollAs is the evidence of a cell's toll. The baseline has none.
func tollAs(name string, c *result.Cell, metric string) result.Evidence {
	m := weigh.Metric(c, metric)
	if c.Network == catalog.Baseline || m == nil || m.Toll == nil {
		return result.Evidence{}
	}
	return result.Evidence{Name: "toll of " + name + " on " + metric, Value: m.Toll.Value, Source: "this result"}
}

// explaining gives a finding the share of a part of the toll. One whose interval leaves
// zero out is shown by the run itself.
func explaining(p weigh.Part, f result.Finding) result.Finding {
	f.Share = max(0, min(1, p.Share.Value))
	shown := p.Whole && p.Share.Low > 0
	if p.Whole && f.Share > 0 {
		f.Low, f.High = ends(p.Share.Low, p.Share.High)
	}
	switch {
	case f.Confidence > 0:
	case shown:
		f.Confidence = 0.9
	default:
		f.Confidence = 0.6
	}
	return f
}
