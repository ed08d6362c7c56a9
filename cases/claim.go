package cases

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tare/result"
	"tare/weigh"
)

// claim is a sentence of the article and how it is judged.
type claim struct {
	Text string `yaml:"text"`
	Kind string `yaml:"kind"` // as in result.Claim
	Note string `yaml:"note"`
	// CPU is a word of the model of the CPU that the claim is about; empty: of any.
	CPU string `yaml:"cpu"`
	// ReproducedIf are comparisons of which each must hold.
	ReproducedIf []comparison `yaml:"reproduced_if"`
	// Untestable is why no measurement here can test the claim; Shows has the spots whose values
	// are shown with it.
	Untestable string `yaml:"untestable"`
	Shows      []spot `yaml:"shows"`
}

// comparison is a spot and what a claim says of it.
type comparison struct {
	Figure   spot                   `yaml:"figure"`
	Relation string                 `yaml:"relation"`    // a name of relations
	Than     spot                   `yaml:"than"`        // in what it differs from Figure
	Range    span                   `yaml:"range"`       // of tolls
	Sizes    string                 `yaml:"sizes"`       // of messages, as of a plan
	Links    []result.BitsPerSecond `yaml:"links"`       // ascending
	OfLink   float64                `yaml:"of_link_bps"` // that the toll is of, where the article has no host to compare with
	IfSo     string                 `yaml:"if_so"`       // what it means that the relation holds
	IfNot    string                 `yaml:"if_not"`      // what it means that it does not
}

// span is from a low ratio to a high one, which is the same where an article names one. In a file
// it is "6.7%" or "40% to 50%".
type span struct{ low, high float64 }

func (s *span) UnmarshalYAML(node *yaml.Node) error {
	least, most, two := strings.Cut(node.Value, " to ")
	low, err := result.ParseRatio(least)
	high := low
	if two && err == nil {
		high, err = result.ParseRatio(most)
	}
	if err != nil || high < low {
		return fmt.Errorf("line %d: read range %q: write it as 6.7%% or 40%% to 50%%", node.Line, node.Value)
	}
	*s = span{low, high}
	return nil
}

func (s span) String() string {
	if s.low == s.high {
		return percent(s.low)
	}
	return fmt.Sprintf("%.1f to %s", 100*s.low, percent(s.high))
}

// complete checks a claim as it is in a file, and fills in what its spots leave open: a spot is of
// the first experiment, and Than is as Figure.
func (c *claim) complete(first spot) error {
	if (len(c.ReproducedIf) > 0) == (c.Untestable != "") {
		return errors.New("write either reproduced_if or untestable")
	}
	for n := range c.ReproducedIf {
		if err := c.ReproducedIf[n].complete(first); err != nil {
			return err
		}
	}
	for n, s := range c.Shows {
		c.Shows[n] = s.or(first)
	}
	return nil
}

func (c *comparison) complete(first spot) error {
	r, known := relations()[c.Relation]
	if !known {
		return fmt.Errorf("unknown relation %q: see cases/relation.go", c.Relation)
	}
	if got := c.given(); got != r.takes {
		return fmt.Errorf("relation %q is written with %q: it takes %q", c.Relation, got, r.takes)
	}
	c.Figure = c.Figure.or(first)
	c.Than = c.Than.or(c.Figure)
	return nil
}

// given names what a comparison has that not every relation takes.
func (c *comparison) given() string {
	var keys []string
	for _, key := range []struct {
		name string
		has  bool
	}{
		{"than", c.Than != spot{}}, {"range", c.Range != span{}}, {"sizes", c.Sizes != ""},
		{"links", len(c.Links) > 0}, {"if_so", c.IfSo != ""}, {"if_not", c.IfNot != ""},
	} {
		if key.has {
			keys = append(keys, key.name)
		}
	}
	return strings.Join(keys, " ")
}

// answer is a verdict of result.Claim, and the numbers for it.
type answer struct{ verdict, because string }

func untestable(because string) answer { return answer{result.ClaimUntestable, because} }

// reproducedIf is the answer where it is certain whether something holds.
func reproducedIf(holds, certain bool, because string) answer {
	switch {
	case !certain:
		return untestable("inconclusive: " + because)
	case holds:
		return answer{result.ClaimReproduced, because}
	}
	return answer{result.ClaimNotReproduced, because}
}

// judge gives the verdict on a claim by what was measured: if one comparison does not hold the
// whole is not reproduced; else, if one can't be tested, the whole can't be tested.
func (c claim) judge(e evidence) answer {
	if c.Untestable != "" {
		return untestable(c.Untestable + e.shown(c.Shows))
	}
	all := answer{verdict: result.ClaimReproduced}
	var texts []string
	for _, one := range c.ReproducedIf {
		a := relations()[one.Relation].judge(e, one)
		texts = append(texts, a.because)
		if a.verdict == result.ClaimNotReproduced || all.verdict == result.ClaimReproduced {
			all.verdict = a.verdict
		}
	}
	all.because = strings.Join(texts, "; ")
	for _, res := range e {
		if model := res.Environment.CPUModel; !strings.Contains(strings.ToLower(model), strings.ToLower(c.CPU)) {
			return untestable(fmt.Sprintf("it is about %s, and this machine has %s; its numbers: %s", c.CPU, cmp.Or(model, "another CPU"), all.because))
		}
	}
	return all
}

// shown are the values of spots, each after a semicolon.
func (e evidence) shown(spots []spot) (text string) {
	for _, s := range spots {
		if v := e.value(s); !math.IsNaN(v) {
			text += fmt.Sprintf("; here %s under %s: %s", s, s.Workload, amount(v, s.Metric))
		}
	}
	return text
}

// decide asks for a verdict if all spots were measured on their real data path and
// on a real CPU. A stand-in or an emulated CPU decides nothing: the answer only has its
// numbers.
func (e evidence) decide(verdict func() answer, spots ...spot) answer {
	return e.decideOrEmulate(verdict, func() answer {
		return untestable("an emulated CPU decides nothing about speed; its numbers: " + verdict().because)
	}, spots...)
}

// decideToll is decide for the toll of a spot.
func (e evidence) decideToll(s spot, verdict func(toll weigh.Weighing) answer) answer {
	return e.decide(func() answer { return verdict(e.toll(s)) }, s, s.host())
}

// decideOrEmulate asks for a verdict if all spots were measured on their real data path: another one
// where the CPU is emulated.
func (e evidence) decideOrEmulate(verdict, emulated func() answer, spots ...spot) answer {
	for _, s := range spots {
		if missing := e.lacks(s); missing != "" {
			return untestable(missing)
		}
	}
	for _, s := range spots {
		if e.standIn(s) {
			return untestable(s.Network + " is a stand-in here, which decides nothing; its numbers: " + verdict().because)
		}
	}
	if slices.ContainsFunc(spots, func(s spot) bool { return e.cell(s).Emulated() }) {
		return emulated()
	}
	return verdict()
}
