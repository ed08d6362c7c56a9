package site_test

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"

	"tare/site"
	"tare/test/labtest"
)

func execPassesStatusAndText(t *testing.T, l *site.Lab) {
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
		if got, status := run(t, l, "veth.h1/c1", c.text, c.line); got != c.want || status != c.status {
			t.Errorf("%q gives %q and status %d, want %q and %d", c.line, got, status, c.want, c.status)
		}
	}
}

func execSaysWhatIsMissing(t *testing.T, l *site.Lab) {
	null := openNull(t)
	for at, c := range map[string]struct{ program, want string }{
		"veth.h1":    {"no-such-program", "start no-such-program in veth.h1"},
		"veth.h9":    {"true", "tare lab show"},
		"veth.h1/c2": {"true", "tare lab show"},
	} {
		_, err := l.Exec(t.Context(), at, []string{c.program}, null, null, null)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %s: %v, want %q", c.program, at, err, c.want)
		}
	}
}

func execIsInterrupted(t *testing.T, l *site.Lab) {
	null := openNull(t)
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	defer writes.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if _, err := bufio.NewReader(reads).ReadString('\n'); err != nil {
			t.Error(err)
		}
	}()
	status, err := l.Exec(ctx, "veth.h1", []string{"sh", "-c", "echo begun; exec sleep 1000"}, null, writes, null)
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "status of an interrupted sleep", status, 128+2)
}

func openNull(t *testing.T) *os.File {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	return null
}
