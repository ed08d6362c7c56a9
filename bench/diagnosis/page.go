package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"tare/probe"
	"tare/stats"
)

// page is the document.
type page struct {
	options
	trials      []trial
	foreign     float64 // CPUs busy with other work before the run; below 0: not known
	interrupted bool
	again       int // trials that were taken again, after a rule or an injection was mended
}

// write writes the page to its file, or to standard output.
func (p page) write() error {
	text := p.render()
	if old, err := os.ReadFile(p.output); err == nil { // the shares are weighed by themselves
		_, shares, _ := sharesIn(string(old))
		before, _, after := sharesIn(text)
		text = before + shares + after
		for line := range strings.SplitSeq(string(old), "\n") {
			if strings.HasPrefix(line, sentenceRow) {
				text = strings.Replace(text, "| time to verdict of `tare doctor`", line+"\n| time to verdict of `tare doctor`", 1)
			}
		}
	}
	switch p.output {
	case "":
		return nil
	case "-":
		_, err := io.WriteString(os.Stdout, text)
		return err
	}
	return os.WriteFile(p.output, []byte(text), 0o644)
}

func (p page) render() string {
	var b strings.Builder
	board := count(p.trials)
	env := probe.Environment("/")
	busy := ""
	if p.foreign >= 0 {
		busy = fmt.Sprintf(",\nof which other work kept %.1f busy before", p.foreign)
	}
	fmt.Fprintf(&b, "# Diagnosis: what tare names, and how often it is right\n\nWritten by `%s` on %s: Linux %s, %s, %d CPUs%s.\n\n",
		p.command(), time.Now().UTC().Format(time.DateOnly), env.Kernel, env.CPUModel, env.CPUs, busy)
	b.WriteString(`Each cause is injected in labs of namespaces, in at least two variants, on two networks where it can occur. A
check that does not involve tare verifies that the symptom is absent before the injection and present after it. Then
tare is called as a user calls it. A verdict is right if it names the cause before all others, in the order in which
tare prints them.

`)
	if p.interrupted {
		b.WriteString("It was interrupted: causes and clean labs without a verdict below were not tested.\n\n")
	}
	if p.again > 0 {
		fmt.Fprintf(&b, "%d of %d trials were repeated after a rule or an injection was corrected; the last attempt counts here.\n\n", p.again, len(p.trials))
	}
	p.summary(&b, board)
	p.causes(&b, board)
	matrix(&b, board)
	p.cleanLabs(&b, board)
	p.failures(&b)
	p.injections(&b)
	return b.String()
}

// command is the call that writes this page again.
func (p page) command() string {
	words := []string{"go run ./bench/diagnosis"}
	for _, f := range []struct{ name, value string }{{"causes", p.options.causes}, {"networks", p.networks}, {"wording", p.wording}} {
		if f.value != "" {
			words = append(words, "-"+f.name+" "+f.value)
		}
	}
	if !p.clean {
		words = append(words, "-clean=false")
	}
	return strings.Join(words, " ")
}

func (p page) summary(b *strings.Builder, board scoreboard) {
	total := board.total()
	b.WriteString("| | | wanted |\n|---|---:|---:|\n")
	fmt.Fprintf(b, "| named first, of all verdicts on injections | %s | 95 %% |\n", share(total.first, total.asked))
	fmt.Fprintf(b, "| named at all | %s | |\n", share(total.found, total.asked))
	fmt.Fprintf(b, "| named first, first variants | %s | |\n", share(board.byWording[0].first, board.byWording[0].asked))
	fmt.Fprintf(b, "| named first, the other variants, which were examined only where they had been missed | %s | |\n", share(board.byWording[1].first, board.byWording[1].asked))
	fmt.Fprintf(b, "| no false finding on a clean lab, apart from what its network costs by itself | %s | 98 %% |\n", share(board.clean.first, board.clean.asked))
	fmt.Fprintf(b, "| fixed by the fix as printed, of those whose fix can be carried out | %s | |\n", share(sum(board.mends), sum(board.fixes)))
	for _, verb := range []string{doctorVerb, runVerb} {
		if took := p.seconds(verb); len(took) > 0 {
			fmt.Fprintf(b, "| time to verdict of `tare %s`: median, maximum | %.1f s, %.1f s | |\n", verb, stats.Median(took), slices.Max(took))
		}
	}
}

// seconds are the times to the verdicts of a verb.
func (p page) seconds(verb string) []float64 {
	var took []float64
	for _, t := range p.trials {
		for _, v := range t.Verdicts {
			if strings.HasPrefix(v.Asked, "tare "+verb) {
				took = append(took, v.Seconds)
			}
		}
	}
	return took
}

func (p page) causes(b *strings.Builder, board scoreboard) {
	b.WriteString("\n## By cause\n\nPrecision: of the verdicts that named it first, those that were right. Recall: of its injections, those that\nwere named first. Fixed: of the injections after which the fix was carried out as printed, those whose\nsymptom was gone afterwards; a fix that must be completed first is not carried out.\n\n")
	b.WriteString("| cause | verdicts | recall | named at all | precision | named first instead | fixed | median time |\n|---|---:|---:|---:|---:|---|---:|---:|\n")
	for _, c := range all() {
		s := board.scores[c.id]
		switch {
		case c.notHere != "":
			fmt.Fprintf(b, "| `%s` | not here | | | | %s | | |\n", c.id, c.notHere)
		case s.asked > 0:
			fmt.Fprintf(b, "| `%s` | %d | %s | %s | %s | %s | %s | %.1f s |\n", c.id, s.asked, share(s.first, s.asked), share(s.found, s.asked),
				share(s.first, board.claims[c.id]), s.instead(c.id), share(board.mends[c.id], board.fixes[c.id]), stats.Median(s.seconds))
		}
	}
}

