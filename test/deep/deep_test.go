package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inRepository makes the test run in a new repository with these files.
func inRepository(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		write(t, name, content)
	}
	if out, err := exec.Command("git", "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPartIsDueUntilItPassesWithItsInputs(t *testing.T) {
	inRepository(t, map[string]string{"go.mod": "m", "own/a_test.go": "1", "code/b.go": "1", "code/b_test.go": "1", "code/b.md": "1", "other/c.go": "1", "test/verified/README.md": ""})
	p := part{name: "x", inputs: []string{"own"}, code: []string{"code"}, command: "true"}
	due := func(want bool, after string) {
		t.Helper()
		got, err := p.due()
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("after %s: due %t, want %t", after, got, want)
		}
	}
	pass := func() {
		t.Helper()
		if err := runParts(context.Background(), []part{p}, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
	due(true, "nothing")
	pass()
	due(false, "it passed")
	for _, name := range []string{"other/c.go", "code/b_test.go", "code/b.md"} {
		write(t, name, "2")
		due(false, "a change of "+name)
	}
	for _, name := range []string{"own/a_test.go", "own/new.txt", "code/b.go", "go.mod"} {
		write(t, name, "2")
		due(true, "a change of "+name)
		pass()
		due(false, "it passed again")
	}
	if err := os.Remove("code/b.go"); err != nil {
		t.Fatal(err)
	}
	due(true, "code/b.go was removed")
}

func TestPartThatFailsStaysDue(t *testing.T) {
	inRepository(t, map[string]string{"go.mod": "m", "test/verified/README.md": ""})
	var out strings.Builder
	red, green := part{name: "red", crowd: true, command: "echo said; false | cat"}, part{name: "green", command: "true"}
	err := runParts(context.Background(), []part{red, green}, &out)
	if err == nil || !strings.Contains(err.Error(), "make deep PARTS=red") {
		t.Errorf("error %v does not say how to repeat the part", err)
	}
	for _, want := range []string{"said\n", "deep: red: failed", "deep: green: passed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed %q, without %q", out.String(), want)
		}
	}
	for _, p := range []part{red, green} {
		if due, err := p.due(); err != nil || due != (p.name == "red") {
			t.Errorf("%s: due %t (%v)", p.name, due, err)
		}
	}
}

// A part of the crowd meets another, the rest comes after them, and each has a session by which the kernel
// shares the CPUs out.
func TestPartsHaveCompany(t *testing.T) {
	inRepository(t, map[string]string{"go.mod": "m", "test/verified/README.md": ""})
	const meet = "touch %s; until [[ -e %s ]]; do :; done; [[ ! -e last ]]"
	err := runParts(context.Background(), []part{
		{name: "last", command: "touch last; [[ -e one && -e other && $(ps -o sid= -p $$) -eq $$ ]]"},
		{name: "one", crowd: true, command: fmt.Sprintf(meet, "one", "other")},
		{name: "other", crowd: true, command: fmt.Sprintf(meet, "other", "one")},
	}, t.Output())
	if err != nil {
		t.Error(err)
	}
}

func TestDueNamesPartsThatPassed(t *testing.T) {
	inRepository(t, map[string]string{"go.mod": "m", "test/verified/README.md": ""})
	done, open := part{name: "done", command: "true"}, part{name: "open", command: "true"}
	if err := runParts(context.Background(), []part{done}, t.Output()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	due, err := dueOf([]part{done, open, part{name: "rare", command: "false"}.whenAsked()}, &out)
	if err != nil || !slices.Equal(namesOf(due), []string{"open"}) {
		t.Errorf("due are %v (%v), want open", namesOf(due), err)
	}
	if want := "deep: done: passed with these inputs already\ndeep: rare: due, and not tried here: make deep PARTS=rare\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestUnknownPart(t *testing.T) {
	err := run(context.Background(), []string{"nonsense"}, t.Output())
	if err == nil || !strings.Contains(err.Error(), "nonsense") || !strings.Contains(err.Error(), allParts()[0].name) {
		t.Errorf("error %v does not list the parts", err)
	}
}

func TestPartsHaveInputs(t *testing.T) {
	t.Chdir("../..")
	for _, p := range allParts() {
		if p.doc == "" {
			t.Errorf("%s has no doc", p.name)
		}
		for _, folder := range append(slices.Clone(p.inputs), p.code...) {
			if files, err := listed([]string{folder}); err != nil || len(files) == 0 {
				t.Errorf("%s: input %s has no file (%v)", p.name, folder, err)
			}
		}
	}
	entries, err := os.ReadDir(verified)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(namesOf(allParts()), entry.Name()) && entry.Name() != "README.md" {
			t.Errorf("%s/%s is of no part", verified, entry.Name())
		}
	}
}

// TestEveryDeepTestIsOfOnePart holds that no test of the deep tier is forgotten.
func TestEveryDeepTestIsOfOnePart(t *testing.T) {
	t.Chdir("../..")
	for _, folder := range foldersOfDeepTests(t) {
		whole := regexp.MustCompile(`\./` + regexp.QuoteMeta(folder) + `( |$)`)
		var of []string
		for _, p := range allParts() {
			if strings.Contains(p.command, "^TestDeep") && whole.MatchString(p.command) {
				of = append(of, p.name)
			}
		}
		if len(of) != 1 {
			t.Errorf("the deep tests of %s are of the parts %v: name the folder in one line of parts.go", folder, of)
		}
	}
}

// foldersOfDeepTests are the packages that have deep tests.
func foldersOfDeepTests(t *testing.T) (folders []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, is := decl.(*ast.FuncDecl)
			if folder := filepath.Dir(path); is && strings.HasPrefix(f.Name.Name, "TestDeep") && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}
