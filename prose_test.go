package tare

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// avoided are words that a reader whose first language is not English has to
// look up, each with the field's words to use instead.
var avoided = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(tells?|telling|told)\b`), "reports, shows, distinguishes"},
	{regexp.MustCompile(`(?i)\b(stands?|stood|standing)\b`), "is, runs, exists"},
	{regexp.MustCompile(`(?i)\b(hears?|heard|hearing)\b`), "receives"},
	{regexp.MustCompile(`(?i)\bstrangers?\b`), "unauthenticated peer"},
	{regexp.MustCompile(`(?i)\b(lays?|laid|laying)\b`), "sets up, adds, configures"},
	{regexp.MustCompile(`(?i)\bthat is all (it|that)\b`), "needs nothing else"},
	{regexp.MustCompile(`(?i)\b(doors?|knock\w*)\b`), "listener, connect"},
	{regexp.MustCompile(`(?i)\breckon`), "compute"},
	{regexp.MustCompile(`(?i)\blets? go of\b`), "releases"},
	{regexp.MustCompile(`(?i)\b(came of|at hand|ought|errands?|dug|whose turn)\b`), "a plain sentence"},
	{regexp.MustCompile(`(?i)\bof (its|their) own\b`), "its own, separate"},
}

// exempt are the terms in which such a word stays: names of this project and of the
// field, and the ids of warnings, which programs read.
var exempt = regexp.MustCompile(`(?i)\bstand-? ?(in|ins|alone)\b|\blong-?standing\b|\bstrangers: `)

// TestPlainWords checks comments, texts, names and documents for words that are not
// plain. It does not read what other programs printed, nor published articles and
// recorded results, which are testdata.
func TestPlainWords(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if slices.Contains([]string{".git", "node_modules", "dist"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		case path == "prose_test.go":
			return nil
		}
		for line, text := range proseOf(t, path) {
			checkWords(t, path, line, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkWords(t *testing.T, path string, line int, text string) {
	t.Helper()
	left := exempt.ReplaceAllString(text, "")
	for _, a := range avoided {
		if found := a.pattern.FindString(left); found != "" {
			t.Errorf("%s:%d: %q: write %s: %s", path, line, found, a.instead, strings.TrimSpace(text))
		}
	}
}

// proseOf gives what people read in a file, by line: of Go the comments, texts and
// names, of scripts and documents everything, of other files nothing.
func proseOf(t *testing.T, path string) map[int]string {
	t.Helper()
	suffix, name := filepath.Ext(path), filepath.Base(path)
	recorded := slices.Contains(strings.Split(path, "/"), "testdata")
	switch {
	case suffix == ".go":
		return proseOfGo(t, path)
	case suffix == ".txtar", name == "en.json",
		!recorded && (name == "Makefile" || slices.Contains([]string{".md", ".sh", ".yaml", ".yml", ".js", ".mjs", ".css", ".c"}, suffix)):
	default:
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	prose := map[int]string{}
	for n, line := range strings.Split(string(text), "\n") {
		prose[n+1] = line
	}
	return prose
}

func proseOfGo(t *testing.T, path string) map[int]string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	prose := map[int]string{}
	add := func(at token.Pos, text string) {
		for n, line := range strings.Split(text, "\n") {
			prose[set.Position(at).Line+n] += " " + line
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			add(c.Pos(), c.Text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch node := n.(type) {
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				add(node.Pos(), node.Value)
			}
		case *ast.Ident:
			add(node.Pos(), wordsOf(node.Name))
		}
		return true
	})
	return prose
}

// wordsOf splits a name at its capitals: "standIn" is "stand In".
func wordsOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
