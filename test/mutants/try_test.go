package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// memory is how many kB a test binary may take: a mutant may loop for ever and take memory all the time.
const memory = "4194304"

// fate is what becomes of a mutant.
type fate string

const (
	dead      fate = "dead"
	endless   fate = "endless" // so it is dead, too
	alive     fate = "alive"
	notViable fate = "not viable" // it does not compile
	notRun    fate = "not run"    // its end says nothing of it
)

// laboratory is where the mutants of a package are tried.
type laboratory struct {
	root, pkg string
	skip      string        // tests that are not asked
	late      string        // tests that are asked of what the others leave alive
	limit     time.Duration // of CPU: what takes more never ends, on a machine as busy as any
	folder    string        // for what is built
}

// newLaboratory is sure that without a mutant the tests pass.
func newLaboratory(t *testing.T, root, pkg, skip, late string, limit time.Duration) laboratory {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	l := laboratory{root, pkg, skip, late, limit, t.TempDir()}
	if fate, why := l.try(t, nil); fate != alive {
		t.Fatalf("%s without a mutant: %s, %s", pkg, fate, why)
	}
	return l
}

// try compiles the tests of the package with a mutant, or with none, and runs them. It returns also why.
func (l laboratory) try(t *testing.T, m *found) (fate, string) {
	t.Helper()
	binary, overlay := filepath.Join(l.folder, "mutant.test"), filepath.Join(l.folder, "overlay.json")
	replace := map[string]string{}
	if m != nil {
		file := filepath.Join(l.folder, "mutant.go")
		replace[filepath.Join(l.root, m.file)] = file
		write(t, file, []byte(m.text))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, text)
	// Compiling takes most of the time: half of it would go to making the tests faster than they need to be.
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-gcflags=-N -l", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+l.pkg)
	build.Dir = l.root
	if out, err := build.CombinedOutput(); err != nil {
		why := ofCompiler.FindString(string(out))
		if why == "" {
			t.Fatalf("go test -c: %v\n%s", err, out)
		}
		return notViable, why
	}
	if l.late == "" {
		return l.ask(t, binary, "-test.skip="+l.skip)
	}
	if fate, why := l.ask(t, binary, "-test.skip="+l.skip+"|"+l.late); fate != alive {
		return fate, why
	}
	return l.ask(t, binary, "-test.run="+l.late)
}

// ask runs some of the tests.
func (l laboratory) ask(t *testing.T, binary, which string) (fate, string) {
	t.Helper()
	// The test binary ends itself where it waits for ever, but where its goroutines never let go.
	patience := 10 * l.limit
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %s && ulimit -t %.0f && exec "$0" "$@"`, memory, l.limit.Seconds()), binary,
		"-test.failfast", "-test.timeout="+patience.String(), which)
	run.Dir = filepath.Join(l.root, l.pkg)
	out, err := run.CombinedOutput()
	nearly := l.limit * 9 / 10 // the kernel ends it by another clock than that of what it took
	switch took := run.ProcessState.UserTime() + run.ProcessState.SystemTime(); {
	case ctx.Err() != nil:
		return endless, "it ended after twice " + patience.String()
	case err != nil && took >= nearly:
		return endless, "it took " + took.String() + " of CPU"
	}
	return judged(string(out), err)
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	ofCompiler = regexp.MustCompile(`(?m)^\S+\.go:\d+:\d+: .*`)
	ofTest     = regexp.MustCompile(`(?m)^ *--- FAIL: \S+`)
	ofRuntime  = regexp.MustCompile(`(?m)^(panic: test timed out|fatal error: (runtime: out of memory|runtime: cannot allocate memory|stack overflow)).*`)
)

// judged is the fate of a mutant by what its test binary printed: only a test that fails kills it.
func judged(out string, err error) (fate, string) {
	if err == nil {
		return alive, ""
	}
	if why := ofTest.FindString(out); why != "" {
		return dead, why
	}
	if why := ofRuntime.FindString(out); why != "" {
		return endless, why
	}
	return notRun, fmt.Sprintf("%v: %s", err, out)
}

func TestOnlyATestThatFailsKills(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, c := range []struct {
		out  string
		err  error
		want fate
	}{
		{"PASS\n", nil, alive},
		{"--- FAIL: TestA (0.00s)\n    a_test.go:7: no\nFAIL\n", failed, dead},
		{"--- FAIL: TestA (0.00s)\npanic: no [recovered]\n", failed, dead},
		{"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestA (1m0s)\n", failed, endless},
		{"fatal error: runtime: out of memory\n", failed, endless},
		{"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n", failed, endless},
		{"", errors.New("fork/exec mutant.test: resource temporarily unavailable"), notRun},
		{"", errors.New("signal: killed"), notRun},
		{"testing: warning: no tests to run\nPASS\nno space left on device\n", failed, notRun},
	} {
		if got, why := judged(c.out, c.err); got != c.want {
			t.Errorf("%q, %v: %s, %s; want %s", c.out, c.err, got, why, c.want)
		}
	}
}
