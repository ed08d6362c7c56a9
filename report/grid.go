package report

import (
	"slices"
	"strings"
)

// cell is one field of a grid.
type cell struct {
	text  string
	style style
}

// column is one column of a grid. Its headings may extend over the next columns if
// their headings are empty.
type column struct {
	above      []string // what is above the heading, line by line, in the column's own width
	head, unit string   // the two lines of its heading
	right      bool     // flush right
	joined     bool     // belongs to the column before it, one space away
	cells      []cell
}

// empty reports whether no cell has a text.
func (c column) empty() bool {
	return !slices.ContainsFunc(c.cells, func(c cell) bool { return c.text != "" && c.text != "-" })
}

// filled are the columns with a text, none where the first has none.
func filled(columns ...column) []column {
	if columns[0].empty() {
		return nil
	}
	return slices.DeleteFunc(columns, column.empty)
}

// grid is a table; its first column names the rows.
type grid []column

// add appends a row: the text of each column.
func (g grid) add(texts ...string) {
	for n, text := range texts {
		g[n].cells = append(g[n].cells, cell{text: text})
	}
}

// indent is the room left of every grid.
const indent = 2

// offsets are where the columns begin, and their widths.
func (g grid) offsets() (starts, widths []int, total int) {
	total = indent
	heads, units := 0, 0 // where the headings so far end
	for i, c := range g {
		switch {
		case i == 0:
		case c.joined:
			total++
		default:
			total += 2
		}
		starts = append(starts, total)
		w := 0
		for _, cell := range c.cells {
			w = max(w, width(cell.text))
		}
		for _, line := range c.above {
			w = max(w, width(line))
		}
		if short := width(c.head); short <= 7 {
			w = max(w, short)
		}
		heads, units = max(heads, reach(total, c.head)), max(units, reach(total, c.unit))
		if i+1 == len(g) || g[i+1].head != "" {
			w = max(w, heads-total)
		}
		if i+1 == len(g) || g[i+1].unit != "" {
			w = max(w, units-total)
		}
		widths = append(widths, w)
		total += w
	}
	return starts, widths, total
}

// reach is where a heading ends; 0 for an empty one.
func reach(start int, heading string) int {
	if heading == "" {
		return 0
	}
	return start + width(heading)
}

// width is the number of columns of the terminal that the grid takes.
func (g grid) width() int {
	_, _, total := g.offsets()
	return total
}

// fold splits a grid that is wider than most into several, each with the first
// column, one below the other.
func (g grid) fold(most int) []grid {
	var folded []grid
	part := grid{g[0]}
	for i := 1; i < len(g); {
		end := i + 1
		for end < len(g) && g[end].joined {
			end++
		}
		if len(part) > 1 && append(part[:len(part):len(part)], g[i:end]...).width() > most {
			folded = append(folded, part)
			part = grid{g[0]}
		}
		part = append(part, g[i:end]...)
		i = end
	}
	return append(folded, part)
}

// above is how many lines are above the headings.
func (g grid) above() int {
	most := 0
	for _, c := range g {
		most = max(most, len(c.above))
	}
	return most
}

// print writes the grid, folded where it is too wide.
func (p *page) print(g grid) {
	for i, part := range g.fold(p.columns) {
		if i > 0 {
			p.line("")
		}
		starts, widths, _ := part.offsets()
		heads, units := make([]string, len(part)), make([]string, len(part))
		for i, c := range part {
			heads[i], units[i] = c.head, c.unit
			if c.right && width(c.unit) < widths[i] {
				units[i] = pad(c.unit, widths[i], true)
			}
		}
		for n := range part.above() {
			lines := make([]string, len(part))
			for i, c := range part {
				if n < len(c.above) {
					lines[i] = c.above[n]
				}
			}
			p.headLine(lines, starts)
		}
		p.headLine(heads, starts)
		p.headLine(units, starts)
		for row := range part[0].cells {
			var line strings.Builder
			at := 0
			for i, c := range part {
				line.WriteString(strings.Repeat(" ", starts[i]-at))
				line.WriteString(p.paint(pad(c.cells[row].text, widths[i], c.right), c.cells[row].style))
				at = starts[i] + widths[i]
			}
			p.line(line.String())
		}
	}
}

// headLine writes one line of headings. An empty line is left out.
func (p *page) headLine(texts []string, starts []int) {
	line := ""
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			line = pad(line, starts[i], false) + text
		}
	}
	if line != "" {
		p.line(line)
	}
}

// markdown writes the grid as a table of Markdown.
func (g grid) markdown(b *strings.Builder) {
	line := func(text func(c column) string) {
		for _, c := range g {
			b.WriteString("| " + text(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(func(c column) string { return markdownText(strings.TrimSpace(c.head + " " + c.unit)) })
	line(func(c column) string {
		if c.right {
			return "---:"
		}
		return "---"
	})
	for row := range g[0].cells {
		line(func(c column) string { return markdownText(c.cells[row].text) })
	}
}
