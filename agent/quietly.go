package agent

import (
	"fmt"
	"sync"
	"time"
)

// mostLines is how many lines of a log a second has.
const mostLines = 20

// quietly leaves out lines of a log where there are too many, and counts them.
type quietly struct {
	mu    sync.Mutex
	since time.Time
	said  int
}

// say gives the lines that are to be written where a new one comes.
func (q *quietly) say(now time.Time, text string) (lines []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.since) >= time.Second {
		if left := q.said - mostLines; left > 0 {
			lines = append(lines, fmt.Sprintf("%d lines were left out", left))
		}
		q.since, q.said = now, 0
	}
	if q.said++; q.said <= mostLines {
		lines = append(lines, text)
	}
	return lines
}
