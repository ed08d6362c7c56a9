package foreign

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

var update = flag.Bool("update", false, "write the goldens")

// fixtures are what the real tools printed.
func fixtures(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) != ".golden" && !strings.Contains(path, "fuzz") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return files
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// describe writes cells as a golden holds them.
func describe(cells []result.Cell) string {
	var out strings.Builder
	for _, c := range cells {
		fmt.Fprintf(&out, "%s %q network %q path %q: %s %s\n", c.Mode, c.Workload, c.Network, c.Path, c.Status, c.Reason)
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			fmt.Fprintf(&out, "  param %s %v\n", name, c.Params[name])
		}
		for _, m := range c.Metrics {
			fmt.Fprintf(&out, "  %s %.10g %s %q\n", m.Name, m.Value, m.Unit, m.Warnings)
		}
		for _, s := range c.Samples {
			for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
				fmt.Fprintf(&out, "  counter %s %.10g\n", name, s.Counters[name])
			}
			for _, name := range slices.Sorted(maps.Keys(s.Series)) {
				fmt.Fprintf(&out, "  series %s %.8g\n", name, s.Series[name])
			}
			for _, text := range s.Warnings {
				fmt.Fprintf(&out, "  warning %s\n", text)
			}
		}
	}
	return out.String()
}

// TestFixtures reads what each tool printed and compares every number.
func TestFixtures(t *testing.T) {
	for _, folder := range []string{"iperf3", "iperf2", "qperf", "sockperf", "wrk", "wrk2", "autocannon", "sysbench", "containerd-stress", "netperf", "ping", "h2load", "fortio", "ghz", "k6", "memtier", "vegeta"} {
		var got strings.Builder
		for _, path := range fixtures(t) {
			if filepath.Dir(path) != filepath.Join("testdata", folder) {
				continue
			}
			cells, err := Read(filepath.Base(path), read(t, path))
			fmt.Fprintf(&got, "== %s\n%s", filepath.Base(path), describe(cells))
			if err != nil {
				fmt.Fprintf(&got, "error %v\n", err)
			}
		}
		golden := filepath.Join("testdata", folder+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := string(read(t, golden)); got.String() != want {
			t.Errorf("%s: numbers differ from %s; -update writes them\n%s", folder, golden, differing(want, got.String()))
		}
	}
}

// TestParametersOfReadersAreAxes holds what readers note of a run to be declared:
// what is not is taken for a parameter of a network.
func TestParametersOfReadersAreAxes(t *testing.T) {
	for _, path := range fixtures(t) {
		cells, err := Read(filepath.Base(path), read(t, path))
		if err != nil {
			continue // TestFixtures holds its words
		}
		for _, c := range cells {
			for name := range c.Params {
				if _, is := result.AxisOf(name); !is {
					t.Errorf("%s: parameter %s is declared nowhere: add it to result.Axes", path, name)
				}
			}
		}
	}
}

// differing returns the first lines that differ.
func differing(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", n+1, a[n], b[n])
		}
	}
	return "one ends before the other"
}
