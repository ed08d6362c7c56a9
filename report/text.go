package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runeWidth is the number of columns that a terminal may give to a rune.
// Outside the blocks that are surely narrow it errs to two, and each mark of a character
// counts: a line fits on a terminal that knows less than rivo/uniseg does.
func runeWidth(r rune) int {
	switch {
	case r < 0x1100, // the alphabets
		0x1e00 <= r && r <= 0x22ff, // more Latin and Greek, punctuation, arrows, mathematics
		0x2500 <= r && r <= 0x259f: // box drawing
		return 1
	}
	return 2
}

// width is the number of columns that a clean text takes.
func width(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

// clip shortens text to at most so many columns; "…" marks what is cut.
func clip(text string, most int) string {
	if width(text) <= most {
		return text
	}
	head, _ := cut(text, most-1)
	return head + "…"
}

// cut splits text so that its head takes at most so many columns.
func cut(text string, most int) (head, tail string) {
	columns := 0
	for i, r := range text {
		columns += runeWidth(r)
		if columns > most {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// wrap breaks text into lines of at most so many columns: at spaces, and in
// Chinese between its characters too. A unit that is longer than a line is
// broken wherever it must. most is 2 or more.
func wrap(text string, most int, chinese bool) []string {
	var lines []string
	line := ""
	for _, u := range unitsOf(text, chinese) {
		if line != "" && width(line+u.space+u.text) <= most {
			line += u.space + u.text
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(u.text) > most {
			var head string
			head, u.text = cut(u.text, most)
			lines = append(lines, head)
		}
		line = u.text
	}
	return append(lines, line)
}

// unit is a text that is never broken, and the space before it.
type unit struct {
	space, text string
}

// unitsOf are the words of a text. In Chinese a number keeps its per cent sign,
// and a wide mark, which includes its own space, has none behind it.
func unitsOf(text string, chinese bool) []unit {
	var units []unit
	for _, word := range strings.Fields(text) {
		if !chinese {
			units = append(units, unit{" ", word})
			continue
		}
		for i, piece := range piecesOf(word) {
			last := len(units) - 1
			switch {
			case i > 0 || last >= 0 && endsInWideMark(units[last].text):
				units = append(units, unit{"", piece})
			case last >= 0 && strings.HasPrefix(piece, "%"):
				units[last].text += " " + piece
			default:
				units = append(units, unit{" ", piece})
			}
		}
	}
	return units
}

func endsInWideMark(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return runeWidth(last) > 1 && unicode.IsPunct(last)
}

// piecesOf splits a word where a line may end: next to a wide character, but not
// before a mark that ends something or behind one that begins it.
func piecesOf(word string) []string {
	var pieces []string
	begin, before := 0, rune(0)
	for i, r := range word {
		wide := i > 0 && max(runeWidth(before), runeWidth(r)) > 1
		if wide && !unicode.In(r, unicode.Pe, unicode.Pf, unicode.Po) && !unicode.In(before, unicode.Ps, unicode.Pi) {
			pieces = append(pieces, word[begin:i])
			begin = i
		}
		before = r
	}
	return append(pieces, word[begin:])
}

// pad fills text with spaces to so many columns.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(0, columns-width(text)))
	if right {
		return space + text
	}
	return text + space
}
