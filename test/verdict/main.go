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
	"os"
	"strings"
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
	said := map[[2]string]string{}
	passed := 0
	var failed, skipped []string
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch {
		case e.Test == "":
			fmt.Fprint(out, e.Output)
			if e.Action == "fail" || e.Action == "build-fail" {
				failed = append(failed, e.Package)
			}
		case e.Action == "output":
			said[key] += e.Output
		case e.Action == "fail":
			failed = append(failed, e.Package+" "+e.Test)
			fmt.Fprint(out, said[key])
		case e.Action == "skip":
			skipped = append(skipped, e.Package+" "+e.Test)
			fmt.Fprint(out, said[key])
		case e.Action == "pass":
			passed++
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read test output: %w", err)
	}
	return sentence(passed, failed, skipped)
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
