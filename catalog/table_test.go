package catalog_test

import (
	"slices"
	"testing"

	"tare/catalog"
	"tare/wire"
)

func TestEveryNetworkIsWhole(t *testing.T) {
	before := map[string]bool{}
	for _, n := range catalog.Networks() {
		if before[n.Name] {
			t.Errorf("%s is listed twice", n.Name)
		}
		switch {
		case n.Name == catalog.Baseline && n.Parent != "":
			t.Errorf("the baseline has the parent %s", n.Parent)
		case n.Name != catalog.Baseline && !before[n.Parent]:
			t.Errorf("%s: its parent %q does not come before it", n.Name, n.Parent)
		}
		before[n.Name] = true
		if n.Doc == "" || len(n.Paths) == 0 {
			t.Errorf("%s lacks a sentence or a path", n.Name)
		}
		if n.Name != catalog.Baseline && (n.Missing == "" || n.Get == "") {
			t.Errorf("%s does not name what it may lack and how to get it", n.Name)
		}
		if !slices.Contains([]string{catalog.Product, catalog.SamePath, catalog.StandIn}, n.Fidelity) {
			t.Errorf("%s: fidelity %q", n.Name, n.Fidelity)
		}
		if tagged := slices.Equal(n.Stack, wire.VLAN()); n.Encapsulates() != (len(n.Stack) > 0 && !tagged) {
			t.Errorf("%s: encapsulates %t with the stack %v", n.Name, n.Encapsulates(), n.Stack)
		}
		for _, path := range n.Paths {
			if !slices.Contains(catalog.Paths(), path) || !n.Serves(path) {
				t.Errorf("%s: path %q", n.Name, path)
			}
		}
		if found, known := catalog.FindNetwork(n.Name); !known || found.Doc != n.Doc {
			t.Errorf("Find does not find %s", n.Name)
		}
	}
	if _, known := catalog.FindNetwork("token-ring"); known {
		t.Error("Find finds what is not there")
	}
}

func TestAcrossReachesTheOtherHost(t *testing.T) {
	for _, n := range catalog.Networks() {
		if n.Across == "" {
			continue
		}
		across, known := catalog.FindNetwork(n.Across)
		if !known || !across.Serves(catalog.CrossHost) || n.Serves(catalog.CrossHost) {
			t.Errorf("%s: across hosts it is %q: known %t, serves %v", n.Name, n.Across, known, across.Paths)
		}
	}
}

// TestPublishedNamesAreOneNetworks: none is another network's too, or its name here.
func TestPublishedNamesAreOneNetworks(t *testing.T) {
	owner := map[string]string{}
	for _, n := range catalog.Networks() {
		owner[n.Name] = n.Name
	}
	for _, n := range catalog.Networks() {
		for _, name := range n.Published {
			if owner[name] != "" {
				t.Errorf("%s is published as %s, which is %s", n.Name, name, owner[name])
			}
			owner[name] = n.Name
			if found := catalog.NetworkPublishedAs(name); found != n.Name {
				t.Errorf("%s is published as %s, which is found as %s", n.Name, name, found)
			}
		}
	}
	if name := catalog.NetworkPublishedAs("vxlan"); name != "vxlan" {
		t.Errorf("vxlan is found as %s", name)
	}
}
