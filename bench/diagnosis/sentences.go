package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"tare/bench/harness"
	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// sentence is what the answer of tare run says first of why a network is slow, and whether it holds.
type sentence struct {
	Plan, Network string
	named         string  // the cause; empty: it names none
	said          float64 // its share of the toll; 0: it says none
	truth         float64 // the share by an intervention
	nearby        bool
	true          bool
	fix           string // what its fix did: mended, notMended and why; empty: it has none to carry out
	Problem       string // why there is no sentence
}

// sentenceApart is how far the share of a sentence may be from the truth.
const sentenceApart = 0.10

// right reports whether a sentence holds in all respects.
func (s sentence) right() bool {
	return s.true && s.nearby && !strings.HasPrefix(s.fix, notMended)
}

var (
	faultSaid = regexp.MustCompile(`- Fault: ([a-z0-9-]+)`)
	causeSaid = regexp.MustCompile(`The cause of [0-9.]+ ?(?:% of it|of its [0-9.]+ percentage points): ([a-z0-9-]+)`)
)

// saidIn is the cause that an answer names first; empty: none.
func saidIn(answer string) string {
	text := strings.Join(strings.Fields(answer), " ")
	if fault := faultSaid.FindStringSubmatch(text); fault != nil {
		return fault[1]
	}
	if cause := causeSaid.FindStringSubmatch(text); cause != nil {
		return cause[1]
	}
	return ""
}

