package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"tare/result"
)

// page collects the lines of a report.
type page struct {
	bytes.Buffer
	words
	columns int
	colour  bool
}

// newPage is an empty page as the options want it.
func newPage(opts Options) *page {
	p := &page{words: wordsOf(opts.Lang), columns: maxWidth, colour: opts.Colour}
	if opts.Width > 0 {
		p.columns = min(max(opts.Width, minWidth), maxWidth)
	}
	return p
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

// to writes the page; what names it in the error.
func (p *page) to(w io.Writer, what string) error {
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// title begins a section: a blank line above a strong text.
func (p *page) title(text string) {
	p.line("")
	p.strong(text)
}

// strong prints a text in bold, wrapped.
func (p *page) strong(text string) {
	for _, line := range p.wrap(text, p.columns) {
		p.line(p.paint(line, bold))
	}
}

// wrap makes a text safe and breaks it into lines of at most so many columns.
func (p *page) wrap(text string, columns int) []string {
	return wrap(clip(result.Plain(text), longest), columns, p.language == Chinese)
}

// item prints a wrapped paragraph behind a lead; the lines after the first
// are set in below the text.
func (p *page) item(lead, text string) {
	hang := strings.Repeat(" ", width(lead))
	for _, line := range p.wrap(text, p.columns-width(lead)) {
		p.line(lead + line)
		lead = hang
	}
}
