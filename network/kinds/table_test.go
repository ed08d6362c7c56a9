package kinds_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/engine/router"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/test/labtest"
)

// What is known of a network agrees with how it is set up.
func TestEveryNetworkIsSetUpAsItIsKnown(t *testing.T) {
	for _, n := range kinds.All() {
		if n.SetUp == nil {
			t.Errorf("%s has no setup", n.Name)
		}
		if n.Bare != (len(n.Needs) == 0) {
			t.Errorf("%s: the usual kernel has all of it: %t, and it needs %d things more", n.Name, n.Bare, len(n.Needs))
		}
		if (n.Engine != "") != (n.StartEngine != nil) || (n.Runtime != "") != (n.Cycle != nil) {
			t.Errorf("%s: engine %q, runtime %q: started %t, makes containers %t", n.Name, n.Engine, n.Runtime, n.StartEngine != nil, n.Cycle != nil)
		}
	}
}

// The catalog names what an engine and a lab have.
func TestNamesOfTheCatalogAreTheEngines(t *testing.T) {
	for _, name := range []string{catalog.BIRD, catalog.FRR} {
		if _, err := router.Find(name); err != nil {
			t.Error(err)
		}
	}
	labtest.Equal(t, "folder above Docker's", filepath.Dir(catalog.DockerFolder), lab.Scratch)
}

// A network's function has its name, as Go writes names, and is in the file
// of that name. Besides there is the list.
func TestEveryNetworkHasAFileOfItsName(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".go")
		if _, tests := strings.CutSuffix(name, "_test"); !tests && name != "kinds" && !slices.ContainsFunc(kinds.All(), func(n network.Network) bool { return n.Name == name }) {
			t.Errorf("%s is no network: what several need is in package network", file)
		}
	}
	for _, n := range kinds.All() {
		text, err := os.ReadFile(n.Name + ".go")
		if err != nil {
			t.Error(err)
			continue
		}
		function := "\nfunc " + strings.ReplaceAll(n.Name, "-", "") + "() network.network {"
		if !strings.Contains(strings.ToLower(string(text)), function) {
			t.Errorf("%s.go has no function %s", n.Name, n.Name)
		}
	}
}

// Networks of one engine share hosts, where one setting holds for
// all of them.
func TestNetworksOfAnEngineAgree(t *testing.T) {
	first := map[string]network.Network{}
	for _, n := range kinds.All() {
		engine := n.Engine
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
	for _, n := range kinds.All() {
		if lab := `clusters("` + family(n) + `")`; !strings.Contains(tests.String(), lab) {
			t.Errorf("no test has %s, which %s would be in", lab, n.Name)
		}
	}
}
