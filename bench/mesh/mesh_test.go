package mesh

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tare/bench/harness"
	"tare/result"
	"tare/test/labtest"
)

// Simulated agents speak the protocol of real ones: the controller measures with them and
// names the slow node.
func TestControllerMeasuresWithSimulatedAgents(t *testing.T) {
	f := figures{Nodes: 10}
	if err := f.mesh(context.Background(), worldOf(10, 0.2, 1), 1); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "slow nodes", f.True, 1)
	labtest.Equal(t, "named of them", f.Found, 1)
	labtest.Equal(t, "others named", f.Wrong, 0)
	labtest.Equal(t, "windows", f.Windows, 90)
	labtest.Equal(t, "windows that the controller failed to measure", f.Failed, 0)
	labtest.Between(t, "bytes of a window", f.WindowBytes, 3000, 10000)
	labtest.AtLeast(t, "bytes of the result", int(f.ResultBytes), 2000)
}

func TestPageShowsCostsAndBounds(t *testing.T) {
	of := []figures{
		{Nodes: 5000, Runs: 1, Windows: 50000, RSSBytes: 300 << 20, ResultBytes: 4 << 20, RoundWall: span(3 * time.Second), RoundCPU: span(2 * time.Second), Wrong: 1},
		{Nodes: 5000, Slow: 0.1, Runs: 2, Again: 8000, True: 100, Found: 90, Wrong: 10, RSSBytes: 200 << 20},
	}
	file := filepath.Join(t.TempDir(), "page.md")
	p := page{
		Command: "go run ./bench mesh", Sizes: [][]figures{of},
		Machine: harness.Machine{Date: "2026-01-01", Environment: result.Environment{CPUModel: "X", CPUs: 2}},
	}
	if err := harness.Write(file, "scale", scalePage, p); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"on 2026-01-01: Linux , X, 2 CPUs",
		"| 5000 | 50000 | 4000 | 0.0 MiB | 300.0 MiB | 3.000 s | 2.000 s |",
		"| memory of the process below 256 MiB | 300.0 MiB | does not hold |",
		"| result file below 20 MiB | 4.0 MiB | holds |",
		"| 5000 | none | 1 | none | 1 | 0 of 1 | 0 |",
		"| 5000 | 10 % | 2 | 90 of 100 | 10 | 90 of 100 | 4000 |",
	} {
		labtest.Contains(t, "page", string(text), line)
	}
}

// A run on a lab is right where exactly those are named who are slow.
func TestTableCountsRightRuns(t *testing.T) {
	node := labKinds()[1]
	h3 := result.MeshNamed{Kind: result.MeshNodeKind, Of: []string{"h3"}, Value: 0.5}
	other := result.MeshNamed{Kind: result.MeshLink, Of: []string{"h1", "h2"}, Value: 0.2}
	var trials []labTrial
	for _, named := range [][]result.MeshNamed{{h3}, {h3, other}, {}} {
		trials = append(trials, node.judge(&result.Mesh{Named: named}, 20*time.Second))
	}
	labtest.Equal(t, "row", node.row(trials), "node | node h3 | 1 of 3 | 50 to 50 % | 20 to 20 | link h1 h2, node h3; nobody")
	clean := labKinds()[0]
	labtest.Equal(t, "nobody is named on a clean lab", clean.judge(&result.Mesh{}, time.Second).right, true)
	labtest.Equal(t, "somebody is named on a clean lab", clean.judge(&result.Mesh{Named: []result.MeshNamed{h3}}, time.Second).right, false)
}
