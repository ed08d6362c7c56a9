// Command balance measures how finely tare weighs: it has the same plans weighed in
// slots and in windows, in turn, and compares the widths of the intervals.
//
//	make build; go run ./bench/balance [-rounds 2] [-o docs/resolution.md] [-- --networks host,vxlan]
//	make build; go run ./bench/balance -against OLD [-rounds 5] [-within 60s] [-- --networks host,vxlan]
//
// With -against it writes how many verdicts an older tare has in a time, and this one in a third of it, as the
// page's last section.
// What follows -- goes to tare run, as the only plan; without it those of plans.go are
// weighed, and then those of truth.go, which show whether what is weighed is right. The
// order of the designs is drawn anew in each round, so that a machine that gets noisier
// disturbs both. Run it on a machine that does nothing else, as root, from the
// repository's root.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"tare/result"
)

func main() {
	tare := flag.String("tare", "dist/tare", "the tare to weigh with")
	rounds := flag.Int("rounds", 2, "how often each design weighs the plan")
	output := flag.String("o", "docs/resolution.md", "file to write; - for standard output")
	older := flag.String("against", "", "an older tare that this one is held against")
	within := flag.Duration("within", time.Minute, "how long the older tare may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if *older != "" {
		err = against(ctx, *output, *older, *tare, *rounds, *within, flag.Args())
	} else {
		err = execute(ctx, *tare, *rounds, *output, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench balance:", err)
		os.Exit(1)
	}
}

// execute weighs and writes the page.
func execute(ctx context.Context, tare string, rounds int, output string, flags []string) error {
	if rounds < 1 {
		return fmt.Errorf("%d rounds: it must be one at least", rounds)
	}
	p := page{flags: flags, rounds: rounds}
	all := plans()
	if len(flags) > 0 {
		all = []plan{{title: "The plan", flags: flags}}
	}
	for _, one := range all {
		s := section{plan: one, of: map[string][]figures{}}
		for round := range rounds {
			designs := []string{result.DesignSlots, result.DesignWindows}
			rand.Shuffle(len(designs), func(i, j int) { designs[i], designs[j] = designs[j], designs[i] })
			for _, design := range designs {
				fmt.Fprintf(os.Stderr, "balance: %s: round %d of %d, %s\n", one.title, round+1, rounds, design)
				res, err := weighed(ctx, tare, design, one.flags)
				if err != nil {
					return err
				}
				p.environment = res.Environment
				s.of[design] = append(s.of[design], figuresOf(res, one.added))
			}
		}
		p.sections = append(p.sections, s)
	}
	if len(flags) == 0 {
		found, err := find(ctx, tare)
		if err != nil {
			return err
		}
		p.truth = &found
	}
	if output == "-" {
		_, err := io.WriteString(os.Stdout, p.render())
		return err
	}
	old, err := os.ReadFile(output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, section := splitAgainst(string(old))
	return os.WriteFile(output, []byte(p.render()+section), 0o644)
}

// weighed is the result of one run of the plan.
func weighed(ctx context.Context, tare, design string, plan []string) (*result.Result, error) {
	cmd := exec.CommandContext(ctx, tare, append([]string{"run", "--design", design, "--json"}, plan...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its lab
	var printed, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &errs
	if err := cmd.Run(); err != nil {
		if exit := new(exec.ExitError); errors.As(err, &exit) && ctx.Err() == nil {
			return nil, fmt.Errorf("weigh in %s: %w: %s", design, err, errs.String())
		}
		return nil, fmt.Errorf("weigh in %s: %w: make build, or name another tare with -tare", design, errors.Join(err, ctx.Err()))
	}
	res, err := result.Read(&printed)
	if err != nil {
		return nil, fmt.Errorf("read what was weighed in %s: %w", design, err)
	}
	return res, nil
}
