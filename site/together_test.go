package site_test

import (
	"testing"

	"tare/site"
	"tare/test/labtest"
)

// labsTogetherAreOneSite: each place is looked at, counted and has its agents in its own lab.
func labsTogetherAreOneSite(t *testing.T, first *site.Lab) {
	ctx, alone := t.Context(), len(first.Topology.Clusters)
	second, err := site.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := second.Build(ctx, specOf("route")); err != nil {
		t.Fatal(err)
	}
	both := site.Together{first, second}
	labtest.Equal(t, "clusters", len(both.Topology().Clusters), alone+1)
	places := []string{"route.h1/c1", "bridge.h1/c1"}
	stop, err := both.Count(ctx, places)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range places {
		h, err := both.Agent(ctx, at, "client")
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "the agent's place", h.Name, at)
		held, err := both.Look(ctx, at)
		if err != nil || len(held) != 1 {
			t.Errorf("look at %s: %d namespaces, %v", at, len(held), err)
		}
	}
	for n, l := range []*site.Lab{second, first} {
		if out, status := run(t, l, places[n], "", "ping -qc 1 127.0.0.1"); status != 0 {
			t.Fatalf("ping at %s: %s", places[n], out)
		}
	}
	counted, err := stop()
	if err != nil {
		t.Fatal(err)
	}
	states, err := both.States(ctx, places)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range places {
		readings, known := 0, 0
		for _, r := range counted.Readings {
			if r.At == at {
				readings++
			}
		}
		for _, s := range states.States {
			if s.At == at {
				known++
			}
		}
		if readings == 0 || known == 0 {
			t.Errorf("%s has %d readings and %d states", at, readings, known)
		}
	}
	if _, err := both.Look(ctx, "absent.h1"); err == nil {
		t.Error("a place that no lab has was looked at")
	}
	labtest.Equal(t, "clusters of the first lab", len(first.Topology.Clusters), alone)
}
