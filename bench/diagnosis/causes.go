package diagnosis

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tare/bench/harness"
	"tare/network"
)

//go:embed causes.yaml
var causesText string

// data is what causes.yaml holds: it documents the fields.
type data struct {
	Sets     map[string][]spot `yaml:"spots"`
	Naturals []natural
	Causes   []cause
}

// cause is one that a finding can name, and the ways in which it is brought about.
type cause struct {
	ID       string
	Slows    bool
	Wordings []wording
	Bites    []step     // of the wordings without
	Ask      []question // likewise
	NotHere  string     `yaml:"not_here"` // why it can't be brought about on this machine
}

// wording is one way to bring a cause about.
type wording struct {
	Name   string
	Does   string   // in a sentence
	On     []string // where it is injected: spots, and sets of them
	Inject []step
	Bites  []step
	Ask    []question
	on     []spot
}

// spot is a path of a network.
type spot struct{ network, path string }

func (s spot) String() string { return s.network + " " + s.path }

// UnmarshalYAML reads "vxlan cross-host".
func (s *spot) UnmarshalYAML(node *yaml.Node) error {
	network, path, two := strings.Cut(node.Value, " ")
	if !two {
		return fmt.Errorf("line %d: %q: want a network and a path", node.Line, node.Value)
	}
	*s = spot{network, path}
	return nil
}

// step is a script and where it is typed.
type step struct{ At, Script string }

// UnmarshalYAML reads "at: script".
func (s *step) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 {
		return fmt.Errorf("line %d: want a place and its script", node.Line)
	}
	*s = step{node.Content[0].Value, node.Content[1].Value}
	return nil
}

// The places.
const (
	client = "client"
	server = "server"
	near   = "near" // the client's host
	far    = "far"  // the server's host
)

// question is how the verdict is asked for: tare doctor, or tare run with these flags.
type question struct {
	verb  string
	flags []string
}

// The verbs that are asked.
const (
	doctorVerb = "doctor"
	runVerb    = "run"
)

// UnmarshalYAML reads "doctor", or "run WORKLOAD FLAG ...".
func (q *question) UnmarshalYAML(node *yaml.Node) error {
	words := strings.Fields(node.Value)
	if len(words) == 0 || words[0] != doctorVerb && (words[0] != runVerb || len(words) == 1) {
		return fmt.Errorf("line %d: %q: want doctor, or run and a workload", node.Line, node.Value)
	}
	*q = asking(words[0], words[1:]...)
	return nil
}

// asking is a question: doctor asks for the faults of the path, run for the causes of what a workload costs.
func asking(verb string, words ...string) question {
	if verb == doctorVerb {
		return question{verb: verb}
	}
	return question{verb, append([]string{"--workloads"}, words...)}
}

// readData reads the data, with every wording complete.
func readData() (d data, err error) {
	if err := harness.Data(causesText, &d); err != nil {
		return d, fmt.Errorf("read causes.yaml: %w", err)
	}
	for _, c := range d.Causes {
		for n := range c.Wordings {
			w := &c.Wordings[n]
			if w.Bites == nil {
				w.Bites = c.Bites
			}
			if w.Ask == nil {
				w.Ask = c.Ask
			}
			for _, name := range w.On {
				if set, is := d.Sets[name]; is {
					w.on = append(w.on, set...)
					continue
				}
				var at spot
				if err := at.UnmarshalYAML(&yaml.Node{Value: name}); err != nil {
					return d, fmt.Errorf("read causes.yaml: %s %s: %w", c.ID, w.Name, err)
				}
				w.on = append(w.on, at)
			}
		}
	}
	return d, nil
}

// choose narrows the list to what is asked for.
func (d data) choose(o options) (chosen []cause, err error) {
	for _, c := range d.Causes {
		if o.causes != "" && !slices.Contains(strings.Split(o.causes, ","), c.ID) {
			continue
		}
		var wordings []wording
		for _, w := range c.Wordings {
			w.on = slices.DeleteFunc(slices.Clone(w.on), func(at spot) bool { return !o.picks(at.network) })
			if (o.wording == "" || o.wording == w.Name) && len(w.on) > 0 {
				wordings = append(wordings, w)
			}
		}
		c.Wordings = wordings
		chosen = append(chosen, c)
	}
	if o.causes != "" && len(chosen) != len(strings.Split(o.causes, ",")) {
		return nil, fmt.Errorf("-causes %s: not all of them are on the list: causes.yaml has it", o.causes)
	}
	return chosen, nil
}

// picks reports whether a network is asked for.
func (o options) picks(name string) bool {
	return o.networks == "" || slices.Contains(strings.Split(o.networks, ","), name)
}

// ownCosts are the causes that a network of itself gives rise to: tare run
// names them on a clean lab too.
func ownCosts(networkName string) []string {
	n, known := network.Find(networkName)
	costs := []string{"rung-cost"}
	if known && n.Encapsulates() {
		costs = append(costs, "encapsulation-cost", "tunnel-segmentation", "size-rank")
	}
	if n.Facts.NAT {
		costs = append(costs, "nat-cost")
	}
	if n.Facts.Relays {
		costs = append(costs, "userland-proxy")
	}
	return costs
}
