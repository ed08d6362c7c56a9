// Package cases holds published measurements of container networks: their figures and claims, plans
// that repeat the experiments, and how the results of these plans judge each claim. A measurement is
// one file of published/.
//
//   - published/: the measurements
//   - cases.go: the type of a case, and how its file is read
//   - claim.go, relation.go, cpu.go: what a claim compares, and the relations that decide it
//   - spot.go: which measured value corresponds to a published figure
//   - evidence.go: the measured values, and one spot weighed against another
//   - figures.go: published figures with the measured ones
//   - judge.go: one result for all experiments of a case, and what tare recommends
package cases

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tare/result"
)

// Case is a published measurement and how it is repeated.
type Case struct {
	ID         string   `yaml:"-"` // of its file
	Doc        string   `yaml:"doc"`
	Title      string   `yaml:"title"`
	Recommends string   `yaml:"recommends"`
	Defects    []string `yaml:"source_defects"`
	// Contradictions are those of figures and claims with each other; a test finds them.
	Contradictions []string     `yaml:"contradictions"`
	Experiments    []Experiment `yaml:"experiments"`
	Claims         []claim      `yaml:"claims"` // in the order in which they were published
	// Candidates are the spots from which tare recommends one, by their tolls; none: the source
	// compares settings of one network, and recommends none.
	Candidates []spot   `yaml:"candidates"`
	Figures    []figure `yaml:"figures"`
}

// Experiment is one run of a case. What its plan leaves open has the defaults of
// tare run.
type Experiment struct {
	Name string      `yaml:"name"`
	Doc  string      `yaml:"doc"`
	Plan result.Plan `yaml:"plan"`
}

//go:embed published/*.yaml
var files embed.FS

// IDs names every case in the order of a listing, which the numbers of the files give. It reads none.
func IDs() []string { return result.Names(paths(), idOf) }

func paths() []string {
	all, _ := fs.Glob(files, "published/*.yaml") // the pattern is well-formed
	return all
}

// idOf is what follows the number in the name of a case's file.
func idOf(file string) string {
	_, id, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".yaml"), "-")
	return id
}

// Load reads the case with an ID. Unknown keys are errors that name file and line, as are claims
// that can't be judged.
func Load(id string) (Case, error) {
	at := slices.IndexFunc(paths(), func(file string) bool { return idOf(file) == id })
	if at < 0 {
		return Case{}, fmt.Errorf("read case %s: there is none: see tare list cases", id)
	}
	file := paths()[at]
	text, err := files.ReadFile(file)
	if err != nil {
		return Case{}, fmt.Errorf("read case %s: %w", id, err)
	}
	c, err := decode(text)
	if err != nil {
		return Case{}, fmt.Errorf("read case cases/%s: %w", file, err)
	}
	c.ID = id
	return c, nil
}

func decode(text []byte) (Case, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var c Case
	if err := dec.Decode(&c); err != nil {
		return Case{}, err
	}
	if len(c.Experiments) == 0 {
		return Case{}, fmt.Errorf("it has no experiments: write one")
	}
	first := spot{Experiment: c.Experiments[0].Name}
	for n := range c.Claims {
		if err := c.Claims[n].complete(first); err != nil {
			return Case{}, fmt.Errorf("claim %q: %w", c.Claims[n].Text, err)
		}
	}
	for n, s := range c.Candidates {
		c.Candidates[n] = s.or(first)
	}
	return c, nil
}

// Networks names the networks that a case measures, each once.
func (c Case) Networks() []string {
	var names []string
	for _, e := range c.Experiments {
		for _, n := range e.Plan.Networks {
			names = result.AddOnce(names, n.Name)
		}
	}
	return names
}
