// Package foreign reads what other tools print and makes each run of theirs a
// cell of a result.
//
//   - foreign.go: Read, and the list of the tools
//   - paste.go, numbering.go, wrapped.go, ansible.go, load_glued.go: take off what a paste adds to a log
//   - services.go: the lines of each service that printed into one log
//   - split.go, document.go, command.go: whose line, document or command it is
//   - not_read.go: lines in the midst of a run that its tool does not print
//   - unread.go: the tools that are known, and not read
//   - twice.go: a run that was printed twice is one
//   - cell.go, units.go: a run becomes a cell, in SI units
//   - one file per tool; iperf_row.go is what iperf 2 and iperf3 share
//   - iperf3_document.go: the model of iperf3's JSON, also for those who write it
//
// A number is taken only where the text has it. What a format does not hold is
// nil in the cell's params, and no metric.
package foreign

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// parser reads the output of one tool.
type parser struct {
	tool string
	// hints are words of which every line that is claimed holds one, so that
	// most lines are passed over quickly.
	hints []string
	// claims reports how surely the first of the lines, which is no command, is this
	// tool's; those after it are there to look ahead.
	claims func(ahead []string) claim
	// text reads lines of which this tool claimed some: a cell per run.
	text func(lines []string) []result.Cell
	// document reads a JSON document, nil where the tool writes none. It returns
	// false for a document of another tool.
	document func(doc []byte, cut bool) (cells []result.Cell, mine bool)
}

// claim is how sure a parser is that a line is its tool's.
type claim int

const (
	none    claim = iota
	shared        // other tools print it too: it continues a run, and begins none
	ending        // as shared, but it may be all that was pasted of a run of a tool that is read
	weak          // it may be another's of these tools
	certain       // it can be no other tool's
)

// parsers are the tools that can be read.
func parsers() []parser {
	return []parser{
		{"iperf3", hintsIperf3(), claimsIperf3, readIperf3, readIperf3JSON},
		{"iperf", hintsIperf2(), claimsIperf2, readIperf2, nil},
		{"qperf", hintsQperf(), claimsQperf, readQperf, nil},
		{"sockperf", hintsSockperf(), claimsSockperf, readSockperf, nil},
		{"wrk", hintsWrk(), claimsWrk, readWrk, nil},
		{"autocannon", hintsAutocannon(), claimsAutocannon, readAutocannon, readAutocannonJSON},
		{"sysbench", hintsSysbench(), claimsSysbench, readSysbench, nil},
		{"netperf", hintsNetperf(), claimsNetperf, readNetperf, nil},
		{"ping", hintsPing(), claimsPing, readPing, nil},
		{"h2load", hintsH2load(), claimsH2load, readH2load, nil},
		{"fortio", nil, nil, nil, readFortioJSON},
		{"ghz", nil, nil, nil, readGhzJSON},
		{"k6", nil, nil, nil, readK6JSON},
		{"memtier_benchmark", nil, nil, nil, readMemtierJSON},
		{"vegeta", nil, nil, nil, readVegetaJSON},
		{"containerd-stress", hintsStress(), claimsStress, readStress, readStressJSON},
	}
}

// Tools names the tools whose output Read understands.
func Tools() []string {
	return result.Names(parsers(), func(p parser) string { return p.tool })
}

// Read returns a cell for each run in the output of one or more tools, in the
// order of the text. The name of the text is used in errors only. Text without
// a run is an error that carries its first line, and names the tool where it is known.
func Read(name string, data []byte) ([]result.Cell, error) {
	lines := clean(data)
	s := splitter{all: parsers(), others: newOthers()}
	for _, paste := range services(lines, s.all) {
		s.split(paste)
	}
	var runs []found
	for _, p := range s.parts {
		if what := mixed(p.lines); what != "" {
			return nil, fmt.Errorf("read %s: %s: give the output of each run by itself", name, what)
		}
		cells := p.cells
		if cells == nil {
			cells = p.parser.text(p.lines)
			p.sayNotRead(cells)
			if len(runs) > 0 && endsRun(runs[len(runs)-1], p.parser.tool, cells) {
				continue
			}
		}
		for _, c := range cells {
			runs = append(runs, found{c, p.cells != nil, p.begun})
		}
	}
	cells, others := once(runs), s.others.names()
	switch {
	case len(cells) > 0:
		if others != "" {
			caution(&cells[len(cells)-1], "beside it is "+others)
		}
		return cells, nil
	case others != "":
		return nil, fmt.Errorf("read %s: this is %s: %q: give the output of %s", name, others, firstLine(lines), strings.Join(Tools(), ", "))
	case len(s.parts) > 0:
		return nil, fmt.Errorf("read %s: this is %s's, but without a run in it: %q: %s",
			name, s.parts[len(s.parts)-1].parser.tool, firstLine(lines), remedy(lines))
	case firstLine(lines) == "":
		return nil, fmt.Errorf("read %s: it is empty: give the output of %s", name, strings.Join(Tools(), ", "))
	}
	return nil, fmt.Errorf("read %s: no tool's output: %q: give the output of %s", name, firstLine(lines), strings.Join(Tools(), ", "))
}

// remedy is how a text without a run would have one.
func remedy(lines []string) string {
	const long = 300 // no line of these tools
	if slices.ContainsFunc(lines, func(line string) bool { return len(line) > long }) {
		return "its line ends are lost: give the lines as the tool printed them"
	}
	return "run it to its end, and give all that it printed"
}

// ReadRun returns the first run in the output of one tool. A run that failed is
// an error with the tool's own words, and what affects all of it.
func ReadRun(tool string, data []byte) (result.Cell, error) {
	cells, err := Read(tool, data)
	if err != nil {
		return result.Cell{}, err
	}
	if c := cells[0]; c.Status != result.StatusOK {
		return result.Cell{}, fmt.Errorf("%s: %s", tool, strings.Join(append([]string{c.Reason}, c.Samples[0].Warnings...), "; "))
	}
	return cells[0], nil
}

// firstLine is the first that is not blank, shortened.
func firstLine(lines []string) string {
	const most = 80
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			if runes := []rune(line); len(runes) > most {
				return string(runes[:most]) + "…"
			}
			return line
		}
	}
	return ""
}
