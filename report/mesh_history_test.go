package report

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// overTime are three meshes of twelve nodes, given out of order. The newest names nobody.
func overTime() []*result.Result {
	first, second, newest := twelve(), twelve(), twelve()
	first.Finished, second.Finished, newest.Finished = "2026-11-26T12:00:00Z", "2026-11-26T12:10:00Z", "2026-11-26T12:20:00Z"
	newest.Mesh.Named = []result.MeshNamed{}
	return []*result.Result{newest, first, second}
}

func TestMeshesOverTime(t *testing.T) {
	var out strings.Builder
	if err := Meshes(&out, overTime(), Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	labtest.Equal(t, "the first line", lines[0], "3 meshes, from 2026-11-26 12:00 to 2026-11-26 12:20 UTC")
	for n, begins := range []string{"- 2026-11-26 12:00: Node node-3 (throughput +", "- 2026-11-26 12:10: Node node-3 (throughput +"} {
		if !strings.HasPrefix(lines[1+n], begins) {
			t.Errorf("line %d is %q, want %q", 2+n, lines[1+n], begins)
		}
	}
	for _, text := range []string{
		"Nodes over time, throughput, against the middle of all; + is worse\n  node    named   median, %  worst, %  at                newest, %\n  node-3  2 of 3  ",
		"\ntare mesh: 12 nodes, ", "Nobody is named",
	} {
		labtest.Contains(t, "report", out.String(), text)
	}
	labtest.Equal(t, "meshes shown whole", strings.Count(out.String(), "tare mesh: "), 1)

	quiet := overTime()
	for _, res := range quiet {
		res.Mesh.Named = []result.MeshNamed{}
	}
	out.Reset()
	if err := Meshes(&out, quiet, Options{}); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "report", out.String(), "- Nobody was named in any of them.\n")
}
