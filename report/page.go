package report

import (
	"bytes"
	"strings"
)

// page collects the lines of a report.
type page struct {
	bytes.Buffer
	columns int
	colour  bool
}

// style is how a piece of text is coloured: an SGR parameter, "" for none.
type style string

const (
	plain  style = ""
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

func (p *page) paint(text string, s style) string {
	if !p.colour || s == plain || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// longest is where a text from a result is cut, in columns.
const longest = 1000

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// title begins a section: a blank line above, bold, wrapped.
func (p *page) title(text string) {
	p.line("")
	for _, line := range wrap(clip(clean(text), longest), p.columns) {
		p.line(p.paint(line, bold))
	}
}

// item prints a wrapped paragraph behind a lead; the lines after the first
// are set in below the text.
func (p *page) item(lead, text string) {
	hang := strings.Repeat(" ", width(lead))
	for _, line := range wrap(clip(clean(text), longest), p.columns-width(lead)) {
		p.line(lead + line)
		lead = hang
	}
}
