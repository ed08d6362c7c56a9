package page

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Typed is a command line that a document shows.
type Typed struct {
	Line   int    // of the document
	Text   string // as it is shown
	Within bool   // it is named within a sentence, and may be cut short
}

// span is code within a sentence.
var span = regexp.MustCompile("`(tare [^`]+)`")

// TypedIn are the lines of a document's code that hold a command of a program: those of fenced
// and of indented blocks, and what is code within a sentence.
func TypedIn(root, file, program string) ([]Typed, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	begins := regexp.MustCompile(`^(\$ )?(.*[|;&] *)?` + program + ` [a-z-]+( |$)`)
	var all []Typed
	fenced, more := false, false
	for n, line := range strings.Split(strings.ReplaceAll(string(text), "go run ./cmd/"+program, program), "\n") {
		code := strings.TrimSpace(line)
		cut := strings.HasSuffix(code, `\`)
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case more:
			last := &all[len(all)-1]
			last.Text, more = strings.TrimSuffix(last.Text, `\`)+code, cut
		case (fenced || strings.HasPrefix(line, "    ")) && begins.MatchString(code):
			all, more = append(all, Typed{Line: n + 1, Text: strings.TrimPrefix(code, "$ ")}), cut
		case !fenced:
			for _, found := range span.FindAllStringSubmatch(line, -1) {
				all = append(all, Typed{Line: n + 1, Text: found[1], Within: true})
			}
		}
	}
	return all, nil
}

// Command is a program with its arguments, and the file that it writes to.
type Command struct {
	Words []string
	Into  string // "": the terminal
}

// Commands splits a line as a shell does into the commands that it starts. What a command in
// $(...) prints is a star, as in a pattern.
func Commands(line string) []Command {
	var all []Command
	for _, part := range split(line) {
		var c Command
		for n := 0; n < len(part); n++ {
			word := part[n]
			if word == ">" && n+1 < len(part) {
				n++
				c.Into = part[n]
			} else {
				c.Words = append(c.Words, word)
			}
		}
		if len(c.Words) > 0 {
			all = append(all, c)
		}
	}
	return all
}

var (
	token   = regexp.MustCompile(`^(?:'[^']*'|"[^"]*"|\$\([^)]*\)|\\.|[^\s'"|;&<>$\\]|\$)+`)
	printed = regexp.MustCompile(`\$\([^)]*\)`)
	quote   = regexp.MustCompile(`'[^']*'|"[^"]*"|\\.`)
)

// split gives the words of each command of a line.
func split(line string) (parts [][]string) {
	var words []string
	for rest := strings.TrimSpace(line); ; rest = strings.TrimSpace(rest) {
		rest = strings.TrimPrefix(rest, "2>&1")
		if word := token.FindString(rest); word != "" && rest[0] != '#' {
			rest = rest[len(word):]
			word = quote.ReplaceAllStringFunc(printed.ReplaceAllString(word, "*"), func(q string) string {
				if q[0] == '\\' {
					return q[1:]
				}
				return q[1 : len(q)-1]
			})
			words = append(words, word)
			continue
		}
		switch {
		case rest == "" || rest[0] == '#':
			return append(parts, words)
		case rest[0] == '>':
			words, rest = append(words, ">"), strings.TrimLeft(rest, ">")
			continue
		}
		if rest[0] != '<' {
			parts, words = append(parts, words), nil
		}
		rest = rest[1:]
	}
}
