package agent

import (
	"fmt"
	"sync"
	"time"
)

// mostLines is how many lines of a log a second has.
const mostLines = 20

// boundedLog leaves out lines of a log where there are too many, and counts them.
type boundedLog struct {
	mu    sync.Mutex
	since time.Time
	said  int
}

// say gives the lines that are to be written where a new one comes.
func (b *boundedLog) say(now time.Time, text string) (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.since) >= time.Second {
		if left := b.said - mostLines; left > 0 {
			lines = append(lines, fmt.Sprintf("%d lines were left out", left))
		}
		b.since, b.said = now, 0
	}
	if b.said++; b.said <= mostLines {
		lines = append(lines, text)
	}
	return lines
}
