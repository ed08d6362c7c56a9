// Command verdict reads what `go test -json` writes, prints the packages'
// closing lines and the output of tests that failed, and fails when a test
// failed, was skipped, or when nothing ran: what did not run has not passed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"tare/test/labtest"
)

func main() {
	if err := judge(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "verdict: %v\n", err)
		os.Exit(1)
	}
}

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// judge passes on what belongs to packages and keeps what belongs to tests
// until it is known how they ended.
func judge(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	printed := map[[2]string]string{}
	begun := map[string]bool{} // whether a package has yet to end
	passed, again := 0, 0
	var failed, skipped []string
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		key := [2]string{e.Package, e.Test}
		if e.Package != "" {
			begun[e.Package] = e.Test != "" || !slices.Contains([]string{"pass", "fail", "skip"}, e.Action)
		}
		switch {
		case e.Test == "":
			if e.Action == "fail" || e.Action == "build-fail" {
				failed = append(failed, append(unended(printed, e.Package, out), e.Package)...)
			}
			fmt.Fprint(out, e.Output)
		case e.Action == "output":
			printed[key] += e.Output
		case e.Action == "fail":
			failed = append(failed, e.Package+" "+e.Test)
			again += strings.Count(printed[key], labtest.SecondTry)
			fmt.Fprint(out, printed[key])
			delete(printed, key)
		case e.Action == "skip":
			skipped = append(skipped, e.Package+" "+e.Test)
			fmt.Fprint(out, printed[key])
			delete(printed, key)
		case e.Action == "pass":
			passed++
			again += remarks(e.Package+" "+e.Test, printed[key], out)
			delete(printed, key)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read test output: %w", err)
	}
	for _, pkg := range slices.Sorted(maps.Keys(begun)) {
		if begun[pkg] { // as where a virtual machine went away, or its tests ran out of time
			failed = append(failed, append(unended(printed, pkg, out), pkg+" (did not end)")...)
		}
	}
	if again > 0 {
		fmt.Fprintf(out, "second tries: %d\n", again)
	}
	return sentence(passed, failed, skipped)
}

// remarks prints the lines in which a test that passed reports what it could not
// test on this machine, and what it tried again. It returns how often it did.
func remarks(test, output string, out io.Writer) (again int) {
	for line := range strings.Lines(output) {
		if _, what, found := strings.Cut(line, labtest.NotTested); found {
			fmt.Fprint(out, labtest.NotTested, what)
		}
		if _, why, found := strings.Cut(line, labtest.SecondTry); found {
			fmt.Fprint(out, labtest.SecondTry, " ", test, ":", why)
			again++
		}
	}
	return again
}

// unended names the tests of a package that began and never ended, as where they
// were killed or hung, and prints their output: a stack of each goroutine, mostly.
func unended(printed map[[2]string]string, pkg string, out io.Writer) []string {
	var names []string
	for _, key := range slices.SortedFunc(maps.Keys(printed), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
		if key[0] == pkg {
			names = append(names, pkg+" "+key[1]+" (did not end)")
			fmt.Fprint(out, printed[key])
		}
	}
	return names
}

// sentence is nil where every test ran and passed.
func sentence(passed int, failed, skipped []string) error {
	var errs []error
	if len(failed) > 0 {
		errs = append(errs, fmt.Errorf("failed: %s", strings.Join(failed, ", ")))
	}
	if len(skipped) > 0 {
		errs = append(errs, fmt.Errorf("skipped, so not tested: %s", strings.Join(skipped, ", ")))
	}
	if passed == 0 {
		errs = append(errs, errors.New("no test passed"))
	}
	return errors.Join(errs...)
}
