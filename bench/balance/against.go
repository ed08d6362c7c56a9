package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"tare/result"
	"tare/stats"
)

// shorter is by how much less time the newer tare may take for as many verdicts.
const shorter = 3

// rival is one of two builds of tare, and the time that it is given.
type rival struct {
	tare   string
	within time.Duration
	of     []figures
}

// against has an older tare weigh a plan in a time, and the newer one in a third of it and in all of it, in turn, and
// writes how many verdicts each has.
func against(ctx context.Context, output, old, tare string, rounds int, within time.Duration, flags []string) error {
	rivals := []*rival{{tare: old, within: within}, {tare: tare, within: within / shorter}, {tare: tare, within: within}}
	for round := range rounds {
		for _, n := range rand.Perm(len(rivals)) {
			r := rivals[n]
			fmt.Fprintf(os.Stderr, "balance: round %d of %d, %s in %s\n", round+1, rounds, r.tare, r.within)
			res, err := weighed(ctx, r.tare, result.DesignSlots, append([]string{"--max-time", r.within.String()}, flags...))
			if err != nil {
				return err
			}
			r.of = append(r.of, figuresOf(res, ""))
		}
	}
	var to strings.Builder
	fmt.Fprintf(&to, "%s\n`go run ./bench/balance -against OLD -rounds %d -within %s -- %s` on %s: both builds weighed the plan in turn.\n\n",
		againstTitle, rounds, within, strings.Join(flags, " "), time.Now().UTC().Format(time.DateOnly))
	fmt.Fprint(&to, "| | took | verdicts | tolls beyond 5 % with one | half-width of throughput, median | of round trips |\n|---|---:|---:|---:|---:|---:|\n")
	for n, name := range []string{"the older tare", "this one, in a third", "this one, in as much"} {
		sum := joined(rivals[n].of)
		fmt.Fprintf(&to, "| %s | %.1f s | %d of %d | %d of %d | %.1f %% | %.1f %% |\n", name, sum.took.Seconds(), sum.decided, sum.all,
			sum.known, sum.beyond, 100*stats.Median(sum.tolls["throughput"]), 100*stats.Median(sum.tolls["rtt_p50"]))
	}
	if output == "-" {
		_, err := io.WriteString(os.Stdout, to.String())
		return err
	}
	page, err := os.ReadFile(output)
	if err != nil {
		return err
	}
	before, _ := splitAgainst(string(page))
	return os.WriteFile(output, []byte(before+"\n"+to.String()), 0o644)
}

// againstTitle heads the section of the page that an older tare was held against: its last.
const againstTitle = "## Against an older build\n"

// splitAgainst is a page without that section, and the section; empty: it has none.
func splitAgainst(page string) (before, section string) {
	before, rest, there := strings.Cut(page, "\n"+againstTitle)
	if there {
		section = "\n" + againstTitle + rest
	}
	return before, section
}
