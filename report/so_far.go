package report

import (
	"strconv"
	"strings"
	"time"

	"tare/result"
	"tare/stats"
)

// Interim is what is known of a run that goes on, as lines of a terminal.
type Interim struct {
	Heading string   // how much of it is decided, in one line
	Matrix  []string // that of the answer; nil: the terminal is narrower than any report
}

// SoFar is what is known of a run after some of its blocks, which took so long. ok is
// false where nothing in it has a toll.
func SoFar(res *result.Result, took time.Duration, opts Options) (so Interim, ok bool) {
	a := answer{matrix: matrixOf(res.Plan, groupsOf(res))}
	if len(a.rows) == 0 {
		return so, false
	}
	a.findOpen(res)
	a.findFailed(res)
	p := newPage(opts)
	heading := p.soFar(a, took)
	if opts.Width > 0 {
		heading = clip(heading, opts.Width)
	}
	so.Heading = p.paint(heading, bold)
	if opts.Width > 0 && opts.Width < minWidth {
		return so, true
	}
	p.print(p.matrix(a.matrix))
	p.item("  ", p.marksWith(a, p.say("so_far_dot")))
	so.Matrix = strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
	return so, true
}

// soFar counts what is decided, of all that the matrix has: what has no toll yet, since too many
// of its slots were late, may have one.
func (w words) soFar(a answer, took time.Duration) string {
	u, lack, all := a.open, "", 0
	for _, r := range a.rows {
		for _, f := range r.fields {
			all += len(f.measured())
		}
	}
	if u.done < stats.MinBlocks {
		lack = w.say("so_far_few", "n", strconv.Itoa(stats.MinBlocks))
	}
	since := strconv.Itoa(int(took.Seconds())) + " s"
	if took >= 2*time.Minute {
		since = w.count("minute", int(took.Minutes()))
	}
	return w.say("so_far", "blocks", w.count("block", u.done), "time", since,
		"n", strconv.Itoa(u.of-u.tolls), "of", strconv.Itoa(all), "lack", lack)
}
