package tare

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors is the whole architecture: a package may import only lower floors. A
// package in a folder of another one is on the other's floor, and may import it,
// but none that is in the same folder: no workload of traffic imports another.
var floors = [][]string{
	{"result", "stats", "wire", "traffic", "foreign", "firewall", "docs"},
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

// floorOf is the floor of a package; -1: it is on none.
func floorOf(dir string) int {
	for n, names := range floors {
		if slices.Contains(names, dir) {
			return n
		}
	}
	if above := filepath.Dir(dir); above != "." {
		return floorOf(above)
	}
	return -1
}

// refusal is why a package may not import another; empty: it may.
func refusal(from, to string) string {
	switch low, high := floorOf(to), floorOf(from); {
	case low < 0:
		return fmt.Sprintf("%s imports %s, which is on no floor", from, to)
	case low >= high && !sideways[[2]string{from, to}] && to != filepath.Dir(from):
		return fmt.Sprintf("%s (floor %d) imports %s (floor %d)", from, high, to, low)
	}
	return ""
}

func TestArrowsPointDown(t *testing.T) {
	const module = "tare/"
	eachPackageFile(t, func(path, dir string) {
		for _, name := range outside {
			if dir == name || strings.HasPrefix(dir, name+"/") {
				return
			}
		}
		if floorOf(dir) < 0 {
			t.Errorf("%s: package is on no floor", path)
		}
		for _, imported := range importsOf(t, path) {
			name, ours := strings.CutPrefix(imported, module)
			if !ours || name == dir {
				continue
			}
			if why := refusal(dir, name); why != "" {
				t.Errorf("%s: %s", path, why)
			}
		}
	})
}

func TestRoomsOfOneFolderAreApart(t *testing.T) {
	for arrow, may := range map[[2]string]bool{
		{"traffic/udp", "traffic"}: true, {"workload", "traffic/udp"}: true,
		{"traffic/tcpstream", "traffic/tcprr"}: false, {"traffic", "traffic/udp"}: false, {"traffic/udp", "workload"}: false,
		{"network/kinds", "network"}: true, {"site", "network/kinds"}: true, {"network", "network/kinds"}: false,
	} {
		if why := refusal(arrow[0], arrow[1]); (why == "") != may {
			t.Errorf("%s imports %s: %q", arrow[0], arrow[1], why)
		}
	}
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
