// Command docs writes docs/cli.md: the help of every verb. Its tests
// check what the documents name, and run what they show. Run it as
//
//	go run ./test/docs > docs/cli.md
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"tare/test/docs/page"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintf(os.Stderr, "docs: %v\n", err)
		os.Exit(1)
	}
}

// generate builds tare and prints the page of its help texts.
func generate() error {
	dir, err := os.MkdirTemp("", "tare-docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "tare")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "tare/cmd/tare")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build tare: %w: %s", err, out)
	}
	return page.WriteHelp(os.Stdout, func(words ...string) (string, error) {
		out, err := exec.Command(binary, words...).Output()
		return string(out), err
	})
}
