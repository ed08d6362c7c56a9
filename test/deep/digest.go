package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// verified is where the digests of parts that passed are.
const verified = "test/verified"

// always are inputs of every part: the modules that all code is built with.
var always = []string{"go.mod", "go.sum"}

// digest is that of the names and contents of a part's inputs, as they are in the work tree.
func (p part) digest() (string, error) {
	files, err := p.files()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err != nil {
			return "", fmt.Errorf("read an input of part %s: %w", p.name, err)
		}
		fmt.Fprintf(sum, "%s\x00%x\n", name, sha256.Sum256(content))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// files are the inputs of a part, sorted: those that git has or would take.
func (p part) files() ([]string, error) {
	whole, err := listed(append(slices.Clone(always), p.inputs...))
	if err != nil || len(p.code) == 0 {
		return whole, err
	}
	code, err := listed(p.code)
	for _, name := range code {
		if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md") {
			whole = append(whole, name)
		}
	}
	slices.Sort(whole)
	return slices.Compact(whole), err
}

// listed are the files of folders.
func listed(folders []string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, folders...)
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the inputs of a part: %w: run it in a checkout of the repository", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// due reports whether the inputs of a part are others than those that it last passed with.
func (p part) due() (bool, error) {
	now, err := p.digest()
	if err != nil {
		return false, err
	}
	passed, err := os.ReadFile(filepath.Join(verified, p.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read what part %s passed with: %w", p.name, err)
	}
	return string(bytes.TrimSpace(passed)) != now, nil
}

// passed records the digest that a part had when it began.
func (p part) passed(digest string) error {
	if err := os.WriteFile(filepath.Join(verified, p.name), []byte(digest+"\n"), 0o644); err != nil {
		return fmt.Errorf("record that part %s passed: %w", p.name, err)
	}
	return nil
}
