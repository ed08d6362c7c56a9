package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"tare/probe"
	"tare/result"
	"tare/weigh"
)

// apartMost is how far a share may be from the injected one, in points.
const apartMost = 5

// sharesTitle is the heading of the table in the page.
const sharesTitle = "## Shares\n"

// slowing are the causes whose injections make a network slower: their share of the
// toll is known, by the toll before.
func slowing() []string {
	return []string{
		"encapsulation-cost", "nat-cost", "userland-proxy", "many-rules", "offload-off", "cfs-throttled", "tcp-receive-window",
		"application-limited", "shaper-drop", "random-loss", "reordering", "lab-changed",
	}
}

// injected is an injection with the tolls before and after it, and the finding that a
// user gets.
type injected struct {
	cause, wording string
	at             spot
	before, after  toll
	found          *result.Finding
	said           sentence
	problem        string
}

// toll is a toll of the network, and half of its interval.
type toll struct{ value, half float64 }

// share is that of the injection in the toll, and half of its interval: the tolls before and
// after it are of different runs.
func (i injected) share() (share, half float64) {
	of := i.before.value / i.after.value
	return 1 - of, math.Hypot(i.before.half, of*i.after.half) / i.after.value
}

// apart is how far the share of the finding is from that of the injection, in points.
func (i injected) apart() float64 {
	share, _ := i.share()
	return 100 * (i.found.Share - share)
}

// String is the toll in percent.
func (t toll) String() string { return fmt.Sprintf("%.1f ± %.1f", 100*t.value, 100*t.half) }

// near reports whether it is near enough.
func (i injected) near() bool { return math.Abs(i.apart()) <= apartMost }

// joint reports whether the interval of the finding's share and that of the injection's have
// values in common.
func (i injected) joint() bool {
	share, half := i.share()
	return i.found.Low != nil && i.found.High != nil && *i.found.Low <= share+half && *i.found.High >= share-half
}

// weighAll weighs every wording of some causes, each on its first spot.
func (b bench) weighAll(ctx context.Context, chosen []cause) []injected {
	var all []injected
	for _, c := range chosen {
		for _, w := range c.wordings {
			if !slices.Contains(slowing(), c.id) || len(w.inject) == 0 || len(w.ask) == 0 || w.ask[0].verb != runVerb || ctx.Err() != nil {
				continue
			}
			i := injected{cause: c.id, wording: w.name, at: w.on[0]}
			fmt.Fprintf(os.Stderr, "%s %s on %s %s\n", c.id, w.name, i.at.network, i.at.path)
			if err := b.weigh(ctx, w, &i); err != nil {
				i.problem = oneLine(err.Error())
				fmt.Fprintln(os.Stderr, "  "+i.problem)
			}
			all = append(all, i)
		}
	}
	return all
}

