package main

import (
	"slices"
	"strings"
	"testing"
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
	board := count(trials)
	got := board.scores["rp-filter"]
	if got.asked != 4 || got.first != 1 || got.found != 2 {
		t.Errorf("rp-filter: %d verdicts, %d first, %d found; want 4, 1, 2", got.asked, got.first, got.found)
	}
	if board.claims["rp-filter"] != 2 || board.claims["forward-drop"] != 1 {
		t.Errorf("claims %v: want rp-filter twice, once of them on a clean lab, and forward-drop once", board.claims)
	}
	switch {
	case board.clean.asked != 3:
		t.Errorf("board.clean.asked is %v, want 3; clean: %+v, alarms %+v: want two of three silent, and one alarm of rp-filter", board.clean.asked, board.clean, board.alarms)
	case board.clean.first != 2:
		t.Errorf("board.clean.first is %v, want 2; clean: %+v, alarms %+v: want two of three silent, and one alarm of rp-filter", board.clean.first, board.clean, board.alarms)
	case len(board.alarms) != 1:
		t.Errorf("len(board.alarms) is %v, want 1; clean: %+v, alarms %+v: want two of three silent, and one alarm of rp-filter", len(board.alarms), board.clean, board.alarms)
	case !slices.Equal(board.alarms[0].found, []string{"rp-filter"}):
		t.Errorf("slices.Equal(board.alarms[0].found, []string{\"rp-filter\"}) is false; clean: %+v, alarms %+v: want two of three silent, and one alarm of rp-filter", board.clean, board.alarms)
	}
	switch first, other := board.byWording[0], board.byWording[1]; {
	case first.asked != 2:
		t.Errorf("first.asked is %v, want 2; by wording: %+v: want one of two, and none of two", first.asked, board.byWording)
	case first.first != 1:
		t.Errorf("first.first is %v, want 1; by wording: %+v: want one of two, and none of two", first.first, board.byWording)
	case other.asked != 2:
		t.Errorf("other.asked is %v, want 2; by wording: %+v: want one of two, and none of two", other.asked, board.byWording)
	case other.first != 0:
		t.Errorf("other.first is %v, want 0; by wording: %+v: want one of two, and none of two", other.first, board.byWording)
	}
	text := page{trials: trials}.render()
	for _, want := range []string{
		"| named first, of all verdicts on injections | 1 of 4, 25 % |",
		"| `rp-filter` | 4 | 1 of 4, 25 % | 2 of 4, 50 % | 1 of 2, 50 % | forward-drop, no answer, none | - |",
		"| vxlan | cross-host | `tare run` | rp-filter |",
		"| rp-filter server | vxlan | `tare doctor` | exit status 2 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text[:4000])
		}
	}
}

// TestReadVerdicts reads what doctor and run print.
func TestReadVerdicts(t *testing.T) {
	for said, want := range map[string][]string{
		`{"findings":[{"id":"rp-filter"},{"id":"forward-drop"}]}`: {"rp-filter", "forward-drop"},
		`{"findings":[]}`: nil,
		`{"findings":[{"id":"a"}],"cells":[{"network":"host","findings":[{"id":"b"}]},{"network":"route","findings":[{"id":"c"},{"id":"d"}]}]}`: {"a", "c", "d"},
	} {
		var got verdict
		if err := got.read([]byte(said), "route", nil); err != nil || !slices.Equal(got.Found, want) {
			t.Errorf("%s: %v, %v; want %v", said, got.Found, err, want)
		}
	}
	if err := new(verdict).read([]byte("Usage:"), "route", nil); err == nil {
		t.Error("what is no verdict is read as one")
	}
}
