package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/docs"
	"tare/result"
)

// askedInGo are the words that the terminal asks for. Each must be in the
// catalogue, and all of its places must be filled in.
func askedInGo(t *testing.T, catalogue map[string]string) map[string]bool {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for key, places := range asks(call) {
				asked[key] = true
				if catalogue[key] == "" {
					t.Errorf("%s asks for %q, which no catalogue has", path, key)
				} else if want := placesOf(catalogue[key]); !slices.Equal(places, want) {
					t.Errorf("%s fills %v of %q, which has %v", path, places, key, want)
				}
			}
			return true
		})
	}
	return asked
}

// asks are the keys that a call asks for, with the places that it fills.
func asks(call *ast.CallExpr) map[string][]string {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if name != "say" && name != "count" || len(call.Args) == 0 {
		return nil
	}
	key, literal := literalOf(call.Args[0])
	if !literal {
		return nil
	}
	if name == "count" {
		return map[string][]string{key + "_1": {"n"}, key + "_n": {"n"}}
	}
	if _, local := call.Fun.(*ast.Ident); local { // setUp's, whose place is value
		return map[string][]string{key: {"value"}}
	}
	places := []string{}
	for i := 1; i < len(call.Args); i += 2 {
		place, _ := literalOf(call.Args[i])
		places = append(places, place)
	}
	slices.Sort(places)
	return map[string][]string{key: places}
}

func literalOf(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// placesOf are the places of a text, sorted.
func placesOf(text string) []string {
	places := []string{}
	for _, found := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(text, -1) {
		places = append(places, found[1])
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// A report in Chinese calls each cause by a name of Chinese words, and says what its fix does: both sentences of a
// finding are in English.
func TestCausesHaveNames(t *testing.T) {
	ids := result.Names(docs.Causes(), func(c docs.Cause) string { return c.ID })
	named := wordsOf(Chinese).causes
	for _, id := range ids {
		if named[id].Is == "" || named[id].Fix == "" {
			t.Errorf("%s is %+v", id, named[id])
		}
	}
	for id := range named {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is no cause", id)
		}
	}
}
