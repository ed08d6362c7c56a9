package harness

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// TestPagesAreWrittenWhole: what an older page held is gone, whatever it was. A page that kept what
// was below a mark once came to hold two older runs as if they were written by hand.
func TestPagesAreWrittenWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	const older = "# An older page\n\n<!-- Below this line by hand. -->\n\nOld figures.\n\n<!-- Below this line by hand. -->\n"
	if err := os.WriteFile(file, []byte(older), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, "page", "# {{.}}\n", "Figures"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "page", string(text), "# Figures\n")
}

// TestPagesOfToday: a page without another name is that of its day, of a repository.
func TestPagesOfToday(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("", "page", "text\n", nil); err == nil {
		t.Error("a page was written outside of the repository")
	}
	if err := os.Mkdir("bench", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write("", "page", "text\n", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("bench/results", today(), "page.md")); err != nil {
		t.Error(err)
	}
}

// TestTurns: each takes its turn once in every round, and an error ends them.
func TestTurns(t *testing.T) {
	took := map[string][]int{}
	turn := func(name string, failsIn int) Turn {
		return Turn{name, func(_ context.Context, round int) error {
			took[name] = append(took[name], round)
			if round == failsIn {
				return errors.New("it fails")
			}
			return nil
		}}
	}
	complete, err := Turns(t.Context(), "test", 3, []Turn{turn("a", -1), turn("b", -1)})
	labtest.Equal(t, "complete rounds", complete, 3)
	for _, name := range []string{"a", "b"} {
		if err != nil || !slices.Equal(took[name], []int{0, 1, 2}) {
			t.Errorf("%s took turns in rounds %v, %v", name, took[name], err)
		}
	}
	if complete, err = Turns(t.Context(), "test", 3, []Turn{turn("c", 1)}); complete != 1 || err == nil {
		t.Errorf("%d rounds are complete, %v", complete, err)
	}
}

// TestDeepMeter: a machine of which one CPU at least is busy is seen to be, and a
// run that ends before its window has no CPU time.
func TestDeepMeter(t *testing.T) {
	const window = 500 * time.Millisecond
	cores, err := Metered(0, window, func() error {
		for start := time.Now(); time.Since(start) < window; {
		}
		return nil
	})
	if most := 1.1 * float64(runtime.NumCPU()); err != nil || !(cores > 0 && cores < most) {
		t.Errorf("%v CPUs busy, %v; want above 0 and below %v", cores, err, most)
	}
	if cores, err := Metered(0, window, func() error { return nil }); err == nil {
		t.Errorf("a run of no length has %v CPUs busy", cores)
	}
}

// TestDocumentsHoldNoRuns: what an experiment wrote is in its results, whole. Documents summarize it:
// none holds a page that was written, or a section twice, as one that kept older runs did.
func TestDocumentsHoldNoRuns(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		seen, code := map[string]bool{}, false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if strings.HasPrefix(line, "Written by `go run ./bench") || strings.HasPrefix(line, "<!--") {
				t.Errorf("%s holds a page of an experiment: put it into %s: %s", document, results, line)
			}
			if strings.HasPrefix(line, "#") && !code {
				if seen[line] {
					t.Errorf("%s has two sections %s", document, line)
				}
				seen[line] = true
			}
		}
	}
}

// TestCommandOfFlags: those that were set are repeated, but no place of this machine.
func TestCommandOfFlags(t *testing.T) {
	flags := flag.NewFlagSet("experiment", flag.ContinueOnError)
	flags.Bool("clean", true, "")
	flags.Bool("shares", false, "")
	flags.Int("rounds", 2, "")
	flags.String("tare", "", "")
	flags.String("o", "", "")
	if err := flags.Parse([]string{"-clean=false", "-shares", "-tare", "/tmp/tare", "-o", "/tmp/page.md", "--", "--networks", "vxlan"}); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "command", Command(flags), "go run ./bench experiment -clean=false -shares -- --networks vxlan")
}
