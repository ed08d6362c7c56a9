// Package page reads the documents for their tests: which there are, what they show
// in blocks, and what is typed there.
package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// All are the documents that people read, below the repository's root.
func All(root string) ([]string, error) {
	files := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			files = append(files, strings.TrimPrefix(path, root+"/"))
		}
	}
	return files, nil
}

// Block is a fenced block of a document.
type Block struct {
	File, Kind, Text string
	Line             int
}

// Blocks reads the fenced blocks of a document.
func Blocks(root, file string) ([]Block, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	var blocks []Block
	var open *Block
	for n, line := range strings.SplitAfter(string(text), "\n") {
		kind, fence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &Block{File: file, Kind: kind, Line: n + 1}
		case fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.Text += line
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", file, open.Line)
	}
	return blocks, nil
}

// Step is a command of a console block and what it prints.
type Step struct{ Command, Output string }

// Steps are those of a console block's text.
func Steps(text string) []Step {
	var steps []Step
	for _, line := range strings.SplitAfter(text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			steps = append(steps, Step{Command: strings.TrimSpace(command)})
		case len(steps) > 0:
			steps[len(steps)-1].Output += line
		}
	}
	return steps
}
