package report

import (
	"bytes"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// onPairs is a run on three pairs of machines, one of which was not there.
func onPairs() *result.Result {
	res := few()
	for n, machines := range [][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}} {
		pair := result.MachinePair{Machines: machines, Places: []result.Place{}, Cells: []result.Cell{}, Warnings: []string{}}
		if n == 2 {
			pair.Reason = "reach e: it is not there"
		} else {
			pair.Cells = append(pair.Cells, res.Cells...)
		}
		res.Pairs = append(res.Pairs, pair)
	}
	return res
}

// TestPairsAreShown in a terminal and in Markdown.
func TestPairsAreShown(t *testing.T) {
	var text, marked bytes.Buffer
	if _, err := Answer(&text, onPairs(), Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "answer", text.String(), "of 3 pairs of mach")
	labtest.Contains(t, "answer", text.String(), "Tolls on each pair of machines")
	labtest.Contains(t, "answer", text.String(), "a - b ")
	labtest.Contains(t, "answer", text.String(), "c - d ")
	labtest.Equal(t, "a pair that was not measured is shown", bytes.Contains(text.Bytes(), []byte("e - f")), false)
	if _, err := writeMarkdown(&marked, []*result.Result{onPairs()}, English); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "Markdown", marked.String(), "### Tolls on each pair of machines\n\n- ")
}
