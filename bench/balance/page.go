package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tare/result"
	"tare/stats"
)

// page is the document.
type page struct {
	flags       []string
	rounds      int
	environment result.Environment
	sections    []section
	truth       *truth // nil: only a plan was weighed
}

// section is one plan as weighed in both designs.
type section struct {
	plan
	of map[string][]figures // by design
}

func (p page) render() string {
	var b strings.Builder
	env := p.environment
	fmt.Fprintf(&b, "# Resolution: how finely tare weighs\n\nWritten by `%s` on %s: Linux %s, %s, %d CPUs, as %s.\n\n",
		p.command(), time.Now().UTC().Format(time.DateOnly), env.Kernel, env.CPUModel, env.CPUs, env.Privilege)
	fmt.Fprintf(&b, `Each plan is weighed with each [design](validity.md#slots) in turn. A half-width is half of the 95 %% interval of a
toll, as a ratio; those of all tolls of the plan and of all rounds are taken together. A/A is one baseline
against the other. A toll is known if its verdict is not inconclusive. Blocks in slots differ by the noise between their
cycles, which longer blocks lessen, and by what a whole block has, such as its new connections: more blocks lessen that.
`)
	for _, s := range p.sections {
		s.render(&b)
	}
	if p.truth != nil {
		p.truth.render(&b)
	}
	return b.String()
}

// render writes the section's table.
func (s section) render(b *strings.Builder) {
	slots, windows := joined(s.of[result.DesignSlots]), joined(s.of[result.DesignWindows])
	fmt.Fprintf(b, "\n## %s\n\n", s.title)
	if len(s.flags) > 0 {
		fmt.Fprintf(b, "`tare run %s`\n\n", strings.Join(s.flags, " "))
	}
	fmt.Fprintf(b, "| | windows | slots |\n|---|---|---|\n| time of a run | %.0f s | %.0f s |\n", windows.took.Seconds(), slots.took.Seconds())
	for n, m := range metrics() {
		if len(slots.tolls[m])+len(windows.tolls[m]) == 0 {
			continue
		}
		name := []string{"throughput", "round trip p50"}[n]
		row(b, name+": half-width of a toll, median", stats.Median(windows.tolls[m]), stats.Median(slots.tolls[m]))
		row(b, name+": the widest", worst(windows.tolls[m]), worst(slots.tolls[m]))
		row(b, name+": A/A, median", stats.Median(windows.aa[m]), stats.Median(slots.aa[m]))
		row(b, name+": A/A, the widest", worst(windows.aa[m]), worst(slots.aa[m]))
		var whole, rest []float64
		for _, s := range slots.spreads[m] {
			whole, rest = append(whole, s.whole), append(rest, s.rest)
		}
		row(b, name+": deviation of a block's toll, median", math.NaN(), stats.Median(whole))
		row(b, name+": what of it is not noise between its cycles", math.NaN(), stats.Median(rest))
	}
	if s.added != "" {
		fmt.Fprintf(b, "| what %s adds to the round trip: half-width, median | %.2f us | %.2f us |\n", s.added, 1e6*stats.Median(windows.added), 1e6*stats.Median(slots.added))
	}
	fmt.Fprintf(b, "| tolls beyond %.0f %% that are known | %d of %d | %d of %d |\n", 100*matters, windows.known, windows.beyond, slots.known, slots.beyond)
	fmt.Fprintf(b, "| tolls that are known | %d of %d | %d of %d |\n", windows.decided, windows.all, slots.decided, slots.all)
	fmt.Fprintf(b, "| baselines that seem to differ from themselves | %d | %d |\n", windows.differs, slots.differs)
}

// row is a line of the table, with ratios as percentages.
func row(b *strings.Builder, name string, windows, slots float64) {
	fmt.Fprintf(b, "| %s | %s | %s |\n", name, percent(windows), percent(slots))
}

func percent(ratio float64) string {
	if math.IsNaN(ratio) {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*ratio)
}

// command is what wrote the page.
func (p page) command() string {
	text := fmt.Sprintf("go run ./bench/balance -rounds %d", p.rounds)
	if len(p.flags) > 0 {
		text += " -- " + strings.Join(p.flags, " ")
	}
	return text
}
