// Command docs writes docs/cli.md: the help of every verb. Its tests
// run what the documents show and check what they name. Run it as
//
//	go run ./test/docs > docs/cli.md
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := generate(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "docs: %v\n", err)
		os.Exit(1)
	}
}

// generate builds tare and writes the page of its help texts.
func generate(w io.Writer) error {
	dir, err := os.MkdirTemp("", "tare-docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "tare")
	if err := build(binary); err != nil {
		return err
	}
	return writeHelp(w, binary)
}

func build(binary string) error {
	command := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "tare/cmd/tare")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build tare: %w: %s", err, out)
	}
	return nil
}

// writeHelp writes each verb's --help as a section.
func writeHelp(w io.Writer, binary string) error {
	fmt.Fprint(w, "# Command line\n\nWritten by `go run ./test/docs > docs/cli.md`: what each verb says with `--help`.\n\n"+
		"Exit status: 0 done; 1 a cell or the tool failed; 2 the command, plan or file is wrong;\n"+
		"3 something it needs is missing here; 130 interrupted, and what was measured is saved.\n")
	return eachVerb(binary, nil, func(verb []string, help string) {
		fmt.Fprintf(w, "\n## %s\n\n```text\n%s```\n", strings.Join(append([]string{"tare"}, verb...), " "), help)
	})
}

var verbLine = regexp.MustCompile(`(?m)^  ([a-z]+) +\S`)

// eachVerb visits a verb and those below it, as the help text lists them.
func eachVerb(binary string, verb []string, visit func(verb []string, help string)) error {
	out, err := exec.Command(binary, append(verb, "--help")...).Output()
	if err != nil {
		return fmt.Errorf("ask tare %s --help: %w", strings.Join(verb, " "), err)
	}
	visit(verb, string(out))
	_, below, _ := strings.Cut(string(out), "Available Commands:\n")
	below, _, _ = strings.Cut(below, "\n\n")
	for _, match := range verbLine.FindAllStringSubmatch(below, -1) {
		if match[1] == "help" {
			continue
		}
		if err := eachVerb(binary, append(verb[:len(verb):len(verb)], match[1]), visit); err != nil {
			return err
		}
	}
	return nil
}
