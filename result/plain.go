package result

import (
	"strings"
	"unicode"
)

// Plain makes text from elsewhere safe to print: one line, no control or
// formatting characters (a terminal would obey them), no marks that join the
// letter before them.
func Plain(text string) string {
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
