package main

import (
	"cmp"
	"encoding/json"
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
// time to time, or for each step an object for programs.
type progress struct {
	out    io.Writer
	live   bool
	manner *manner
	size   func() (columns, rows int) // of the terminal
	shown  time.Time                  // when it wrote last
	last   step
	line   string   // that is overwritten
	above  []string // the lines above it, which are drawn anew with it
}

// step is a line of --progress json.
type step struct {
	Event  string    `json:"event"` // note, block or error
	Time   time.Time `json:"time"`
	Phase  string    `json:"phase,omitempty"`
	Block  int       `json:"block,omitempty"` // from 1 on
	Blocks int       `json:"blocks,omitempty"`
	Left   float64   `json:"seconds_left,omitempty"`
	Text   string    `json:"text"`
}

// The phases of a run.
const (
	preparing = "preparing"
	starting  = "starting"
	checks    = "checking"
	measuring = "measuring"
	pausing   = "pausing"
)

// liveStep and plainStep are the least time between two lines: so long that
// printing does not disturb a measurement.
const (
	liveStep  = 200 * time.Millisecond
	plainStep = 15 * time.Second
)

// soFarFrom is how long a run measures before it shows what is decided so far.
const soFarFrom = 15 * time.Second

func newProgress(s streams) *progress {
	p := &progress{out: s.err, manner: s.manner, last: step{Phase: preparing}, size: func() (columns, rows int) { return terminalSize(s.err) }}
	if s.quiet {
		p.out = io.Discard
	}
	p.live = s.progress.is("auto") && s.verbose != onScreen && obeys(p.out)
	return p
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
	next := stepOf(now)
	pace := plainStep
	if p.live {
		pace = liveStep
	}
	due, news := time.Since(p.shown) >= pace, next.Phase != p.last.Phase || next.Block != p.last.Block
	switch next.Phase {
	case checks:
		due = news
	case starting, pausing:
		due = true
	}
	p.last = next
	if news {
		p.manner.record(next.Text)
	}
	if due || news && (p.manner.verbose == onScreen || p.manner.progress.is("json")) {
		p.write(next)
	}
}

// stepOf is what a run does now.
func stepOf(now experiment.Progress) step {
	s := step{Event: "note", Time: time.Now()}
	switch {
	case now.Checking:
		s.Phase, s.Text = checks, "checking that every path carries traffic"
	case now.Starting > 0:
		s.Phase, s.Text = starting, fmt.Sprintf("starting %d servers", now.Starting)
	case now.Pause > liveStep:
		s.Phase, s.Text = pausing, fmt.Sprintf("pausing for %s, to stay within --max-rate", now.Pause.Round(100*time.Millisecond))
	default:
		s.Event, s.Phase, s.Text = "block", measuring, howFar(now)
		s.Block, s.Blocks, s.Left = now.Block+1, now.Blocks, now.Left.Seconds()
		if s.Blocks > 0 {
			s.Block = min(s.Block, s.Blocks)
		}
	}
	return s
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

// print writes a line.
func (p *progress) print(text string) {
	p.manner.record(text)
	p.write(step{Event: "note", Time: time.Now(), Phase: p.last.Phase, Text: text})
}

// write writes a step. An error of writing is ignored: progress is not a result.
func (p *progress) write(s step) {
	p.shown = time.Now()
	switch text := s.Text; {
	case p.manner.progress.is("json"):
		writeStep(p.out, s)
	case p.manner.verbose == onScreen:
		fmt.Fprintf(p.out, "tare: %s %s\n", s.Time.Format(time.TimeOnly), text)
	case !p.live:
		fmt.Fprintln(p.out, "tare: "+text)
	default:
		columns, _ := p.size()
		if letters := []rune(text); len(letters) >= columns { // a second row would not be overwritten
			text = string(letters[:columns-1])
		}
		p.line = text
		fmt.Fprint(p.out, "\r\x1b[K"+text)
	}
}

// writeStep writes a step for programs, in a line.
func writeStep(w io.Writer, s step) {
	_ = json.NewEncoder(w).Encode(s) // progress is not a result
}

// say writes a line that stays.
func (p *progress) say(text string) {
	if !p.live {
		p.print(text)
		return
	}
	p.manner.record(text)
	p.shown, p.line = time.Now(), ""
	p.draw(text+"\n", p.above)
}

// soFar shows of one run, between its blocks, what is decided so far: on a terminal
// in place, after each block; elsewhere once, as soon as there can be a verdict.
func (p *progress) soFar(lang language) func(int, time.Duration, func() *result.Result) {
	shown := false
	return func(blocks int, took time.Duration, weighed func() *result.Result) {
		if took < soFarFrom || p.manner.quiet || p.manner.progress.is("json") || !p.live && (shown || blocks < schedule.LeastBlocks) {
			return
		}
		opts := lang.shownOn(p.out, p.manner)
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
