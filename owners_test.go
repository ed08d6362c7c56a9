package tare

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"tare/network/kinds"
	"tare/workload"
)

// eachNode calls visit with every node of every file below the root that is no
// test.
func eachNode(t *testing.T, visit func(dir string, at token.Position, node ast.Node)) {
	t.Helper()
	eachPackageFile(t, func(path, dir string) {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if node != nil {
				visit(dir, files.Position(node.Pos()), node)
			}
			return true
		})
	})
}

// TestOnlyWeighJudges holds that a difference gets its verdict in one place.
func TestOnlyWeighJudges(t *testing.T) {
	eachNode(t, func(dir string, at token.Position, node ast.Node) {
		call, is := node.(*ast.SelectorExpr)
		if !is || dir == "weigh" {
			return
		}
		if of, named := call.X.(*ast.Ident); named && of.Name == "stats" && (call.Sel.Name == "Judge" || call.Sel.Name == "Change") {
			t.Errorf("%s: stats.%s: ask package weigh, which knows the margins", at, call.Sel.Name)
		}
	})
}

// TestParamsAreDecodedOnce holds that a parameter's type is asked in package result
// alone: a number from a file is of another type than one in memory.
func TestParamsAreDecodedOnce(t *testing.T) {
	eachNode(t, func(dir string, at token.Position, node ast.Node) {
		assertion, is := node.(*ast.TypeAssertExpr)
		if !is || dir == "result" {
			return
		}
		if entry, indexes := assertion.X.(*ast.IndexExpr); indexes {
			if of, selected := entry.X.(*ast.SelectorExpr); selected && of.Sel.Name == "Params" {
				t.Errorf("%s: a parameter is asserted to be of a type: read it by Params.Number, Count or Text", at)
			}
		}
	})
}

// TestKindsAreNamedByTheirOwnFiles holds that what is weighed and shown depends on
// what a network or a workload declares, never on which one it is.
func TestKindsAreNamedByTheirOwnFiles(t *testing.T) {
	names := map[string]bool{}
	for _, n := range kinds.All() {
		names[n.Name] = true
	}
	for _, w := range workload.All() {
		names[w.Name] = true
	}
	eachNode(t, func(dir string, at token.Position, node ast.Node) {
		text, is := node.(*ast.BasicLit)
		if !is || text.Kind != token.STRING || dir != "report" && dir != "weigh" {
			return
		}
		if word, err := strconv.Unquote(text.Value); err == nil && names[word] {
			t.Errorf("%s: %q: declare what sets it apart in its own file, and ask for that", at, word)
		}
	})
}
