package diagnosis

import (
	"slices"
	"strings"
	"testing"

	"tare/bench/harness"
	"tare/network/kinds"
	"tare/result"
)

// TestUnusualLabsAreDrawn holds the list, and that 200 labs have all of it: each network without
// anything unusual too, and the same labs each time.
func TestUnusualLabsAreDrawn(t *testing.T) {
	var u unusual
	if err := harness.Data(unusualText, &u); err != nil {
		t.Fatal(err)
	}
	for _, w := range u.Things {
		for _, one := range w.Inject {
			if !slices.Contains([]string{client, server, near, far}, one.At) || one.Script == "" {
				t.Errorf("%s: %q is typed at %q", w.Name, one.Script, one.At)
			}
		}
		if w.Name == "" || len(w.Inject) == 0 {
			t.Errorf("%+v has no name, or nothing to type", w)
		}
	}
	drawn, clean := map[string]bool{}, map[string]bool{}
	for n := range 200 {
		at, things := u.drawn(n)
		if network, known := kinds.Find(at.network()); !known || !network.Serves(at.path()) {
			t.Errorf("no network has the path %q", at)
		}
		if len(things) == 0 {
			clean[at.network()] = true
		}
		names := result.Names(things, func(w wording) string { drawn[w.Name] = true; return w.Name })
		_, again := u.drawn(n)
		if got := result.Names(again, func(w wording) string { return w.Name }); !slices.Equal(got, names) {
			t.Errorf("lab %d has %s, and then %s", n, strings.Join(names, ", "), strings.Join(got, ", "))
		}
	}
	if len(drawn) != len(u.Things) || len(clean) != len(u.On) {
		t.Errorf("%d of %d things were drawn, and %d of %d networks without any", len(drawn), len(u.Things), len(clean), len(u.On))
	}
}
