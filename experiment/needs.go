package experiment

import (
	"slices"
	"strings"

	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
)

// Meeting keeps the networks of a plan that meet its needs, and records what the
// others lack. The baseline stays: tolls are computed against it.
func Meeting(p result.Plan) (result.Plan, error) {
	for _, name := range p.Needs {
		if _, known := catalog.FindDemand(name); !known {
			return p, Unknown("need", name, Demands())
		}
	}
	left := 0
	for _, planned := range slices.Clone(p.Networks) {
		n, _ := kinds.Find(planned.Name)
		if n.Name == catalog.Baseline {
			continue
		}
		if lacks, meets := n.Meets(p.Needs); !meets {
			p = Skip(p, n.Name, "does not meet "+lacks)
		} else {
			left++
		}
	}
	if len(p.Needs) > 0 && left == 0 {
		return p, &InputError{"no network meets all of that: " + whoMeets(p.Needs)}
	}
	return p, nil
}

// Demands names what may be asked of a network.
func Demands() []string {
	return result.Names(catalog.Demands(), func(d catalog.Demand) string { return d.Name })
}

// whoMeets lists for each demand the networks that meet it.
func whoMeets(demands []string) string {
	var texts []string
	for _, name := range demands {
		d, _ := catalog.FindDemand(name)
		var found []string
		for _, n := range catalog.Networks() {
			if n.Name != catalog.Baseline && d.Met(n) {
				found = append(found, n.Name)
			}
		}
		texts = append(texts, name+" is met by "+strings.Join(found, ", "))
	}
	return strings.Join(texts, "; ")
}
