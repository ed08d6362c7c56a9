package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tare/experiment"
	"tare/experiment/schedule"
	"tare/report"
	"tare/result"
	"tare/test/labtest"
)

// screen is a terminal: what is written to it, as its reader sees it.
type screen struct {
	columns, rows int
	lines         []string // those that have left it at the top included
	at, column    int
}

func (s *screen) Write(text []byte) (int, error) {
	rest := string(text)
	for rest != "" {
		var lines int
		switch n, _ := fmt.Sscanf(rest, "\x1b[%dA", &lines); {
		case n == 1:
			s.at = max(s.at-lines, len(s.lines)-s.rows, 0)
			rest = rest[strings.Index(rest, "A")+1:]
		case strings.HasPrefix(rest, "\x1b[J"):
			s.erase()
			s.lines, rest = s.lines[:s.at+1], rest[3:]
		case strings.HasPrefix(rest, "\x1b[K"):
			s.erase()
			rest = rest[3:]
		default:
			letter := []rune(rest)[0]
			s.put(letter)
			rest = rest[len(string(letter)):]
		}
	}
	return len(text), nil
}

// line is that of the cursor.
func (s *screen) line() *string {
	for len(s.lines) <= s.at {
		s.lines = append(s.lines, "")
	}
	return &s.lines[s.at]
}

// erase erases the line from the cursor on.
func (s *screen) erase() {
	line := s.line()
	*line = string([]rune(*line)[:min(s.column, len([]rune(*line)))])
}

func (s *screen) put(letter rune) {
	switch {
	case letter == '\r':
		s.column = 0
		return
	case letter == '\n':
		s.at, s.column = s.at+1, 0
		s.line()
		return
	case s.column == s.columns:
		s.at, s.column = s.at+1, 0
	}
	line := s.line()
	letters := []rune(*line)
	for len(letters) <= s.column {
		letters = append(letters, ' ')
	}
	letters[s.column] = letter
	*line, s.column = string(letters), s.column+1
}

func (s *screen) text() string { return strings.Join(s.lines, "\n") }

// on is the progress that a screen shows.
func on(s *screen) *progress {
	return &progress{out: s, live: true, manner: &manner{}, size: func() (columns, rows int) { return s.columns, s.rows }}
}

// measured is a result with a matrix of so many lines at 80 columns.
func measured(t *testing.T) (res *result.Result, lines int) {
	t.Helper()
	res, err := result.ReadFile("../../report/testdata/quick.json")
	if err != nil {
		t.Fatal(err)
	}
	so, ok := report.SoFar(res, soFarFrom, report.Options{Width: 80})
	if !ok {
		t.Fatal("it has no matrix")
	}
	return res, len(so.Matrix)
}

// unasked weighs nothing: nobody may ask for it.
func unasked(t *testing.T) func() *result.Result {
	return func() *result.Result {
		t.Error("weighed, though nothing is shown")
		return nil
	}
}

// On a terminal the matrix is above the line of progress from 15 s on. Each block draws it anew in
// its place, what is said stays above it, and in the end it has gone.
func TestSoFarIsDrawnInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, lines := measured(t)
		s := &screen{columns: 80, rows: 24}
		p := on(s)
		soFar := p.soFar(report.English)
		p.say("reaching a")
		<-time.After(liveStep)
		p.show(experiment.Progress{Block: 3, Done: 90})
		soFar(4, soFarFrom-1, unasked(t))
		labtest.Equal(t, "before 15 s", s.text(), "reaching a\nblock 4, run 90")

		weighed := func() *result.Result { return res }
		soFar(4, soFarFrom, weighed)
		first := s.text()
		labtest.Contains(t, "at 15 s", first, "reaching a\nSo far, after 10 blocks (15 s): 32 of 34 decided.\n")
		labtest.Contains(t, "at 15 s", first, "\n  vxlan    +15 +1.7   +33 +4.6")
		labtest.Equal(t, "lines at 15 s", len(s.lines), 1+1+lines+1)

		<-time.After(liveStep)
		p.show(experiment.Progress{Block: 4, Done: 120, Left: 20 * time.Second})
		labtest.Equal(t, "with the next line", s.text(), strings.Replace(first, "block 4, run 90", "block 5, run 120, at most 20s left", 1))
		soFar(5, soFarFrom+4*time.Second, weighed)
		labtest.Equal(t, "a block later", s.text(), strings.NewReplacer("15 s", "19 s", "block 4, run 90", "block 5, run 120, at most 20s left").Replace(first))

		p.say("h1 has gone")
		labtest.Contains(t, "below what was said", s.text(), "reaching a\nh1 has gone\nSo far, after 10 blocks (19 s)")
		labtest.Equal(t, "lines", len(s.lines), 2+1+lines+1)
		p.print("measuring besides what divides the tolls")
		labtest.Equal(t, "last line", s.lines[len(s.lines)-1], "measuring besides what divides the tolls")
		p.end()
		labtest.Equal(t, "in the end", s.text(), "reaching a\nh1 has gone\n")
		p.end()
		labtest.Equal(t, "ended twice", s.text(), "reaching a\nh1 has gone\n")
	})
}

