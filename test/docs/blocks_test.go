package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tare/test/docs/page"
	"tare/test/labtest"
)

// root is the repository.
const root = "../.."

var update = flag.Bool("update", false, "write what commands print into the documents")

// blocksOf reads the fenced blocks of a document.
func blocksOf(t *testing.T, file string) []page.Block {
	t.Helper()
	blocks, err := page.Blocks(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// documents are all pages that people read.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := page.All(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestConsoleBlocksHaveCommands: what a console block shows, somebody has typed.
func TestConsoleBlocksHaveCommands(t *testing.T) {
	for _, file := range documents(t) {
		for _, b := range blocksOf(t, file) {
			if b.Kind == "console" && len(page.Steps(b.Text)) == 0 {
				t.Errorf("%s:%d: a console block without a command", b.File, b.Line)
			}
		}
	}
}

// TestDeepConsoleBlocks runs every command of every console block, in order, in a
// copy of the repository, and compares the shape of what it prints. With -update the
// documents then show what was printed now.
func TestDeepConsoleBlocks(t *testing.T) {
	clone, path := fresh(t)
	for _, file := range documents(t) {
		text := read(t, file)
		at := 0 // everything before it is done
		for _, b := range blocksOf(t, file) {
			if b.Kind != "console" && b.Kind != "sh" {
				continue
			}
			for _, s := range page.Steps(b.Text) {
				t.Run(file+" "+s.Command, func(t *testing.T) {
					shown := runStep(t, s, clone, path)
					at += strings.Index(text[at:], "$ "+s.Command+"\n"+s.Output) + len("$ "+s.Command+"\n")
					text = text[:at] + shown + text[at+len(s.Output):]
					at += len(shown)
				})
			}
		}
		if *update && text != read(t, file) {
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runStep runs a command, and returns what the document shows of it: with -update, what
// is printed now.
func runStep(t *testing.T, s page.Step, dir, path string) string {
	t.Helper()
	var out, progress bytes.Buffer
	command := exec.Command("sh", "-c", s.Command)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+path, "NO_COLOR=1", "LC_ALL=C.UTF-8")
	command.Stdout, command.Stderr = &out, &progress
	if err := command.Run(); err != nil {
		t.Errorf("%v\n%s%s", err, out.String(), progress.String())
		return s.Output
	}
	if s.Output == "" {
		return "" // the document does not show what it prints
	}
	if *update {
		shown, ok := anew(s.Output, out.String())
		if !ok {
			t.Errorf("between dots the document shows what is not printed: write it by hand:\n%s", out.String())
		}
		return shown
	}
	if missing, ok := fits(s.Output, out.String()); !ok {
		t.Errorf("the document shows what is not printed (go test ./test/docs -run TestDeepConsoleBlocks -update): %s\nprinted:\n%s", missing, out.String())
	}
	return s.Output
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
