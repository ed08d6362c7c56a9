package result

import (
	"bytes"
	"strings"
	"testing"

	"tare/test/labtest"
)

// TestReadFirst: a result that tare 0.1 wrote keeps all that it says, and is written in today's format.
func TestReadFirst(t *testing.T) {
	res, err := ReadFile("testdata/first.json")
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "schema", res.Schema, Schema)
	for name, cells := range map[string][]Cell{"cells": res.Cells, "twin": res.Kernels.Twin, "cells of a pair": res.Pairs[0].Cells} {
		if len(cells) == 0 || len(cells[0].Clusters) == 0 || cells[0].Network != BaselineName {
			t.Errorf("%s: %+v", name, cells)
		}
	}
	titles := strings.Join(Names(res.Comparisons, func(c Comparison) string { return c.Title }), "\n")
	labtest.Equal(t, "comparisons", titles, strings.Join([]string{
		"ip: IPv6 against IPv4", "with: conntrack -E against without", "kernel: 6.12 against 6.1", "path: each against same-host",
	}, "\n"))
	labtest.Equal(t, "a change", res.Comparisons[0].Cells[0].Metrics[0].Change.Value, 0.1)
	path := res.Comparisons[3]
	labtest.Equal(t, "judged", path.Judged, JudgedByNothing)
	labtest.Equal(t, "metrics on the path", len(path.Cells[0].Metrics), 2)
	labtest.Equal(t, "how much worse the path is", path.Cells[0].Metrics[1].Change.Value, 1.5)

	var text bytes.Buffer
	if err := res.Write(&text); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "comparisons once more", len(again.Comparisons), 4)
	labtest.Equal(t, "clusters once more", len(again.Kernels.Twin[0].Clusters), len(res.Kernels.Twin[0].Clusters))
	for _, gone := range []string{`"underlays"`, `"ip_versions"`, `"references"`, `"compared"`} {
		labtest.Equal(t, gone+" is written", strings.Contains(text.String(), gone), false)
	}
}
