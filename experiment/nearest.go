package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// InputError is a plan or a command that is wrong: nothing was built.
type InputError struct{ Text string }

func (e *InputError) Error() string { return e.Text }

// Unknown is the error for a word that is none of the valid ones. It names those that were meant, if any are near:
// what the field calls so, what the word is a part of, or the nearest by its letters.
func Unknown(kind, word string, valid []string, called ...string) error {
	text, near := Meant(kind, word, valid, called...)
	if !near || len(valid) <= mostListed {
		text += " (valid: " + strings.Join(valid, ", ") + ")"
	}
	return &InputError{text}
}

// Meant is that error's text without the list of the valid words, and whether any of them is near.
func Meant(kind, word string, valid []string, called ...string) (text string, near bool) {
	text = fmt.Sprintf("unknown %s %q", kind, word)
	words := meant(word, valid, called)
	if len(words) == 0 {
		return text, false
	}
	return text + ": did you mean " + quoted(words) + "?", true
}

// mostListed is how many valid words are listed behind one that is near: more would hide it.
const mostListed = 24

// meant are the valid words that may be meant by a word.
func meant(word string, valid, called []string) (near []string) {
	word = strings.ToLower(word)
	for _, v := range valid {
		part := func(of string) bool { return len(word) > 2 && strings.HasPrefix(of, word) }
		if slices.Contains(called, v) || slices.ContainsFunc(strings.FieldsFunc(v, dashed), part) {
			near = append(near, v)
		}
	}
	if best, ok := nearest(word, valid); ok && len(near) == 0 {
		near = append(near, best)
	}
	return near
}

func dashed(r rune) bool { return r == '-' || r == '_' }

// quoted lists words: "a", "b" or "c".
func quoted(words []string) string {
	list := fmt.Sprintf("%q", words)
	list = strings.ReplaceAll(list[1:len(list)-1], `" "`, `", "`)
	if at := strings.LastIndex(list, ", "); at >= 0 {
		list = list[:at] + " or " + list[at+2:]
	}
	return list
}

// nearest is the valid word with the least edit distance, if at most half of the word's letters differ.
func nearest(word string, valid []string) (string, bool) {
	best, least := "", max(2, len(word)/2+1)
	for _, v := range valid {
		if d := distance(word, v); d < least {
			best, least = v, d
		}
	}
	return best, best != ""
}

// distance is the number of letters to change, add, leave out or swap with the next (optimal string alignment), over bytes.
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(row[j]+1, next[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
