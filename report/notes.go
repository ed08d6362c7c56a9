package report

import (
	"slices"
	"strconv"
	"strings"
)

// notes are remarks on single numbers: the mark is next to the number, its text
// below the table. Numbers with the same texts share a mark.
type notes struct {
	legend []string
}

// mark is the mark of a set of texts: "*1", or "" where there is none.
func (n *notes) mark(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	entry := strings.Join(texts, "; ")
	at := slices.Index(n.legend, entry)
	if at < 0 {
		at = len(n.legend)
		n.legend = append(n.legend, entry)
	}
	return "*" + strconv.Itoa(at+1)
}

// annotate marks the numbers of a column with the texts that concern each; nil is a
// cell without a number. What concerns all of them is marked once, on the column's
// unit.
func (n *notes) annotate(c *column, texts [][]string) {
	common := inAll(texts)
	c.unit += n.mark(common)
	marks := make([]string, len(texts))
	widest := 0
	for i, list := range texts {
		marks[i] = n.mark(slices.DeleteFunc(slices.Clone(list), func(text string) bool {
			return slices.Contains(common, text)
		}))
		widest = max(widest, len(marks[i]))
	}
	for i, list := range texts {
		if c.right && list != nil {
			marks[i] = pad(marks[i], widest, false) // keeps the digits in line
		}
		c.cells[i].text += marks[i]
	}
}

// inAll are the texts that are in every list, where there are several; nil
// lists do not count.
func inAll(lists [][]string) []string {
	lists = slices.DeleteFunc(slices.Clone(lists), func(list []string) bool { return list == nil })
	if len(lists) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lists[0]), func(text string) bool {
		return slices.ContainsFunc(lists, func(list []string) bool { return !slices.Contains(list, text) })
	})
}

func (p *page) legend(n *notes) {
	for i, text := range n.legend {
		p.item("  *"+strconv.Itoa(i+1)+" ", text)
	}
}