// What is lower or narrower than the matrix has its heading alone.
func TestSoFarFitsItsTerminal(t *testing.T) {
	res, lines := measured(t)
	for _, c := range []struct{ columns, rows, lines int }{
		{80, 1 + lines + 1, 1 + lines + 1}, {80, 1 + lines, 2}, {60, 50, 2}, {20, 50, 2},
	} {
		s := &screen{columns: c.columns, rows: c.rows}
		p := on(s)
		for range 3 {
			p.print("block 5, run 120, at most 20 s left")
			p.soFar(report.English)(5, soFarFrom, func() *result.Result { return res })
		}
		at := fmt.Sprintf("%d columns and %d rows", c.columns, c.rows)
		labtest.Equal(t, at+": lines", len(s.lines), c.lines)
		labtest.Contains(t, at, s.lines[0], "So far, after 10 b")
		p.end()
		labtest.Equal(t, at+": in the end", s.text(), "")
	}
}

// Where standard error is no terminal, the matrix is there once, without anything that a
// terminal would obey: after 15 s, and when there can be a verdict.
func TestSoFarIsPrintedOnceElsewhere(t *testing.T) {
	res, lines := measured(t)
	var out bytes.Buffer
	p := newProgress(streams{err: &out, manner: &manner{}})
	soFar := p.soFar(report.English)
	soFar(schedule.LeastBlocks, soFarFrom-1, unasked(t))
	soFar(schedule.LeastBlocks-1, soFarFrom, unasked(t))
	labtest.Equal(t, "too early", out.String(), "")
	soFar(schedule.LeastBlocks, soFarFrom, func() *result.Result { return res })
	soFar(schedule.LeastBlocks+1, soFarFrom+time.Second, unasked(t))
	p.end()
	labtest.Contains(t, "printed", out.String(), "So far, after 10 blocks (15 s): 32 of 34 decided.\n")
	labtest.Contains(t, "printed", out.String(), "\n  vxlan    +15 +1.7   +33 +4.6")
	labtest.Equal(t, "lines", strings.Count(out.String(), "\n"), 1+lines)
	labtest.Equal(t, "escapes", strings.ContainsAny(out.String(), "\x1b\r"), false)
}

func TestSoFarWithoutTollsIsNothing(t *testing.T) {
	s := &screen{columns: 80, rows: 24}
	on(s).soFar(report.English)(9, time.Minute, func() *result.Result { return &result.Result{} })
	labtest.Equal(t, "shown", s.text(), "")
}

// A run that ends once all is decided has no number of blocks beforehand.
func TestHowFar(t *testing.T) {
	for want, now := range map[string]experiment.Progress{
		"block 3 of 10, run 85 of 400":            {Block: 2, Blocks: 10, Done: 85, Total: 400},
		"block 10 of 10, run 400 of 400":          {Block: 10, Blocks: 10, Done: 400, Total: 400},
		"block 3 of 10, run 85 of 400, 1m2s left": {Block: 2, Blocks: 10, Done: 85, Total: 400, Left: 62 * time.Second},
		"block 9, run 312":                        {Block: 8, Done: 312},
		"block 9, run 312, at most 12s left":      {Block: 8, Done: 312, Left: 12 * time.Second},
	} {
		labtest.Equal(t, fmt.Sprintf("%+v", now), howFar(now), want)
	}
}

// Programs get each step and each block once, and what else there is from time to time.
func TestProgressForPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &manner{progress: word{"json"}}
		p := newProgress(streams{err: &out, manner: m})
		<-time.After(time.Second)
		for _, now := range []experiment.Progress{
			{Starting: 2}, {Checking: true}, {Checking: true}, {Blocks: 9, Total: 90}, {Blocks: 9, Done: 5, Total: 90},
			{Block: 1, Blocks: 9, Done: 10, Total: 90, Left: 8 * time.Second}, {Block: 1, Blocks: 9, Done: 11, Total: 90, Left: 7 * time.Second},
		} {
			p.show(now)
		}
		p.soFar(report.English)(9, time.Minute, unasked(t))
		p.say("h1 has gone")
		p.end()
		const from = `"time":"2000-01-01T00:00:01Z","phase":`
		labtest.Equal(t, "written", strings.ReplaceAll(out.String(), `"time":"`+time.Now().Format(time.RFC3339)+`","phase":`, from), `{"event":"note",`+from+`"starting","text":"starting 2 servers"}
{"event":"note",`+from+`"checking","text":"checking that every path carries traffic"}
{"event":"block",`+from+`"measuring","block":1,"blocks":9,"text":"block 1 of 9, run 0 of 90"}
{"event":"block",`+from+`"measuring","block":2,"blocks":9,"seconds_left":8,"text":"block 2 of 9, run 10 of 90, 8s left"}
{"event":"note",`+from+`"measuring","text":"h1 has gone"}
`)
	})
}
