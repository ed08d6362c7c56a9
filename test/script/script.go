// Package script is what testscripts of the command line share: commands beside
// testscript's own, and a wall around what must build nothing.
package script

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands are those that scripts have beside testscript's own.
func Commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"status": status, "width": width, "lines": lines,
	}
}

// Folder makes a folder, for as long as the test runs, that every user may enter and write
// to: t.TempDir's is root's alone.
func Folder(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("", "tare-scripts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	return root
}

// Covered is the GOCOVERDIR of what a test starts behind the wall: a folder that every user
// may write to, whose files go to the test's own, which is root's. Without -cover it is "".
func Covered(t *testing.T) string {
	t.Helper()
	into := os.Getenv("GOCOVERDIR")
	if into == "" {
		return ""
	}
	from := Folder(t)
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(from, "*"))
		if err != nil {
			t.Error(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(into, filepath.Base(file)), text, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	return from
}

// status STATUS COMMAND... runs a command and checks its exit status. Words
// are split at spaces, so that variables can hold several; what it writes can
// be checked with stdout and stderr.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	words := strings.Fields(strings.Join(args[1:], " "))
	err = ts.Exec(words[0], words[1:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(words, " "), got, want)
	}
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// width COLUMNS FILE... checks that no line is longer.
func width(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: width COLUMNS FILE...")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, file := range args[1:] {
		for _, line := range strings.Split(ts.ReadFile(file), "\n") {
			line = colours.ReplaceAllString(line, "")
			if n := utf8.RuneCountInString(line); n > most {
				ts.Fatalf("%s: a line of %d columns: %s", file, n, line)
			}
		}
	}
}

// lines COUNT FILE checks how many lines a file has.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines COUNT FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[1]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, want %d:\n%s", args[1], got, want, ts.ReadFile(args[1]))
	}
}
