package site_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// What closes a way counts as enforced only if that way is closed as long as it is there, and open
// without it.
func TestLabClosedWayShowsWhatIsEnforced(t *testing.T) {
	tare, name := labtest.Tare(t), labName("closed")
	spec := specOf("host", "bridge")
	spec.Clusters[1].Containers = 2
	l := upFrom(t, name, spec)
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	noneLeft(t)
	at := func(line string) {
		if said, status := run(t, l, "bridge.h1/c2", "", line); status != 0 {
			t.Fatalf("%s: status %d: %s", line, status, said)
		}
	}
	const late = "nft 'table inet late { chain in { type filter hook input priority 0; tcp flags syn quota until 150 bytes drop; }; }'"
	const shut = "nft 'table inet shut { chain in { type filter hook input priority 0; drop; }; }'"
	for _, c := range []struct {
		before, open string
		want         string
	}{
		{"true", "true", "rules are not enforced: h1/c1 reached h1/c2, which one of them closed"},
		{late, "true", "rules are not enforced: h1/c1 reached h1/c2, which one of them closed"}, // the first try fails
		{shut, "nft delete table inet shut", "rules are enforced: h1/c1 reached h1/c2 only when the one that closed it was gone"},
		{shut, "true", "whether rules are enforced is not known: h1/c1 reached h1/c2 neither with one that closes it nor without"},
	} {
		at(c.before)
		way := site.Way{Site: result.SiteEndpoint}
		for _, place := range []string{"h1", "h1/c1", "h1/c2"} {
			way.Places = append(way.Places, site.Far{Name: place, Command: tare + " lab exec --name " + name + " bridge." + place + " --"})
		}
		way.Closed = &site.Closed{What: "rules", Network: "endpoint", From: "h1/c1", To: "h1/c2", Open: func(context.Context) error { at(c.open); return nil }}
		e, err := site.Reach(t.Context(), way, "test")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(e.Facts, c.want) {
			t.Errorf("facts are %s, want %s", strings.Join(e.Facts, "; "), c.want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
