package diagnosis

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tare/bench/harness"
	"tare/network/kinds"
)

//go:embed causes.yaml
var causesText string

// data is what causes.yaml holds: it documents the fields.
type data struct {
	Spots    map[string][]spot // sets of them
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

// spot is a path of a network, as "vxlan cross-host".
type spot string

func (s spot) network() string { return strings.Fields(string(s))[0] }

func (s spot) path() string { return strings.Fields(string(s))[1] }

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

// question is how the verdict is asked for: "doctor", "doctor of all", or "run WORKLOAD FLAG ...".
type question string

// doctor asks for the faults of the path, or of all paths of the lab in both directions; tare run
// for the causes of what a workload costs.
const (
	doctor      question = "doctor"
	doctorOfAll question = "doctor of all"
)

// ofDoctor reports whether it is the doctor who is asked.
func (q question) ofDoctor() bool { return q == doctor || q == doctorOfAll }

// flags are those of tare run; none: it is the doctor who is asked.
func (q question) flags() []string {
	if q.ofDoctor() {
		return nil
	}
	return append([]string{"--workloads"}, strings.Fields(string(q))[1:]...)
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
				set, is := d.Spots[name]
				if !is {
					set = []spot{spot(name)}
				}
				w.on = append(w.on, set...)
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
			w.on = slices.DeleteFunc(slices.Clone(w.on), func(at spot) bool { return !o.picks(at.network()) })
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
	n, known := kinds.Find(networkName)
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
