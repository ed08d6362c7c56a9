package network_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/network"
	"tare/wire"
)

func TestEveryNetworkIsWhole(t *testing.T) {
	before := map[string]bool{}
	for _, n := range network.All() {
		if before[n.Name] {
			t.Errorf("%s is listed twice", n.Name)
		}
		switch {
		case n.Name == network.Baseline && n.Parent != "":
			t.Errorf("the baseline has the parent %s", n.Parent)
		case n.Name != network.Baseline && !before[n.Parent]:
			t.Errorf("%s: its parent %q does not come before it", n.Name, n.Parent)
		}
		before[n.Name] = true
		if n.Doc == "" || n.SetUp == nil || len(n.Paths) == 0 {
			t.Errorf("%s lacks a sentence, a setup or a path", n.Name)
		}
		if n.Name != network.Baseline && (n.Missing == "" || n.Get == "") {
			t.Errorf("%s does not name what it may lack and how to get it", n.Name)
		}
		if !slices.Contains([]string{network.Product, network.SamePath, network.StandIn}, n.Fidelity) {
			t.Errorf("%s: fidelity %q", n.Name, n.Fidelity)
		}
		if tagged := slices.Equal(n.Stack, wire.VLAN()); n.Encapsulates() != (len(n.Stack) > 0 && !tagged) {
			t.Errorf("%s: encapsulates %t with the stack %v", n.Name, n.Encapsulates(), n.Stack)
		}
		for _, path := range n.Paths {
			if !slices.Contains(network.Paths(), path) || !n.Serves(path) {
				t.Errorf("%s: path %q", n.Name, path)
			}
		}
		if found, known := network.Find(n.Name); !known || found.Doc != n.Doc {
			t.Errorf("Find does not find %s", n.Name)
		}
	}
	if _, known := network.Find("token-ring"); known {
		t.Error("Find finds what is not there")
	}
}

func TestAcrossReachesTheOtherHost(t *testing.T) {
	for _, n := range network.All() {
		if n.Across == "" {
			continue
		}
		across, known := network.Find(n.Across)
		if !known || !across.Serves(network.CrossHost) || n.Serves(network.CrossHost) {
			t.Errorf("%s: across hosts it is %q: known %t, serves %v", n.Name, n.Across, known, across.Paths)
		}
	}
}

// A network's function has its name, as Go writes names, and is in the file
// of that name.
func TestEveryNetworkHasAFileOfItsName(t *testing.T) {
	for _, n := range network.All() {
		text, err := os.ReadFile(n.Name + ".go")
		if err != nil {
			t.Error(err)
			continue
		}
		function := "\nfunc " + strings.ReplaceAll(n.Name, "-", "") + "() network {"
		if !strings.Contains(strings.ToLower(string(text)), function) {
			t.Errorf("%s.go has no function %s", n.Name, n.Name)
		}
	}
}

// Networks of one engine share hosts, where one setting holds for
// all of them.
func TestNetworksOfAnEngineAgree(t *testing.T) {
	first := map[string]network.Network{}
	for _, n := range network.All() {
		engine := n.Engine.Name
		if engine == "" {
			continue
		}
		had, seen := first[engine]
		if !seen {
			first[engine] = n
		} else if had.BridgeNetfilter != n.BridgeNetfilter {
			t.Errorf("%s and %s share hosts: bridged packets pass netfilter: %t and %t", had.Name, n.Name, had.BridgeNetfilter, n.BridgeNetfilter)
		}
	}
}

// Every network is in the lab of its family, which a test builds.
func TestEveryNetworkIsInALab(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for _, n := range network.All() {
		if lab := `clusters("` + family(n) + `")`; !strings.Contains(tests.String(), lab) {
			t.Errorf("no test has %s, which %s would be in", lab, n.Name)
		}
	}
}
