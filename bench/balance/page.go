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
	plan        []string
	rounds      int
	environment result.Environment
	of          map[string][]figures // by design
}

func (p page) render() string {
	slots, windows := joined(p.of[result.DesignSlots]), joined(p.of[result.DesignWindows])
	var b strings.Builder
	env := p.environment
	fmt.Fprintf(&b, "# Resolution: how finely tare weighs\n\nWritten by `%s` on %s: Linux %s, %s, %d CPUs, as %s.\n\n",
		p.command(), time.Now().UTC().Format(time.DateOnly), env.Kernel, env.CPUModel, env.CPUs, env.Privilege)
	fmt.Fprintf(&b, `The same plan is weighed with each [design](validity.md#slots) in turn. A half-width is half of the 95 %% interval of a
toll, as a ratio; those of all tolls of the plan and of all rounds are taken together. A/A is one baseline
against the other. A toll is known if its verdict is not inconclusive.

| | windows | slots |
|---|---|---|
| time of a run | %.0f s | %.0f s |
`, windows.took.Seconds(), slots.took.Seconds())
	for n, m := range metrics() {
		name := []string{"throughput", "round trip p50"}[n]
		row(&b, name+": half-width of a toll, median", stats.Median(windows.tolls[m]), stats.Median(slots.tolls[m]))
		row(&b, name+": the widest", worst(windows.tolls[m]), worst(slots.tolls[m]))
		row(&b, name+": A/A, median", stats.Median(windows.aa[m]), stats.Median(slots.aa[m]))
		row(&b, name+": A/A, the widest", worst(windows.aa[m]), worst(slots.aa[m]))
	}
	fmt.Fprintf(&b, "| tolls beyond %.0f %% that are known | %d of %d | %d of %d |\n", 100*matters, windows.known, windows.beyond, slots.known, slots.beyond)
	fmt.Fprintf(&b, "| baselines that seem to differ from themselves | %d | %d |\n", windows.differs, slots.differs)
	return b.String()
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
	if len(p.plan) > 0 {
		text += " -- " + strings.Join(p.plan, " ")
	}
	return text
}
