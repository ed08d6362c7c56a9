package foreign

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// TestNoPasteMakesOtherNumbers makes pastes of two known outputs: one after the other, mixed behind the names of
// their services, repeated, indented, without a line. What is read has the numbers of the outputs and none
// besides, or is refused.
func TestNoPasteMakesOtherNumbers(t *testing.T) {
	files := rough(t)
	const pastes = 150
	random := rand.New(rand.NewPCG(1, 2))
	for range pastes {
		a, b := files[random.IntN(len(files))], files[random.IntN(len(files))]
		text, other := string(read(t, a)), string(read(t, b))
		alone := append(figures(t, a, text), figures(t, b, other)...)
		for name, paste := range map[string]string{
			"one after the other":  text + other,
			"with a line between":  text + "\n\nAnd the other:\n" + other,
			"repeated":             text + other + text + other,
			"mixed behind names":   alternating(linesOf("app-%s-1  | %s", "a", text), linesOf("app-%s-1  | %s", "b", other)),
			"mixed behind pods":    alternating(linesOf("[pod/%s/run] %s", "a", text), linesOf("[pod/%s/run] %s", "b", other)),
			"indented, with CRLF":  strings.ReplaceAll("\n"+text+other, "\n", "\r\n    "),
			"behind list marks":    "- " + text + "- " + other,
			"in a fence of quotes": "> ```\n> " + strings.ReplaceAll(text, "\n", "\n> ") + "```\n> " + strings.ReplaceAll(other, "\n", "\n> "),
		} {
			if joined()[[2]string{fixture(a), fixture(b)}] || joined()[[2]string{fixture(b), fixture(a)}] || joined()[[2]string{fixture(a), fixture(a)}] || joined()[[2]string{fixture(b), fixture(b)}] {
				continue
			}
			for _, got := range figures(t, name, paste) {
				if !slices.Contains(alone, got) {
					t.Errorf("%s and %s %s: %s, which neither has", filepath.Base(a), filepath.Base(b), name, got)
				}
			}
		}
	}
}

// figures are the runs of a text, each as its tool and metrics; none where it is refused.
func figures(t *testing.T, name, text string) []string {
	t.Helper()
	cells, _ := Read(name, []byte(text))
	return result.Names(cells, func(c result.Cell) string {
		line := c.Mode + " " + c.Workload
		for _, m := range c.Metrics {
			line += fmt.Sprintf(" %s=%.9g", m.Name, m.Value)
		}
		return line
	})
}
