package report

import (
	"strings"
	"unicode"
)

// clean makes text from a result safe to print: one line, no control or
// formatting characters (a terminal would obey them), no marks that join the
// letter before them.
func clean(text string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar:
			return '?'
		case !unicode.IsPrint(r), unicode.Is(unicode.M, r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(safe), " ")
}

// runeWidth is the number of columns that a terminal may give to a rune.
// Outside the blocks that are surely narrow it errs to two.
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

// clip shortens text to at most so many columns; "…" stands for what is cut.
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

// wrap breaks text at spaces into lines of at most so many columns; a word
// that is longer is broken too. most is 2 or more.
func wrap(text string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && width(line)+1+width(word) <= most {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > most {
			var head string
			head, word = cut(word, most)
			lines = append(lines, head)
		}
		line = word
	}
	return append(lines, line)
}

// pad fills text with spaces to so many columns.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(0, columns-width(text)))
	if right {
		return space + text
	}
	return text + space
}
