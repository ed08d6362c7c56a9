// Command docs writes what documents say of the program: docs/cli.md, the help of every verb, the
// table of docs/networks/README.md and a line of each network's page, and the schema of a result. Its tests check what the documents name, and run what they show.
//
//	go run ./test/docs > docs/cli.md
//	go run ./test/docs networks
//	go run ./test/docs schema
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"tare/catalog"
	"tare/test/docs/page"
)

func main() {
	write := generate
	switch {
	case slices.Equal(os.Args[1:], []string{"networks"}):
		write = updateNetworks
	case slices.Equal(os.Args[1:], []string{"schema"}):
		write = writeSchema
	}
	if err := write(); err != nil {
		fmt.Fprintf(os.Stderr, "docs: %v\n", err)
		os.Exit(1)
	}
}

// updateNetworks writes the table of networks into their overview, and what each is into its page.
func updateNetworks() error {
	if err := rewrite("docs/networks/README.md", page.WithNetworks); err != nil {
		return err
	}
	for _, n := range catalog.Networks() {
		facts := func(text string) (string, error) { return page.WithFacts(text, n) }
		if err := rewrite("docs/networks/"+n.Name+".md", facts); err != nil {
			return err
		}
	}
	return nil
}

// rewrite changes the text of a document.
func rewrite(file string, change func(string) (string, error)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed, err := change(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}

// writeSchema writes the schema of a result into its file.
func writeSchema() error {
	text, err := page.Schema("result")
	if err != nil {
		return err
	}
	return os.WriteFile("docs/result.schema.json", text, 0o644)
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
