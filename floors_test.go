package tare

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors is the whole architecture: a package may import only lower floors. A
// package in a folder of another one is on the other's floor, and may import it.
var floors = [][]string{
	{"result", "stats", "wire", "traffic", "foreign"},
	{"catalog", "protocol"},
	{"lab", "workload", "weigh", "probe", "trace", "iperf3", "vm", "experiment/schedule"},
	{"engine", "report", "diagnose", "cases"},
	{"network", "agent"},
	{"site"},
	{"experiment"},
	{"cmd/tare"},
}

// outside are the folders next to the house: they may import any floor, and no
// floor may import them.
var outside = []string{"bench", "parts", "test"}

// sideways lists the only arrows allowed within a floor.
var sideways = map[[2]string]bool{{"foreign", "result"}: true}

func TestArrowsPointDown(t *testing.T) {
	const module = "tare/"
	floor := map[string]int{}
	for n, names := range floors {
		for _, name := range names {
			floor[name] = n
		}
	}
	floorOf := func(dir string) (n int, known bool) {
		if n, known = floor[dir]; !known {
			n, known = floor[filepath.Dir(dir)]
		}
		return n, known
	}
	eachPackageFile(t, func(path, dir string) {
		for _, name := range outside {
			if dir == name || strings.HasPrefix(dir, name+"/") {
				return
			}
		}
		from, ok := floorOf(dir)
		if !ok {
			t.Errorf("%s: package is on no floor", path)
		}
		for _, imported := range importsOf(t, path) {
			name, ours := strings.CutPrefix(imported, module)
			if !ours || name == dir {
				continue
			}
			to, known := floorOf(name)
			switch {
			case !known:
				t.Errorf("%s imports %s, which is on no floor", path, name)
			case to >= from && !sideways[[2]string{dir, name}] && name != filepath.Dir(dir):
				t.Errorf("%s (floor %d) imports %s (floor %d)", path, from, name, to)
			}
		}
	})
}

// TestPackagesSayWhatTheyAre holds each package to a doc comment.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	documented := map[string]bool{}
	eachPackageFile(t, func(path, dir string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || file.Doc != nil
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no file has a package comment", dir)
		}
	}
}

// eachPackageFile calls visit with every Go file below the root that is no
// test, and its folder.
func eachPackageFile(t *testing.T, visit func(path, dir string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir(), filepath.Dir(path) == ".":
			return nil
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			visit(path, filepath.Dir(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func importsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, name)
	}
	return imports
}
