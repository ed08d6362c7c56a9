package diagnosis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/test/labtest"
)

// TestScore counts verdicts of which each kind is known.
func TestScore(t *testing.T) {
	trials := []trial{
		{Cause: "rp-filter", Wording: "server-host", Network: "route", Verdicts: []verdict{
			{Asked: "tare doctor", Found: []string{"rp-filter", "forward-drop"}, Seconds: 1},
			{Asked: "tare doctor", Found: []string{"forward-drop", "rp-filter"}, Seconds: 3},
		}},
		{Cause: "rp-filter", Wording: "server", Network: "vxlan", Verdicts: []verdict{
			{Asked: "tare doctor", Found: []string{}},
			{Asked: "tare doctor", Error: "exit status 2"},
		}},
		{Network: "vxlan", Path: "cross-host", Verdicts: []verdict{
			{Asked: "tare doctor", Found: []string{}},
			{Asked: "tare run", Found: []string{"encapsulation-cost"}}, // what it costs of itself
			{Asked: "tare run", Found: []string{"rp-filter"}},
		}},
	}
	file := filepath.Join(t.TempDir(), "page.md")
	p := page{options: options{output: file}, Causes: listed(t).Causes, Trials: trials}
	board := p.count()
	got := board.scores["rp-filter"]
	if got.Asked != 4 || got.First != 1 || got.Found != 2 {
		t.Errorf("rp-filter: %d verdicts, %d first, %d found; want 4, 1, 2", got.Asked, got.First, got.Found)
	}
	if board.claims["rp-filter"] != 2 || board.claims["forward-drop"] != 1 {
		t.Errorf("claims %v: want rp-filter twice, once of them on a clean lab, and forward-drop once", board.claims)
	}
	labtest.Equal(t, "verdicts on clean labs", board.Clean.Asked, 3)
	labtest.Equal(t, "verdicts without a finding on clean labs", board.Clean.First, 2)
	if len(board.Alarms) != 1 || board.Alarms[0][3] != "rp-filter" {
		t.Errorf("alarms %+v, want one of rp-filter", board.Alarms)
	}
	first, other := board.First, board.Others
	labtest.Equal(t, "verdicts on the first wording", first.Asked, 2)
	labtest.Equal(t, "named first, of the first wording", first.First, 1)
	labtest.Equal(t, "verdicts on the other wording", other.Asked, 2)
	labtest.Equal(t, "named first, of the other wording", other.First, 0)
	if err := p.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| named first, of all verdicts on injections | 1 of 4, 25 % |",
		"| `rp-filter` | 4 | 1 of 4, 25 % | 2 of 4, 50 % | 1 of 2, 50 % | forward-drop, no answer, none | - |",
		"| vxlan | cross-host | `tare run` | rp-filter |",
		"| rp-filter server | vxlan | `tare doctor` | exit status 2 |",
		"|  | injected | 22 | 23 | none | no answer |\n|---|",
		"1. **policy**: the policy of FORWARD drops in the server's host. On route cross-host, ptp cross-host.\n   - at far:\n\n     ```sh\n     iptables -P FORWARD DROP\n     ```\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not hold %q:\n%s", want, text[:4000])
		}
	}
}

// TestReadVerdicts reads what doctor and run print.
func TestReadVerdicts(t *testing.T) {
	for answer, want := range map[string][]string{
		`{"findings":[{"id":"rp-filter"},{"id":"forward-drop"}]}`: {"rp-filter", "forward-drop"},
		`{"findings":[]}`: nil,
		`{"findings":[{"id":"a"}],"cells":[{"network":"host","findings":[{"id":"b"}]},{"network":"route","findings":[{"id":"c"},{"id":"d"}]}]}`: {"a", "c", "d"},
	} {
		var got verdict
		if err := got.read([]byte(answer), "route", nil); err != nil || !slices.Equal(got.Found, want) {
			t.Errorf("%s: %v, %v; want %v", answer, got.Found, err, want)
		}
	}
	if err := new(verdict).read([]byte("Usage:"), "route", nil); err == nil {
		t.Error("what is no verdict is read as one")
	}
}
