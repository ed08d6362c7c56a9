package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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
func against(ctx context.Context, to io.Writer, old, tare string, rounds int, within time.Duration, flags []string) error {
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
	fmt.Fprint(to, "| | took | verdicts | tolls beyond 5 % with one | half-width of throughput, median | of round trips |\n|---|---:|---:|---:|---:|---:|\n")
	for n, name := range []string{"the older tare", "this one, in a third", "this one, in as much"} {
		sum := joined(rivals[n].of)
		fmt.Fprintf(to, "| %s | %.1f s | %d of %d | %d of %d | %.1f %% | %.1f %% |\n", name, sum.took.Seconds(), sum.decided, sum.all,
			sum.known, sum.beyond, 100*stats.Median(sum.tolls["throughput"]), 100*stats.Median(sum.tolls["rtt_p50"]))
	}
	return nil
}
