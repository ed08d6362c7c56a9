package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tare/test/labtest"
)

// root is the repository.
const root = "../.."

// block is a fenced block of a document.
type block struct {
	file, kind, text string
	line             int
}

// blocksOf reads the fenced blocks of a document.
func blocksOf(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	for n, line := range strings.SplitAfter(string(text), "\n") {
		kind, fence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &block{file: file, kind: kind, line: n + 1}
		case fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", file, open.line)
	}
	return blocks
}

// documents are all pages that people read.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/networks/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			files = append(files, strings.TrimPrefix(path, root+"/"))
		}
	}
	return files
}

// step is a command of a console block and what it prints.
type step struct{ command, output string }

func stepsOf(text string) []step {
	var steps []step
	for _, line := range strings.SplitAfter(text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			steps = append(steps, step{command: strings.TrimSpace(command)})
		case len(steps) > 0:
			steps[len(steps)-1].output += line
		}
	}
	return steps
}

// TestRealConsoleBlocks runs every command of every console block, in order, in a
// copy of the repository, and compares the shape of what it prints.
func TestRealConsoleBlocks(t *testing.T) {
	clone, path := fresh(t)
	for _, file := range documents(t) {
		for _, b := range blocksOf(t, file) {
			if b.kind != "console" && b.kind != "sh" {
				continue
			}
			steps := stepsOf(b.text)
			if b.kind == "console" && len(steps) == 0 {
				t.Errorf("%s:%d: a console block without a command", b.file, b.line)
			}
			for _, s := range steps {
				t.Run(file+" "+s.command, func(t *testing.T) { s.run(t, clone, path) })
			}
		}
	}
}

func (s step) run(t *testing.T, dir, path string) {
	var out, progress bytes.Buffer
	command := exec.Command("sh", "-c", s.command)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+path, "NO_COLOR=1", "LC_ALL=C.UTF-8")
	command.Stdout, command.Stderr = &out, &progress
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), progress.String())
	}
	if s.output == "" {
		return // the document does not show what it prints
	}
	if missing, ok := fits(s.output, out.String()); !ok {
		t.Errorf("the document shows what is not printed: %s\nprinted:\n%s", missing, out.String())
	}
}

// fresh copies the repository, and gives a PATH with tare in it.
func fresh(t *testing.T) (clone, path string) {
	t.Helper()
	clone, bin := t.TempDir(), t.TempDir()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(clone, strings.TrimPrefix(name, root))
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "node_modules" || name == filepath.Join(root, "dist") {
				return filepath.SkipDir
			}
			return os.MkdirAll(to, 0o755)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(labtest.Tare(t), filepath.Join(bin, "tare")); err != nil {
		t.Fatal(err)
	}
	return clone, bin + ":" + os.Getenv("PATH") + ":/usr/sbin:/sbin"
}
