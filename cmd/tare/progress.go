package main

import (
	"fmt"
	"io"
	"time"

	"tare/experiment"
)

// progress shows on standard error how far a run is: on a terminal one line that
// is overwritten, elsewhere a plain line from time to time.
type progress struct {
	out      io.Writer
	live     bool
	last     time.Time
	written  bool
	checking bool
}

// liveStep and plainStep are the least time between two lines: so long that
// printing does not disturb a measurement.
const (
	liveStep  = 200 * time.Millisecond
	plainStep = 15 * time.Second
)

func newProgress(out io.Writer) *progress {
	return &progress{out: out, live: isTerminal(out)}
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
	text := fmt.Sprintf("block %d of %d, run %d of %d", min(now.Block+1, now.Blocks), now.Blocks, now.Done, now.Total)
	if now.Left > 0 { // else it is not known yet
		text += fmt.Sprintf(", %s left", now.Left.Round(time.Second))
	}
	p.print(text)
}

// print writes a line. An error of writing is ignored: progress is not a result.
func (p *progress) print(text string) {
	p.last = time.Now()
	if p.live {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, "tare: "+text)
	}
	p.written = true
}

// say writes a line that stays.
func (p *progress) say(text string) {
	p.print(text)
	if p.live {
		fmt.Fprintln(p.out)
		p.written = false
	}
}

// end clears the line.
func (p *progress) end() {
	if p.live && p.written {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
