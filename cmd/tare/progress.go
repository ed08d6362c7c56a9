package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"tare/experiment"
	"tare/experiment/schedule"
	"tare/report"
	"tare/result"
)

// progress shows on standard error how far a run is: on a terminal one line that
// is overwritten, with what is decided so far above it; elsewhere a plain line from
// time to time.
type progress struct {
	out      io.Writer
	live     bool
	size     func() (columns, rows int) // of the terminal
	last     time.Time
	line     string   // that is overwritten
	above    []string // the lines above it, which are drawn anew with it
	checking bool
}

// liveStep and plainStep are the least time between two lines: so long that
// printing does not disturb a measurement.
const (
	liveStep  = 200 * time.Millisecond
	plainStep = 15 * time.Second
)

// soFarFrom is how long a run measures before it shows what is decided so far.
const soFarFrom = 15 * time.Second

func newProgress(out io.Writer) *progress {
	return &progress{out: out, live: isTerminal(out), size: func() (columns, rows int) { return terminalSize(out) }}
}

// The size of a terminal that does not give it.
const (
	usualColumns = 80
	usualRows    = 24
)

// terminalSize is the size of a terminal.
func terminalSize(w io.Writer) (columns, rows int) {
	if file, is := w.(*os.File); is {
		columns, rows, _ = term.GetSize(int(file.Fd())) // without one both are 0
	}
	return cmp.Or(max(columns, 0), usualColumns), cmp.Or(max(rows, 0), usualRows)
}

func (p *progress) show(now experiment.Progress) {
	step := plainStep
	if p.live {
		step = liveStep
	}
	if now.Checking && !p.checking {
		p.checking = true
		p.print("checking that every path carries traffic")
		return
	}
	if now.Starting > 0 {
		p.print(fmt.Sprintf("starting %d servers", now.Starting))
		return
	}
	if now.Pause > liveStep {
		p.print(fmt.Sprintf("pausing for %s, to stay within --max-rate", now.Pause.Round(100*time.Millisecond)))
		return
	}
	if now.Checking || time.Since(p.last) < step {
		return
	}
	p.print(howFar(now))
}

// howFar is how far a run is. One that ends once all is decided has no known end.
func howFar(now experiment.Progress) string {
	left := now.Left.Round(time.Second)
	text := fmt.Sprintf("block %d of %d, run %d of %d", min(now.Block+1, now.Blocks), now.Blocks, now.Done, now.Total)
	if now.Blocks == 0 {
		text = fmt.Sprintf("block %d, run %d", now.Block+1, now.Done)
	}
	switch {
	case left == 0: // it is not known yet
		return text
	case now.Blocks == 0:
		return fmt.Sprintf("%s, at most %s left", text, left)
	}
	return fmt.Sprintf("%s, %s left", text, left)
}

// print writes a line. An error of writing is ignored: progress is not a result.
func (p *progress) print(text string) {
	p.last = time.Now()
	if !p.live {
		fmt.Fprintln(p.out, "tare: "+text)
		return
	}
	columns, _ := p.size()
	if letters := []rune(text); len(letters) >= columns { // a second row would not be overwritten
		text = string(letters[:columns-1])
	}
	p.line = text
	fmt.Fprint(p.out, "\r\x1b[K"+text)
}

// say writes a line that stays.
func (p *progress) say(text string) {
	if !p.live {
		p.print(text)
		return
	}
	p.last, p.line = time.Now(), ""
	p.draw(text+"\n", p.above)
}

// soFar shows of one run, between its blocks, what is decided so far: on a terminal
// in place, after each block; elsewhere once, as soon as there can be a verdict.
func (p *progress) soFar(lang language) func(int, time.Duration, func() *result.Result) {
	shown := false
	return func(blocks int, took time.Duration, weighed func() *result.Result) {
		if took < soFarFrom || !p.live && (shown || blocks < schedule.LeastBlocks) {
			return
		}
		opts := lang.shownOn(p.out)
		columns, rows := p.size()
		if p.live {
			opts.Width = columns
		}
		so, ok := report.SoFar(weighed(), took, opts)
		if !ok {
			return
		}
		shown = true
		lines := append([]string{so.Heading}, so.Matrix...)
		if !p.live {
			fmt.Fprintln(p.out, strings.Join(lines, "\n"))
			return
		}
		if len(lines) >= rows { // the line of progress is below
			lines = lines[:1]
		}
		p.draw("", lines)
	}
}

// draw writes in one piece, in the place of what is shown: a text that stays, and lines
// above that of progress.
func (p *progress) draw(stays string, above []string) {
	var text strings.Builder
	text.WriteString("\r")
	if len(p.above) > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", len(p.above))
	}
	text.WriteString("\x1b[J" + stays)
	for _, line := range above {
		text.WriteString(line + "\n")
	}
	text.WriteString(p.line)
	p.above = above
	fmt.Fprint(p.out, text.String())
}

// end clears what is overwritten: more may be written below.
func (p *progress) end() {
	if p.live && (p.line != "" || len(p.above) > 0) {
		p.line = ""
		p.draw("", nil)
	}
}
