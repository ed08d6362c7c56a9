package experiment

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tare/result"
)

// named gives each visit of a block its own name.
func visitNames(visits []visit) []string {
	var names []string
	for _, v := range visits {
		names = append(names, fmt.Sprint(v.group, " ", v.place.cluster))
	}
	return names
}

func TestBlocksArePermutations(t *testing.T) {
	plan := Complete(Quick())
	groups := groupsOf(plan)
	var all []string
	for n, g := range groups {
		for _, c := range g.places {
			all = append(all, fmt.Sprint(n, " ", c.cluster))
		}
	}
	slices.Sort(all)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		block := rapid.IntRange(0, 1000).Draw(t, "block")
		r := &runner{plan: result.Plan{Seed: seed}, groups: groups}
		visits := r.shuffled(block)
		names := visitNames(visits)
		if again := visitNames(r.shuffled(block)); !slices.Equal(names, again) {
			t.Fatal("the same seed gives another order")
		}
		if slices.Equal(names, visitNames(r.shuffled(block+1))) {
			t.Fatal("two blocks have one order")
		}
		other := &runner{plan: result.Plan{Seed: seed + 1}, groups: groups}
		if slices.Equal(names, visitNames(other.shuffled(block))) {
			t.Fatal("two seeds give one order")
		}
		var order []int
		for _, v := range visits {
			order = append(order, v.group)
		}
		if compact := slices.Compact(order); len(compact) != len(groups) {
			t.Fatalf("%d groups are split into %d pieces", len(groups), len(compact))
		}
		if slices.Sort(names); !slices.Equal(names, all) {
			t.Fatal("a block does not visit every cell once")
		}
	})
}

// TestNoPlaceIsFavoured counts how often each cell of a group comes first.
func TestNoPlaceIsFavoured(t *testing.T) {
	plan := Complete(Quick())
	r := &runner{plan: result.Plan{Seed: 1}, groups: groupsOf(plan)[:1]}
	const blocks = 4000
	first := map[string]int{}
	for block := range blocks {
		first[r.shuffled(block)[0].place.cluster]++
	}
	fair := blocks / len(r.groups[0].places)
	for cluster, n := range first {
		if n < fair*3/4 || n > fair*5/4 {
			t.Errorf("%s comes first in %d of %d blocks, fair were %d", cluster, n, blocks, fair)
		}
	}
}

// A cell whose only run was missed says why it has no number.
func TestCellWithoutASampleFails(t *testing.T) {
	missed, measured := &result.Cell{Status: result.StatusOK}, &result.Cell{Status: result.StatusOK, Samples: make([]result.Sample, 1)}
	r := &runner{
		cells:  map[cellKey]*result.Cell{{group: 0}: missed, {group: 1}: measured},
		missed: map[*result.Cell][]string{missed: {"missed: block 1 has no window: no answer"}, measured: {"missed: block 2 has no window: no answer"}},
	}
	r.failUnmeasured()
	if missed.Status != result.StatusFailed || missed.Reason != "missed: block 1 has no window: no answer" {
		t.Errorf("%s %q", missed.Status, missed.Reason)
	}
	if measured.Status != result.StatusOK {
		t.Errorf("a cell with a sample: %s %q", measured.Status, measured.Reason)
	}
}
