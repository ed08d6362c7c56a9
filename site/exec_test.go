package site_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

func TestLabUserExecPassesStatusAndText(t *testing.T) {
	l := build(t, "veth")
	for _, c := range []struct {
		line, text, want string
		status           int
	}{
		{"exit 0", "", "", 0},
		{"exit 7", "", "", 7},
		{"exit 255", "", "", 255},
		{"kill -KILL $$", "", "", 128 + 9},
		{"kill -TERM $$", "", "", 128 + 15},
		{"cat; echo end", "in\n", "in\nend\n", 0},
		{"read word; echo $word-$word", "a\n", "a-a\n", 0},
		{"echo $TARE_TEST", "", os.Getenv(labtest.Mark) + "\n", 0},
	} {
		if got, status := run(t, l, "h1/c1", c.text, c.line); got != c.want || status != c.status {
			t.Errorf("%q gives %q and status %d, want %q and %d", c.line, got, status, c.want, c.status)
		}
	}
}

func TestLabUserExecSaysWhatIsMissing(t *testing.T) {
	l := build(t, "veth")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for at, c := range map[string]struct{ program, want string }{
		"h1":    {"no-such-program", "start no-such-program in veth.h1"},
		"h9":    {"true", "tare lab show"},
		"h1/c2": {"true", "tare lab show"},
	} {
		_, err := l.Exec(t.Context(), at, []string{c.program}, null, null, null)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %s: %v, want %q", c.program, at, err, c.want)
		}
	}
}

func TestLabUserExecIsInterrupted(t *testing.T) {
	l := build(t, "veth")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	status, err := l.Exec(ctx, "h1", []string{"sleep", "100"}, null, null, null)
	if err != nil || status != 128+2 {
		t.Errorf("an interrupted sleep gives status %d, %v; want %d", status, err, 128+2)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the interrupt took %s", took)
	}
}

// A daemon forks twice, leaves its session and minds no signal that can be
// minded. It is there after its starter's end, and not after the lab's.
func TestLabUserDaemonDiesWithTheLab(t *testing.T) {
	l := build(t, "veth")
	before := len(labtest.Marked(t))
	_, status := run(t, l, "h1", "", `(setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 100; done' </dev/null >/dev/null 2>&1 &); exit 3`)
	if status != 3 {
		t.Errorf("the starter's status is %d, want 3", status)
	}
	if after := len(labtest.Marked(t)); after <= before {
		t.Errorf("%d processes with the daemon, %d without", after, before)
	}
	// noLeaks, which start asked for, finds it if it stays.
}
