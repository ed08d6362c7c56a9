package diagnosis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"tare/bench/harness"
	"tare/result"
	"tare/weigh"
)

// apartMost is how far a share may be from the injected one, in points.
const apartMost = 5

// injected is an injection with the tolls before and after it, and the finding that a
// user gets.
type injected struct {
	Cause, Wording string
	at             spot
	Before, After  toll
	found          *result.Finding
	said           sentence
	Problem        string
}

// toll is a toll of the network, and half of its interval.
type toll struct {
	value, half float64
	inSlots     bool
}

// String is the toll in percent.
func (t toll) String() string { return fmt.Sprintf("%.1f ± %.1f", 100*t.value, 100*t.half) }

// Network is where it was injected.
func (i injected) Network() string { return i.at.network() }

// Share is that of the injection in the toll, and half of its interval: the tolls before and
// after it are of different runs.
func (i injected) Share() toll {
	of := i.Before.value / i.After.value
	return toll{value: 1 - of, half: math.Hypot(i.Before.half, of*i.After.half) / i.After.value}
}

// Cells are the last of its row: the injected share, the one that was named, and how far they are apart.
func (i injected) Cells() string {
	if i.found == nil {
		return fmt.Sprintf(" | %s | ", i.Problem)
	}
	interval := ""
	if i.found.Low != nil && i.found.High != nil {
		interval = fmt.Sprintf(` \[%.1f, %.1f\]`, 100**i.found.Low, 100**i.found.High)
	}
	return fmt.Sprintf("%s | %.1f%s | %+.1f", i.Share(), 100*i.found.Share, interval, i.apart())
}

// apart is how far the share of the finding is from that of the injection, in points.
func (i injected) apart() float64 { return 100 * (i.found.Share - i.Share().value) }

// joint reports whether the interval of the finding's share and that of the injection's have
// values in common.
func (i injected) joint() bool {
	share := i.Share()
	return i.found.Low != nil && i.found.High != nil && *i.found.Low <= share.value+share.half && *i.found.High >= share.value-share.half
}

// sharesOf is what shares.md is made of.
type sharesOf struct {
	Machine  harness.Machine
	Command  string
	Injected []injected
	Said     []sentence
}

//go:embed shares.md
var sharesPage string

// shares weighs every wording that makes a network slower, each on its first spot, asks about tolls that nobody
// injected, and writes the page.
func (b bench) shares(ctx context.Context, machine harness.Machine, d data, chosen []cause, o options) error {
	p := sharesOf{Machine: machine, Command: o.command}
	for _, c := range chosen {
		for _, w := range c.Wordings {
			if !c.Slows || len(w.Inject) == 0 || len(w.Ask) == 0 || w.Ask[0] == doctor || ctx.Err() != nil {
				continue
			}
			i := injected{Cause: c.ID, Wording: w.Name, at: w.on[0]}
			fmt.Fprintln(os.Stderr, c.ID, w.Name, "on", i.at)
			if err := b.weigh(ctx, w, &i); err != nil {
				i.Problem = harness.Line(err.Error())
				fmt.Fprintln(os.Stderr, "  "+i.Problem)
			}
			p.Injected = append(p.Injected, i)
			if i.said.Plan != "" {
				p.Said = append(p.Said, i.said)
			}
		}
	}
	for _, n := range d.Naturals {
		if !o.clean || ctx.Err() != nil {
			break
		}
		one, err := n.ask(ctx, b)
		if err != nil {
			one.Problem = harness.Line(err.Error())
		}
		fmt.Fprintf(os.Stderr, "%+v\n", one)
		p.Said = append(p.Said, one)
	}
	return harness.Write(o.output, "shares", sharesPage, p)
}

// Near is how many of the shares that were named are near enough, and how many of the others' intervals
// overlap.
func (p sharesOf) Near() string {
	near, joint, weighed := 0, 0, 0
	for _, i := range p.Injected {
		switch {
		case i.found == nil:
			continue
		case math.Abs(i.apart()) <= apartMost:
			near++
		case i.joint():
			joint++
		}
		weighed++
	}
	return fmt.Sprintf("%s within %d points; of the others, the intervals of %d overlap", harness.Share(near, weighed), apartMost, joint)
}

// weigh takes the tolls before and after an injection, and asks for its cause.
func (b bench) weigh(ctx context.Context, w wording, i *injected) (err error) {
	s, err := open(ctx, b.tare, i.at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q := w.Ask[0]
	if i.Before, err = s.toll(ctx, q); err != nil {
		return err
	}
	if err := s.inject(ctx, w); err != nil {
		return err
	}
	if i.After, err = s.toll(ctx, q); err != nil {
		return err
	}
	if i.Before.inSlots && !i.After.inSlots {
		if i.Before, err = b.untouched(ctx, i.at, q); err != nil {
			return err
		}
	}
	if i.After.value-i.After.half <= i.Before.value+i.Before.half {
		return errors.New("the injection makes nothing slower here: there is no share to name")
	}
	cell, _, err := s.cell(ctx, i.at.network(), q.argv(s)...)
	if err != nil {
		return err
	}
	if i.said, err = s.sentence(ctx, w, *i); err != nil {
		i.said.Problem = harness.Line(err.Error())
		return err
	}
	fmt.Fprintf(os.Stderr, "  %+v\n", i.said)
	if i.found = findingOf(cell, i.Cause); i.found == nil {
		return fmt.Errorf("the cause was not named, but %v", result.Names(cell.Findings, func(f result.Finding) string { return f.ID }))
	}
	return nil
}

// untouched is the toll in windows before an injection whose pauses leave slots empty: windows begin on new
// connections, so that tolls in slots and in windows are not held against each other.
func (b bench) untouched(ctx context.Context, at spot, q question) (before toll, err error) {
	s, err := open(ctx, b.tare, at)
	if err != nil {
		return toll{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.toll(ctx, q, "--design", result.DesignWindows)
}

// findingOf is that of a cell by its name; nil: it has none.
func findingOf(cell result.Cell, id string) *result.Finding {
	n := slices.IndexFunc(cell.Findings, func(f result.Finding) bool { return f.ID == id })
	if n < 0 {
		return nil
	}
	return &cell.Findings[n]
}

// tollBlocks is in how many blocks a toll is measured.
const tollBlocks = "40"

// toll is that of the network.
func (s *stage) toll(ctx context.Context, q question, flags ...string) (toll, error) {
	cell, _, err := s.cell(ctx, s.at.network(), append(append(q.argv(s), "--blocks", tollBlocks), flags...)...)
	if err != nil {
		return toll{}, err
	}
	m := weigh.Headline(&cell)
	if m == nil || m.Toll == nil || m.Toll.Low == nil || m.Toll.High == nil {
		return toll{}, errors.New("the network has no toll with an interval")
	}
	return toll{m.Toll.Value, (*m.Toll.High - *m.Toll.Low) / 2, cell.Params.Text("design") == result.DesignSlots}, nil
}

// cell is a network's cell in the result of a run, and the result.
func (s *stage) cell(ctx context.Context, networkName string, argv ...string) (cell result.Cell, res *result.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	if res, err = s.tare.Result(ctx, argv...); err != nil {
		return cell, nil, err
	}
	cell, there := result.First(res.Cells, func(c result.Cell) bool { return c.Network == networkName })
	if !there || cell.Status != result.StatusOK {
		return cell, nil, fmt.Errorf("%s was not measured: %s", networkName, cell.Reason)
	}
	return cell, res, nil
}
