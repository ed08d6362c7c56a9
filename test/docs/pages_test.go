package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/network/kinds"
	"tare/test/docs/page"
)

// networksPage is the overview of the networks' pages.
const networksPage = "docs/networks/README.md"

// pageOf is where a network is written about.
func pageOf(n network.Network) string { return "docs/networks/" + n.Name + ".md" }

// firstOf is the first block of its kind on a page; empty: there is none.
func firstOf(t *testing.T, file, kind string) string {
	t.Helper()
	for _, b := range blocksOf(t, file) {
		if b.Kind == kind {
			return b.Text
		}
	}
	return ""
}

// read is a document's text.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEveryNetworkHasAPage holds the page of each network to what the network
// is: its drawing, parent, paths, the rungs below it and its parameters.
func TestEveryNetworkHasAPage(t *testing.T) {
	if !strings.Contains(read(t, networksPage), page.NetworksTable()) {
		t.Errorf("the table of %s is old: go run ./test/docs networks", networksPage)
	}
	for _, n := range kinds.All() {
		t.Run(n.Name, func(t *testing.T) {
			text := read(t, pageOf(n))
			if !strings.HasPrefix(text, "# "+n.Name+"\n") {
				t.Error("its title is not the network's name")
			}
			if firstOf(t, pageOf(n), "text") == "" {
				t.Error("it has no drawing: a text block")
			}
			if !strings.Contains(text, "\n"+page.Facts(n.Network)+"\n") {
				t.Error("what it says of paths, rungs, fidelity and flags is old: go run ./test/docs networks")
			}
			for _, word := range namedBy(n) {
				if !strings.Contains(text, word) {
					t.Errorf("it does not name %s", word)
				}
			}
			for _, heading := range []string{"\n## Overhead\n", "\n## Known for\n"} {
				if !strings.Contains(text, heading) {
					t.Errorf("it has no section %q", strings.TrimSpace(heading))
				}
			}
		})
	}
}

// namedBy is what a network's page must name: its paths, the rungs below it
// and its own parameters' flags.
func namedBy(n network.Network) []string {
	var words []string
	for _, path := range n.Paths {
		words = append(words, "`"+path+"`")
	}
	for below, found := kinds.Find(n.Parent); found; below, found = kinds.Find(below.Parent) {
		words = append(words, "`"+below.Name+"`")
	}
	for _, p := range n.Params {
		words = append(words, flagOf(p))
	}
	return words
}

// flagOf is a parameter's flag.
func flagOf(p catalog.Param) string { return "--" + strings.ReplaceAll(p.Name, "_", "-") }

// TestOverviewNamesTheParameters: what networks take is described once, that of every network with its name in a plan.
func TestOverviewNamesTheParameters(t *testing.T) {
	text := read(t, networksPage)
	least, _ := kinds.Find("veth") // it has no other parameters
	for _, p := range catalog.Params() {
		if !strings.Contains(text, "`"+flagOf(p)) || least.Takes(p.Name) && !strings.Contains(text, "`"+p.Name+"`") {
			t.Errorf("%s does not name %s and its flag", networksPage, p.Name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestLinksLeadSomewhere follows every link within the repository.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, file := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, file), -1) {
			to := filepath.Join(root, filepath.Dir(file), match[1])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links %s: %v", file, match[1], err)
			}
		}
	}
}
