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
	begun  string // what only this run of a document has: its cookie, or when it began
}

// ofRun finds what only one run has.
var ofRun = expressionOf(`"(?:cookie|start|StartTime|earliest)"\s*:\s*"([^"]+)"`)

// splitter assigns the lines of a text to the tools that claim them. Lines that none claims
// stay with those before them, those of tools that are not read are left out.
type splitter struct {
	all    []parser
	parts  []part
	owner  *parser // whose the lines before are, nil: nobody's
	at     int     // the owner's part
	first  int     // the first part after a document
	free   int     // the first line that nobody has
	others *others
	aside  bool // the lines before are of a tool that is not read
}

// split takes all lines.
func (s *splitter) split(lines []string) {
	s.owner, s.first, s.free, s.aside = nil, len(s.parts), 0, false
	var docs documents
	for n := 0; n < len(lines); {
		if doc, after, rest, cut := docs.at(lines, n); doc != nil {
			if p, ok := ofDocument(s.all, doc, cut); ok {
				if rest != "" {
					lines[after] = rest
				}
				s.parts = append(s.parts, p)
				s.owner, s.first, n, s.free, s.aside = nil, len(s.parts), after, after, false
				continue
			}
		}
		s.take(lines, n)
		n++
	}
}

// take gives a line to whom it belongs.
func (s *splitter) take(lines []string, n int) {
	own := none
	if s.owner != nil {
		own = s.owner.claim(lines[n:])
	}
	other, most := s.claimant(lines[n:], max(own, shared))
	marked := own != certain && most != certain && s.others.meet(lines[n])
	switch {
	case marked, s.aside && max(own, most) <= ending:
		s.aside, s.free = true, n+1
		return
	case own != certain && other != nil:
		s.open(other, lines, n)
	case s.owner == nil:
		return
	}
	s.aside = false
	s.others.meetOwn(s.parts[s.at].parser.tool, lines[n])
	s.parts[s.at].lines = append(s.parts[s.at].lines, lines[n])
}

// open begins a part with a line, and with those before it that nobody has and that may be
// its tool's; or goes on with the part of the tool in whose midst another printed something.
func (s *splitter) open(p *parser, lines []string, n int) {
	s.at = len(s.parts)
	for at := s.first; at < len(s.parts); at++ {
		if s.parts[at].parser.tool == p.tool {
			s.at = at
		}
	}
	if s.at == len(s.parts) {
		s.parts = append(s.parts, part{parser: *p})
	}
	part := &s.parts[s.at]
	for at := s.free; s.owner == nil && at < n; at++ {
		if p.claim(lines[at:]) != none {
			part.lines = append(part.lines, lines[at])
		}
	}
	s.owner = p
}

// claimant is the parser, but the owner, that claims a line more surely than so.
func (s *splitter) claimant(ahead []string, most claim) (best *parser, surest claim) {
	for n := range s.all {
		if p := &s.all[n]; s.owner == nil || p.tool != s.owner.tool {
			if c := p.claim(ahead); c > most {
				best, most = p, c
			}
		}
	}
	return best, most
}

// ofDocument finds the parser of a JSON document.
func ofDocument(all []parser, doc []byte, cut bool) (part, bool) {
	for _, p := range all {
		if p.document == nil {
			continue
		}
		if cells, mine := p.document(doc, cut); mine {
			return part{parser: p, cells: cells, begun: begunOf(doc)}, true
		}
	}
	return part{}, false
}

// begunOf is what only one run has, "" where a document has none.
func begunOf(doc []byte) string {
	if m := ofRun.FindStringSubmatch(string(doc)); m != nil {
		return m[1]
	}
	return ""
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

// soon reports whether the pattern is found in one of the next lines.
func soon(ahead []string, pattern expression) bool {
	const within = 12 // lines: a run shows whose it is in its first
	return slices.ContainsFunc(ahead[1:min(len(ahead), within)], pattern.MatchString)
}

// sure makes a certainty a claim.
func sure(mine bool) claim {
	if mine {
		return certain
	}
	return none
}

// maybe makes a possibility a claim: other tools print such lines too.
func maybe(mine bool) claim {
	if mine {
		return shared
	}
	return none
}
