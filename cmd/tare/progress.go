package main

import (
	"fmt"
	"io"
	"time"

	"tare/experiment"
)

// progress tells on standard error how far a run is: one line that is written
// over on a terminal, a plain line now and then elsewhere.
type progress struct {
	out      io.Writer
	live     bool
	last     time.Time
	written  bool
	checking bool
}

// liveStep and plainStep are how often it speaks: seldom enough to cost
// nothing that a measurement would show.
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
		p.say("checking that every path carries traffic")
		return
	}
	if now.Starting > 0 {
		p.say(fmt.Sprintf("starting %d servers", now.Starting))
		return
	}
	if now.Checking || time.Since(p.last) < step {
		return
	}
	p.say(fmt.Sprintf("block %d of %d, run %d of %d, %s left", min(now.Block+1, now.Blocks), now.Blocks, now.Done, now.Total, now.Left.Round(time.Second)))
}

// say writes a line. One that can't be written is nobody's loss.
func (p *progress) say(text string) {
	p.last = time.Now()
	if p.live {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, "tare: "+text)
	}
	p.written = true
}

// end clears the line.
func (p *progress) end() {
	if p.live && p.written {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
