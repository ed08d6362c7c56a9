package site_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"tare/catalog"
	"tare/network/kinds"
	"tare/site"
	"tare/test/labtest"
)

// holds lists what a lab's namespaces hold, by name: their devices, routes and
// rules.
func holds(t *testing.T, l *site.Lab) []string {
	t.Helper()
	held, err := l.Look(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, in := range held {
		for _, link := range in.Links {
			all = append(all, in.Namespace+" "+link.Name)
		}
		for _, route := range in.Routes {
			all = append(all, in.Namespace+" "+route.String())
		}
		for _, entry := range in.FDB {
			if entry.State != "reachable" { // a bridge learns those of containers that stay
				all = append(all, in.Namespace+" "+entry.String())
			}
		}
		for _, rules := range in.Rules {
			all = append(all, fmt.Sprintf("%s %+v", in.Namespace, rules))
		}
	}
	slices.Sort(all)
	return all
}

// containersComeAndGo on every path of the lab's networks, ten at once too, and leave the lab
// as it was.
func containersComeAndGo(t *testing.T, l *site.Lab) {
	before := holds(t, l)
	for _, cluster := range l.Topology.Clusters {
		name := cluster.Name
		n, _ := kinds.Find(name)
		for _, path := range n.Paths {
			op, err := l.Attach(t.Context(), name, path)
			if err != nil {
				t.Errorf("%s on %s: %v", name, path, err)
				continue
			}
			made := name != catalog.Baseline
			of := name + " on " + path
			labtest.MoreThan(t, of+": create", op.Create, 0)
			labtest.MoreThan(t, of+": answer", op.Answer, 0)
			labtest.Equal(t, of+": removed", op.Remove > 0, made)
		}
	}
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			for _, name := range []string{"bridge", "nat"} {
				n, _ := kinds.Find(name)
				if _, err := l.Attach(t.Context(), name, n.Paths[len(n.Paths)-1]); err != nil {
					t.Errorf("ten at once on %s: %v", name, err)
				}
			}
		})
	}
	wait.Wait()
	if after := holds(t, l); !slices.Equal(before, after) {
		t.Errorf("the lab has\n%s\nbefore\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// processWithoutEngine is the least that a container is.
func processWithoutEngine(t *testing.T, l *site.Lab) {
	for range 3 {
		op, err := l.Lifecycle(t.Context(), catalog.Baseline)
		if err != nil {
			t.Fatal(err)
		}
		labtest.MoreThan(t, "create", op.Create, 0)
		labtest.MoreThan(t, "remove", op.Remove, 0)
		labtest.Equal(t, "answer", op.Answer, 0)
	}
}

func saysWhereNoContainerCanBeMade(t *testing.T, l *site.Lab) {
	for _, c := range []struct {
		at, path, want string
	}{
		{"gre", catalog.CrossHost, "has no such network"},
		{"bridge", catalog.SamePod, "a pod has its network before"},
	} {
		if _, err := l.Attach(t.Context(), c.at, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v", c.at, c.path, err)
		}
	}
	if _, err := l.Lifecycle(t.Context(), "gre"); err == nil || !strings.Contains(err.Error(), "has no such network") {
		t.Errorf("a container in no network: %v", err)
	}
}

// TestLabUserAskedToGoWaitsForContainers ends a lab while containers come and go:
// the owner's Close leaves nothing, which NoLeaks sees.
func TestLabUserAskedToGoWaitsForContainers(t *testing.T) {
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err == nil {
		err = l.Build(t.Context(), specOf("bridge"))
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	const several = 4
	came := make(chan struct{}, several)
	var wait sync.WaitGroup
	for range several {
		wait.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				_, err := l.Attach(ctx, "bridge", catalog.SameHost)
				if err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), "has no such network") {
					t.Errorf("attach while the lab ends: %v", err)
				}
				if first {
					came <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		})
	}
	for range several {
		<-came
	}
	cancel()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	wait.Wait()
}
