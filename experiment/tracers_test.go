package experiment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/trace"
)

// seer is the tracer of a machine, which sees as many packets as there are namespaces.
type seer struct {
	trace.Ability
	during *[]string // what happened, in order
	name   string
	err    error
}

func (s seer) Able() trace.Ability { return s.Ability }

func (s seer) Follow(_ context.Context, pass trace.Pass, run func() error) (trace.Path, error) {
	*s.during = append(*s.during, s.name+" begins")
	err := run()
	*s.during = append(*s.during, s.name+" ends")
	return trace.Path{Began: uint64(len(pass.Networks))}, errors.Join(err, s.err)
}

func (s seer) Profile(_ context.Context, networks []trace.Network, run func() error) (trace.Profile, error) {
	return trace.Profile{Lasted: time.Second, Stacks: make([]trace.Stack, len(networks))}, run()
}

// Several machines are looked at in one window, each by its tracer; one that can't is named.
func TestTracersOfSeveralMachinesLookAtOneWindow(t *testing.T) {
	var during []string
	full, blind := trace.Ability{Tier: trace.Stacks}, trace.Ability{Lacks: []string{"hops and losses: only root may load BPF programs: run it as root"}}
	all := tracers{
		{seer{full, &during, "a", nil}, "h1", "boot-a"}, {seer{full, &during, "b", nil}, "h2", "boot-b"}, {seer{blind, &during, "c", nil}, "h3", "boot-c"},
	}
	places := []located{{boot: "boot-a"}, {boot: "boot-a"}, {boot: "boot-b"}, {boot: "boot-c"}}
	path, err := all.follow(t.Context(), trace.Pass{}, places, func() error { during = append(during, "window"); return nil })
	if err != nil || path.Began != 3 {
		t.Errorf("%d packets of 3, %v", path.Began, err)
	}
	if want := []string{"b begins", "a begins", "window", "a ends", "b ends"}; !slices.Equal(during, want) {
		t.Errorf("%q, want %q", during, want)
	}
	seen, err := all.profile(t.Context(), places, func() error { return nil })
	if err != nil || len(seen.Stacks) != 3 || seen.Lasted != time.Second {
		t.Errorf("%d stacks of 3 in %s, %v", len(seen.Stacks), seen.Lasted, err)
	}
	labtest.Equal(t, "tier", all.tier(), trace.Stacks)
	labtest.Equal(t, "lacks", all.lacks()[0], "at h3: "+blind.Lacks[0])

	broken := errors.New("the way is cut")
	all[0] = machineTracer{seer{full, &during, "a", broken}, "h1", "boot-a"}
	if _, err := all.follow(t.Context(), trace.Pass{}, places, func() error { return nil }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

// What has one end on each of two machines has no hops, and says so.
func TestTraceBetweenMachinesSaysWhatItCannotFollow(t *testing.T) {
	r := &runner{conductor: &conductor{built: clustersOf(site.Topology{Clusters: []site.Built{{ClusterSpec: site.ClusterSpec{Name: "host"}, Paths: map[string]network.Ends{
		catalog.CrossHost: {Client: "h1", Server: "h2"}, catalog.SameHost: {Client: "h1", Server: "h1"},
	}}}})}}
	r.Topology = site.Topology{Places: []result.Place{{Name: "h1", Boot: "a"}, {Name: "h2", Boot: "b"}}}
	tr := &tracing{runner: r, tracers: tracers{{follower: seer{Ability: trace.Ability{Tier: trace.Packets}}}}}
	for path, want := range map[string]string{
		catalog.CrossHost: "hops: the two ends are on two machines, and a packet is followed within one", catalog.SameHost: "",
	} {
		labtest.Equal(t, path, tr.severed(&result.Cell{Path: path, Clusters: []string{"host"}}), want)
	}
}