// answered is the answer of a run, as a user reads it, with the cell of a network.
func (s *stage) answered(ctx context.Context, networkName string, argv ...string) (text string, cell result.Cell, err error) {
	cell, res, err := s.cell(ctx, networkName, argv...)
	if err != nil {
		return "", cell, err
	}
	file, err := os.CreateTemp("", "sentence-*.json")
	if err != nil {
		return "", cell, err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if err := errors.Join(res.Write(file), file.Close()); err != nil {
		return "", cell, err
	}
	answer, err := s.tare.Call(ctx, "", "report", file.Name())
	return string(answer), cell, err
}

// undecided is why an answer names no cause of a cell's toll: none is shown. nil: it should name one.
func undecided(cell result.Cell) error {
	if m := weigh.Headline(&cell); m != nil && m.Toll != nil && m.Toll.Verdict == string(stats.Inconclusive) {
		return errors.New("its toll is inconclusive: there is nothing to name")
	}
	return nil
}

// sentence reads what is said of an injection whose tolls before and after are known, and carries out the fix.
func (s *stage) sentence(ctx context.Context, w wording, i injected) (sentence, error) {
	one := sentence{Plan: i.Cause + " " + i.Wording, Network: i.at.network()}
	q := w.Ask[0]
	text, cell, err := s.answered(ctx, i.at.network(), q.argv(s)...)
	if err != nil {
		return one, err
	}
	one.named = saidIn(text)
	share := i.Share().value
	f := findingOf(cell, one.named)
	if f == nil {
		return one, undecided(cell)
	}
	one.said = f.Share
	switch {
	case one.named == i.Cause:
		one.true, one.truth = true, share
		one.nearby = one.said == 0 || math.Abs(one.said-share) <= sentenceApart
	case slices.Contains(ownCosts(i.at.network()), one.named): // the larger part, if it is what was there before
		one.true, one.truth = share < 0.5, 1-share
		one.nearby = one.said <= 1-share+sentenceApart
	}
	if f.Remedy != nil && one.named == i.Cause {
		one.fix, err = s.mend(ctx, w, i.Cause, []verdict{{Found: []string{i.Cause}, Remedy: f.Remedy}})
	}
	return one, err
}

// natural is a plan of networks whose own costs are to be named, as "route,vxlan cross-host tcp_rr".
type natural string

func (n natural) networks() []string { return strings.Split(strings.Fields(string(n))[0], ",") }

func (n natural) path() string { return strings.Fields(string(n))[1] }

// ask is what is said of a natural toll: the truth is of a longer run, in which each network is weighed by itself.
func (n natural) ask(ctx context.Context, b bench) (sentence, error) {
	asked := n.networks()[len(n.networks())-1]
	one := sentence{Plan: string(n), Network: asked}
	s := &stage{tare: b.tare}
	argv := func(networks []string, blocks string) []string {
		return []string{"run", "--networks", catalog.Baseline + "," + strings.Join(networks, ","), "--paths", n.path(), "--workloads", strings.Fields(string(n))[2],
			"--blocks", blocks, "--duration", askDuration}
	}
	text, cell, err := s.answered(ctx, asked, argv(n.networks(), askBlocks)...)
	if err != nil {
		return one, err
	}
	one.named = saidIn(text)
	f := findingOf(cell, one.named)
	if f == nil {
		return one, undecided(cell)
	}
	one.said = f.Share
	res, err := b.tare.Result(ctx, argv(n.ladder(rungsOf(*f)...), tollBlocks)...)
	if err != nil {
		return one, err
	}
	one.truth, one.true = n.truth(res, *f)
	one.nearby = math.Abs(one.said-one.truth) <= sentenceApart
	return one, nil
}

// rungsOf are the networks whose tolls are the evidence of a finding: the run may have weighed some on its own
// accord.
func rungsOf(f result.Finding) (names []string) {
	for _, e := range f.Evidence {
		if rest, is := strings.CutPrefix(e.Name, "toll of "); is && f.ID == "rung-cost" {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}

// ladder are the networks of the plan, with those that the last is built upon and others.
func (n natural) ladder(others ...string) []string {
	all := n.networks()
	for _, name := range others {
		if !slices.Contains(all, name) {
			all = append([]string{name}, all...)
		}
	}
	for at, known := kinds.Find(all[len(all)-1]); known && at.Parent != "" && at.Parent != catalog.Baseline; at, known = kinds.Find(at.Parent) {
		if below, is := kinds.Find(at.Parent); is && below.Serves(n.path()) && !slices.Contains(all, at.Parent) {
			all = append([]string{at.Parent}, all...)
		}
	}
	return all
}

// truth is the share of a finding in the toll of the network that is asked about: what one network adds to
// another, whose tolls are the finding's evidence, else to the one before it. It is true if nothing that
// another network adds is larger by more than shares may be apart.
func (n natural) truth(res *result.Result, f result.Finding) (share float64, largest bool) {
	tolls := map[string]float64{catalog.Baseline: 0}
	for _, c := range res.Cells {
		if m := weigh.Headline(&c); m != nil && m.Toll != nil && c.Network != catalog.Baseline {
			tolls[c.Network] = m.Toll.Value
		}
	}
	named := rungsOf(f)
	of := n.ladder(named...)
	whole := tolls[of[len(of)-1]]
	upper, lower := of[len(of)-1], catalog.Baseline
	if len(of) > 1 {
		lower = of[len(of)-2]
	}
	if len(named) > 0 {
		upper, lower = named[0], catalog.Baseline
		if len(named) > 1 {
			lower = named[1]
		}
	}
	share = max(0, min(1, (tolls[upper]-tolls[lower])/whole)) // a network below may be faster than the host
	most, below := 0.0, catalog.Baseline
	for _, name := range of {
		most, below = max(most, min(1, (tolls[name]-tolls[below])/whole)), name
	}
	return share, share >= most-sentenceApart
}

// Right is how many of the sentences are.
func (p sharesOf) Right() string {
	asked, right := 0, 0
	for _, s := range p.Said {
		if s.Problem == "" {
			asked++
		}
		if s.Problem == "" && s.right() {
			right++
		}
	}
	return harness.Share(right, asked)
}

// Cells are those of its row from the cause that it names.
func (s sentence) Cells() string {
	said, truth, verdict := "", "", "yes"
	if s.said > 0 {
		said = fmt.Sprintf("%.0f", 100*s.said)
	}
	if s.Problem == "" {
		truth = fmt.Sprintf("%.0f", 100*s.truth)
	}
	switch {
	case s.Problem != "":
		verdict = "- " + s.Problem
	case !s.right():
		verdict = "**no**"
	}
	return strings.Join([]string{s.named, said, truth, harness.Line(s.fix), harness.Line(verdict)}, " | ")
}
