package result

import (
	"fmt"
	"slices"
)

// check returns an error if numbers of a mesh lead beyond its lists.
func (m *Mesh) check() error {
	rounds := m.Rounds
	if m.Incast != nil {
		rounds = slices.Concat(rounds, m.Incast.Rounds)
	}
	for _, r := range rounds {
		if err := r.check(len(m.Nodes)); err != nil {
			return fmt.Errorf("round %d of its mesh: %w", r.Round, err)
		}
	}
	for _, e := range m.Effects {
		if e.Kind == MeshNodeKind && len(e.Of) != 1 {
			return fmt.Errorf("an effect of its mesh is of the nodes %q, and has to be of one", e.Of)
		}
	}
	return nil
}

// check returns an error if a round of so many nodes names others, or has columns of different
// lengths.
func (r MeshRound) check(nodes int) error {
	pairs := len(r.Clients)
	all := slices.Concat(r.Clients, r.Servers)
	if r.Check != nil {
		all = slices.Concat(all, r.Check.Suspect, r.Check.Partners)
	}
	for _, node := range all {
		if node < 0 || node >= nodes {
			return fmt.Errorf("node %d of %d", node, nodes)
		}
	}
	if len(r.Servers) != pairs {
		return fmt.Errorf("%d clients and %d servers", pairs, len(r.Servers))
	}
	for name, values := range r.Values {
		if len(values) != pairs {
			return fmt.Errorf("%d pairs and %d values of %s", pairs, len(values), name)
		}
	}
	for _, f := range r.Failures {
		for _, pair := range f.Pairs {
			if pair < 0 || pair >= pairs {
				return fmt.Errorf("pair %d of %d failed", pair, pairs)
			}
		}
	}
	return nil
}
