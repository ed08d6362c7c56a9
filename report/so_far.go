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
	a := answer{matrix: matrixOf(groupsOf(res))}
	if len(a.rows) == 0 {
		return so, false
	}
	a.findOpen(res)
	a.findFailed(res)
	p := newPage(opts)
	heading := p.soFar(a.open, took)
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

// soFar counts what is decided.
func (w words) soFar(u undecided, took time.Duration) string {
	lack := ""
	if u.done < stats.MinBlocks {
		lack = w.say("so_far_few", "n", strconv.Itoa(stats.MinBlocks))
	}
	since := strconv.Itoa(int(took.Seconds())) + " s"
	if took >= 2*time.Minute {
		since = w.count("minute", int(took.Minutes()))
	}
	return w.say("so_far", "blocks", w.count("block", u.done), "time", since,
		"n", strconv.Itoa(u.of-u.tolls), "of", strconv.Itoa(u.of), "lack", lack)
}
