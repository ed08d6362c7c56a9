package diagnosis

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"

	"tare/bench/harness"
	"tare/result"
)

//go:embed unusual.yaml
var unusualText string

// unusual is what unusual.yaml holds: it documents the fields.
type unusual struct {
	On     []spot
	Things []wording
}

// mostThings is how many unusual things a lab has at most.
const mostThings = 3

// drawn are the things of one lab of many, the same each time: the network takes turns.
func (u unusual) drawn(n int) (at spot, things []wording) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for _, thing := range random.Perm(len(u.Things))[:n/len(u.On)%(mostThings+1)] {
		things = append(things, u.Things[thing])
	}
	return u.On[n%len(u.On)], things
}

// harmless asks the doctor about labs with unusual things in them, and writes what it names.
func (b bench) harmless(ctx context.Context, labs int, o options, out io.Writer) error {
	var u unusual
	if err := harness.Data(unusualText, &u); err != nil {
		return fmt.Errorf("read unusual.yaml: %w", err)
	}
	u.On = slices.DeleteFunc(u.On, func(at spot) bool { return !o.picks(at.network()) })
	u.Things = slices.DeleteFunc(u.Things, func(w wording) bool { return o.wording != "" && w.Name != o.wording })
	if len(u.On) == 0 || len(u.Things) < mostThings && o.wording == "" {
		return errors.New("choose other networks: unusual.yaml lists those that there are")
	}
	asked, alarms := 0, 0
	for n := 0; n < labs && ctx.Err() == nil; n++ {
		at, things := u.drawn(n)
		found, err := b.foundIn(ctx, at, things)
		name := fmt.Sprintf("%d: %s: %s", n, at, strings.Join(result.Names(things, func(w wording) string { return w.Name }), ", "))
		if err != nil {
			fmt.Fprintf(out, "%s: not asked: %v\n", name, err)
			continue
		}
		if asked++; len(found) > 0 {
			alarms++
			fmt.Fprintln(out, name)
		}
		for _, f := range found {
			fmt.Fprintf(out, "  %s: %s\n", f.ID, f.Cause)
		}
	}
	fmt.Fprintf(out, "%d of %d labs without a fault had a finding\n", alarms, asked)
	if alarms > 0 || asked < labs {
		return fmt.Errorf("%d false alarms, and %d of %d labs were not asked about: see above", alarms, labs-asked, labs)
	}
	return nil
}

// foundIn is what the doctor finds in a lab with some things in it.
func (b bench) foundIn(ctx context.Context, at spot, things []wording) (found []result.Finding, err error) {
	s, err := open(ctx, b.tare, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, thing := range things {
		for _, one := range thing.Inject {
			if _, err := s.typeAt(ctx, one); err != nil {
				return nil, fmt.Errorf("%s: %w", thing.Name, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	out, failed := s.tare.Call(ctx, "", doctorOfAll.argv(s)...)
	if failed != nil && !errors.As(failed, new(*exec.ExitError)) {
		return nil, failed
	}
	var answer struct{ Findings []result.Finding }
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("read what the doctor found: %w", errors.Join(err, failed))
	}
	return answer.Findings, nil
}
