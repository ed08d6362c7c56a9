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

// A way that rules close, and that is open once they are gone, shows that they are enforced.
func TestLabClosedWayIsTried(t *testing.T) {
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
	at("nft 'table inet shut { chain in { type filter hook input priority 0; drop; }; }'")
	way := site.Way{Site: result.SiteEndpoint}
	for _, place := range []string{"h1", "h1/c1", "h1/c2"} {
		way.Places = append(way.Places, site.Far{Name: place, Command: tare + " lab exec --name " + name + " bridge." + place + " --"})
	}
	way.Closed = &site.Closed{What: "rules", Network: "endpoint", From: "h1/c1", To: "h1/c2", Open: func(context.Context) error {
		at("nft delete table inet shut")
		return nil
	}}
	e, err := site.Reach(t.Context(), way, "test")
	if err != nil {
		t.Fatal(err)
	}
	if want := "rules are enforced: h1/c1 reached h1/c2 only when the one that closed it was gone"; !slices.Contains(e.Facts, want) {
		t.Errorf("facts are %s, want %s", strings.Join(e.Facts, "; "), want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