// weigh takes the tolls before and after an injection, and asks for its cause.
func (b bench) weigh(ctx context.Context, w wording, i *injected) (err error) {
	s, err := open(ctx, b.tare, i.at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	q := w.ask[0]
	if i.before, err = s.toll(ctx, q); err != nil {
		return err
	}
	for _, one := range w.inject {
		if _, err := s.typeAt(ctx, one); err != nil {
			return fmt.Errorf("inject: %w", err)
		}
	}
	switch there, err := s.bitten(ctx, w.bites); {
	case err != nil:
		return err
	case !there:
		return errors.New("the injection does not bite: the symptom is not there")
	}
	if i.after, err = s.toll(ctx, q); err != nil {
		return err
	}
	if i.after.value-i.after.half <= i.before.value+i.before.half {
		return errors.New("the injection makes nothing slower here: there is no share to name")
	}
	cell, err := s.cell(ctx, q)
	if err != nil {
		return err
	}
	if i.said, err = s.sentence(ctx, w, *i); err != nil {
		i.said.problem = oneLine(err.Error())
		return err
	}
	fmt.Fprintf(os.Stderr, "  %+v\n", i.said)
	n := slices.IndexFunc(cell.Findings, func(f result.Finding) bool { return f.ID == i.cause })
	if n < 0 {
		return fmt.Errorf("the cause was not named, but %v", result.Names(cell.Findings, func(f result.Finding) string { return f.ID }))
	}
	i.found = &cell.Findings[n]
	return nil
}

// sayAll asks about tolls that nobody injected.
func (b bench) sayAll(ctx context.Context) (all []sentence) {
	for _, n := range naturals() {
		if ctx.Err() != nil {
			return all
		}
		one, err := n.ask(ctx, b)
		if err != nil {
			one.problem = oneLine(err.Error())
		}
		fmt.Fprintf(os.Stderr, "%+v\n", one)
		all = append(all, one)
	}
	return all
}

// tollBlocks is in how many blocks a toll is measured.
const tollBlocks = "40"

// toll is that of the network.
func (s *stage) toll(ctx context.Context, q question) (toll, error) {
	cell, err := s.cell(ctx, q, "--blocks", tollBlocks)
	if err != nil {
		return toll{}, err
	}
	m := weigh.Headline(&cell)
	if m == nil || m.Toll == nil || m.Toll.Low == nil || m.Toll.High == nil {
		return toll{}, errors.New("the network has no toll with an interval")
	}
	return toll{m.Toll.Value, (*m.Toll.High - *m.Toll.Low) / 2}, nil
}

// cell is the network's cell in the answer to a question.
func (s *stage) cell(ctx context.Context, q question, flags ...string) (result.Cell, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	q.flags = append(slices.Clone(q.flags), flags...)
	out, err := s.call(ctx, q.argv(s)...)
	if err != nil {
		return result.Cell{}, err
	}
	res, err := result.Read(bytes.NewReader(out))
	if err != nil {
		return result.Cell{}, err
	}
	cell, there := result.First(res.Cells, func(c result.Cell) bool { return c.Network == s.at.network })
	if !there || cell.Status != result.StatusOK {
		return cell, fmt.Errorf("%s was not measured: %s", s.at.network, cell.Reason)
	}
	return cell, nil
}

// sharesSection is the table of all.
func sharesSection(all []injected, natural []sentence, o options) string {
	var b strings.Builder
	env := probe.Environment("/")
	near, joint, weighed := 0, 0, 0
	for _, i := range all {
		if i.found == nil {
			continue
		}
		weighed++
		switch {
		case i.near():
			near++
		case i.joint():
			joint++
		}
	}
	command := "go run ./bench/diagnosis -shares"
	if o.causes != "" {
		command += " -causes " + o.causes
	}
	fmt.Fprintf(&b, "%s\nWritten by `%s` on %s: Linux %s, %s, %d CPUs.\n\n", sharesTitle, command, time.Now().UTC().Format(time.DateOnly), env.Kernel, env.CPUModel, env.CPUs)
	b.WriteString(`How much of a toll an injection causes is known by the toll before it, each of a run of 40 blocks. Next to it is the
share that a user gets from tare run, which knows nothing of the lab before.

`)
	fmt.Fprintf(&b, "%s within %d points; of the others, the intervals of %d overlap.\n\n| cause | injection | network | toll before, %% | after, %% | injected share, %% | share named, %% | apart, points |\n|---|---|---|---:|---:|---:|---:|---:|\n", share(near, weighed), apartMost, joint)
	for _, i := range all {
		if i.found == nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | | %s | |\n", i.cause, i.wording, i.at.network, i.before, i.after, i.problem)
			continue
		}
		interval := ""
		if i.found.Low != nil && i.found.High != nil {
			interval = fmt.Sprintf(` \[%.1f, %.1f\]`, 100**i.found.Low, 100**i.found.High)
		}
		injected, half := i.share()
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %.1f%s | %+.1f |\n",
			i.cause, i.wording, i.at.network, i.before, i.after, toll{injected, half}, 100*i.found.Share, interval, i.apart())
	}
	b.WriteString(sentencesSection(sentencesOf(all, natural)))
	return b.String()
}

// sentencesOf are those of injections, and then those of natural tolls.
func sentencesOf(all []injected, natural []sentence) (said []sentence) {
	for _, i := range all {
		if i.said.plan != "" {
			said = append(said, i.said)
		}
	}
	return append(said, natural...)
}

// sharesIn is the section of the table in a page, from its heading to the next.
func sharesIn(page string) (before, section, after string) {
	before, rest, there := strings.Cut(page, sharesTitle)
	if !there {
		before, rest, there = strings.Cut(page, "## Clean labs\n")
		if there {
			rest = "## Clean labs\n" + rest
		}
		return before, "", rest
	}
	body, next, more := strings.Cut(rest, "\n## ")
	if more {
		after = "## " + next
	}
	return before, sharesTitle + body + "\n", after
}

// writeShares puts the table into a page that exists.
func writeShares(o options, all []injected, natural []sentence) error {
	section := sharesSection(all, natural, o)
	if o.output == "" {
		return nil
	}
	if o.output == "-" {
		_, err := io.WriteString(os.Stdout, section)
		return err
	}
	page, err := os.ReadFile(o.output)
	if err != nil {
		return err
	}
	before, _, after := sharesIn(string(page))
	return os.WriteFile(o.output, []byte(withSentences(before+section+"\n"+after, sentencesOf(all, natural))), 0o644)
}
