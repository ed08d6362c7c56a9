package experiment

import (
	"fmt"
	"strings"
)

// InputError is a plan or a command that is wrong: nothing was built.
type InputError struct{ Text string }

func (e *InputError) Error() string { return e.Text }

// Unknown is the error for a word that is none of the valid ones; it names
// the nearest.
func Unknown(kind, word string, valid []string) error {
	text := fmt.Sprintf("unknown %s %q", kind, word)
	if near, ok := nearest(word, valid); ok {
		text += fmt.Sprintf(": did you mean %q?", near)
	}
	return &InputError{text + " (valid: " + strings.Join(valid, ", ") + ")"}
}

// nearest is the valid word with the least edit distance, if it is near.
func nearest(word string, valid []string) (string, bool) {
	best, least := "", len(word)/2+2
	for _, v := range valid {
		if d := distance(strings.ToLower(word), v); d < least {
			best, least = v, d
		}
	}
	return best, best != ""
}

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
