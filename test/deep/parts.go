package main

import (
	"fmt"
	"strings"
)

// part is a part of the deep tier.
type part struct {
	name    string
	doc     string
	inputs  []string // folders and files that it depends on, with all that is in them
	code    []string // folders that it depends on, without their tests and documents
	waits   bool     // most of the time; others may run beside it
	command string   // for bash; it fails where a test fails or is skipped
}

// allParts are those that `make deep` runs, in this order.
func allParts() []part {
	return []part{
		tests("chaos", "what goes wrong at a random moment leaves nothing behind", "./test/chaos").
			uses("cmd/tare", "experiment", "site", "lab", "agent", "network", "engine"),
	}
}

// passing is how a part's tests are run. What takes longer hangs.
const passing = "go test -count=1 -vet=off -ldflags='-s -w' -timeout 30m -json"

// tests is the part of the deep tests of packages, each of which is an input.
func tests(name, doc string, packages ...string) part {
	p := part{name: name, doc: doc, command: fmt.Sprintf("%s -p 1 -run '^TestDeep' %s | go run ./test/verdict", passing, strings.Join(packages, " "))}
	for _, folder := range packages {
		p.inputs = append(p.inputs, strings.TrimPrefix(folder, "./"))
	}
	return p
}

// uses names folders of which only the code counts.
func (p part) uses(folders ...string) part {
	p.code = append(p.code, folders...)
	return p
}
