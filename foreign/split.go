package foreign

import (
	"slices"
	"strings"

	"tare/result"
)

// part is what one tool printed: lines, or the cells of a JSON document.
type part struct {
	parser parser
	lines  []string
	cells  []result.Cell
}

// split assigns the lines to the tools that claim them. Lines that none claims
// stay with those before them.
func split(lines []string) []part {
	all := parsers()
	var parts []part
	var docs documents
	for n := 0; n < len(lines); {
		if doc, after, cut := docs.at(lines, n); doc != nil {
			if p, ok := ofDocument(all, doc, cut); ok {
				parts = append(parts, p)
				n = after
				continue
			}
		}
		owner := -1
		if last := len(parts) - 1; last >= 0 && parts[last].cells == nil {
			owner = last
		}
		if p := claimant(all, lines[n:], parts, owner); p != nil {
			parts = append(parts, part{parser: *p})
			owner = len(parts) - 1
		}
		if owner >= 0 {
			parts[owner].lines = append(parts[owner].lines, lines[n])
		}
		n++
	}
	return parts
}

// claimant is the parser that takes over with this line, nil where the part
// before goes on.
func claimant(all []parser, ahead []string, parts []part, owner int) *parser {
	own := none
	if owner >= 0 {
		own = parts[owner].parser.claim(ahead)
	}
	if own == certain {
		return nil
	}
	var best *parser
	most := own
	for n := range all {
		if owner >= 0 && all[n].tool == parts[owner].parser.tool {
			continue
		}
		if c := all[n].claim(ahead); c > most {
			best, most = &all[n], c
		}
	}
	return best
}

// ofDocument finds the parser of a JSON document.
func ofDocument(all []parser, doc []byte, cut bool) (part, bool) {
	for _, p := range all {
		if p.document == nil {
			continue
		}
		if cells, mine := p.document(doc, cut); mine {
			return part{parser: p, cells: cells}, true
		}
	}
	return part{}, false
}

// claim asks whether the first of the lines is the parser's.
func (p parser) claim(ahead []string) claim {
	if !slices.ContainsFunc(p.hints, func(word string) bool { return strings.Contains(ahead[0], word) }) {
		return none
	}
	if c, ok := commandIn(ahead[0]); ok {
		return sure(c.tool == p.tool || c.tool == p.tool+"2") // wrk2 is wrk's
	}
	return p.claims(ahead)
}

// matchesAny reports whether one of the patterns is found in a line.
func matchesAny(line string, patterns ...expression) bool {
	return slices.ContainsFunc(patterns, func(p expression) bool { return p.MatchString(line) })
}

// sure makes a certainty a claim.
func sure(mine bool) claim {
	if mine {
		return certain
	}
	return none
}