// matrix shows the causes that were injected by row, and those that were named
// first by column, as the rows number them.
func matrix(b *strings.Builder, board scoreboard) {
	var columns []string
	for _, id := range append(slices.Clone(board.causes), silence, noAnswer) {
		if slices.ContainsFunc(board.causes, func(row string) bool { return board.scores[row].named[id] > 0 }) {
			columns = append(columns, id)
		}
	}
	b.WriteString("\n## Confusion matrix\n\nRows: what was injected. Columns: what was named first, by the number of its row.\n\n| | injected |")
	for _, id := range columns {
		if n := slices.Index(board.causes, id); n >= 0 {
			id = fmt.Sprint(n + 1)
		}
		fmt.Fprintf(b, " %s |", id)
	}
	b.WriteString("\n|---:|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for n, row := range board.causes {
		if board.scores[row].asked == 0 {
			continue
		}
		fmt.Fprintf(b, "| %d | `%s` |", n+1, row)
		for _, id := range columns {
			cell := ""
			if times := board.scores[row].named[id]; times > 0 {
				cell = fmt.Sprint(times)
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteString("\n")
	}
}

func (p page) cleanLabs(b *strings.Builder, board scoreboard) {
	fmt.Fprintf(b, "\n## Clean labs\n\n%s verdicts named nothing beyond what the network costs by itself.\n", share(board.clean.first, board.clean.asked))
	if len(board.alarms) == 0 {
		return
	}
	b.WriteString("\n| network | path | asked | false alarms |\n|---|---|---|---|\n")
	for _, a := range board.alarms {
		fmt.Fprintf(b, "| %s | %s | `%s` | %s |\n", a.network, a.path, a.asked, strings.Join(a.found, ", "))
	}
}

// failures lists the trials and questions without an answer.
func (p page) failures(b *strings.Builder) {
	var rows []string
	for _, t := range p.trials {
		what := cmp.Or(strings.TrimSpace(t.Cause+" "+t.Wording), "clean")
		if t.Error != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s | | %s |", what, t.Network, oneLine(t.Error)))
		}
		for _, v := range t.Verdicts {
			if v.Error != "" {
				rows = append(rows, fmt.Sprintf("| %s | %s | `%s` | %s |", what, t.Network, v.Asked, oneLine(v.Error)))
			}
		}
	}
	var stays []string
	for _, t := range p.trials {
		if why, not := strings.CutPrefix(t.Mended, notMended+": "); not {
			stays = append(stays, fmt.Sprintf("| %s %s | %s | %s |", t.Cause, t.Wording, t.Network, oneLine(why)))
		}
	}
	if len(stays) > 0 {
		fmt.Fprintf(b, "\n## Not fixed\n\nThe fix was carried out as printed and the symptom remained, or it could not be carried out.\n\n| injection | network | why |\n|---|---|---|\n%s\n", strings.Join(stays, "\n"))
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n## Without a verdict\n\nAn injection that could not be made, or had no effect, is in no figure above; a call without an answer\ncounts as not right.\n\n| injection | network | asked | why |\n|---|---|---|---|\n%s\n", strings.Join(rows, "\n"))
	}
}

// injections lists what was done.
func (p page) injections(b *strings.Builder) {
	b.WriteString("\n## What was injected\n\nScripts are typed at the ends of the path, client and server, and at their hosts, near and far, with the words\nof `bench/diagnosis/stage.go`.\n")
	for _, c := range all() {
		fmt.Fprintf(b, "\n### %s\n\n", c.id)
		if c.notHere != "" {
			fmt.Fprintf(b, "Not here: %s.\n", c.notHere)
		}
		for n, w := range c.wordings {
			fmt.Fprintf(b, "%d. **%s**: %s. On %s.\n", n+1, w.name, w.does, onList(w.on))
			for _, one := range w.inject {
				fmt.Fprintf(b, "   - at %s:\n\n     ```sh\n%s\n     ```\n", one.at, indent(one.script, "     "))
			}
		}
	}
}

func onList(on []spot) string {
	var names []string
	for _, at := range on {
		names = append(names, at.network+" "+at.path)
	}
	return strings.Join(names, ", ")
}

// indent gives a script's lines the margin of a page in place of the source's.
func indent(script, margin string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(script, "\n\t "), "\n") {
		lines = append(lines, margin+strings.ReplaceAll(strings.TrimPrefix(line, "\t\t"), "\t", "  "))
	}
	return strings.Join(lines, "\n")
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func share(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d, %.0f %%", part, of, 100*float64(part)/float64(of))
}

func sum(counts map[string]int) int {
	all := 0
	for _, n := range counts {
		all += n
	}
	return all
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" ×%d", n)
}
