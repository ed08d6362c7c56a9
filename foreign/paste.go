package foreign

import (
	"bytes"
	"encoding/binary"
	"html"
	"io"
	"mime/quotedprintable"
	"strings"
	"unicode"
	"unicode/utf16"
)

var (
	// colour is an SGR escape; pastes often lose its first byte.
	colour  = expressionOf(`\x1b\[[0-9;?]*[A-Za-z]|\[[0-9]+(?:;[0-9]+)*m`)
	newline = expressionOf(`\r*(?:<br ?/?>)?\r*\n|<br ?/?>|\r+`)
	entity  = expressionOf(`&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);`)
	mark    = expressionOf(`^\s*(?:#+|>+|//+|\||[-*+•])(?:\s|$)\s*`)
	// glued is a mark without a blank after it, before what only output begins with.
	glued = expressionOf(`^\s*(?:#+|>+|//+|\|)(\[\s*(?:\*?\s*\d+|SUM|ID)\s*\]|\{|\})`)
	// stamp is the time before each line, as kubectl logs, iperf3 --timestamps, the files of a CRI and GitLab's jobs write it.
	stamp = expressionOf(`^\s*(?:\d{13}(?:\d{3}|\d{6})?|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*(?: std(?:out|err) [FP]| \d\d[OE]\+?)?|(?:[A-Z][a-z]{2} )?\p{L}{3,4}\.? [ \d]?\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?: \d{4})?|` +
		`\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\])(?:\s+|$)`)
	// job is the names of a job and its step, as gh run view --log has them before the time.
	job = expressionOf(`(?m)^[^\t\n]+\t[^\t\n]+\t\x{FEFF}?(\d{4}-\d\d-\d\dT\S+ ?)`)
	tag = expressionOf(`</?(?:pre|code|span|p|div|td|tr|strong|font)(?: [^<>]*)?>`)
	// bold is Markdown's, around words or numbers.
	bold = expressionOf(`(^|[\s=(])\*\*([^\s*](?:[^*]*[^\s*])?)\*\*`)
	// inCell is a line that is a cell of a table, or boxed.
	inCell = expressionOf(`^\s*\|( .*\S)\s*\|\s*$`)
	elided = expressionOf(`^\s*(?:\.{3,}|…+|(?:\.\s){2,}\.)\s*$`)
)

// clean takes off what a paste adds to a log: encodings, colours, comment
// marks, line numbers. It returns the lines that remain.
func clean(data []byte) []string {
	text := registered(colour.ReplaceAllString(mailed(decode(data)), ""))
	if strings.ContainsAny(text, "\r<") {
		text = newline.ReplaceAllString(text, "\n")
	}
	text = tag.ReplaceAllString(job.ReplaceAllString(text, "$1"), "")
	if entity.MatchString(text) {
		text = html.UnescapeString(text)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.Map(plain, text), "\n") {
		lines = append(lines, logged(line)...)
	}
	return unquote(lines)
}

// unquote takes off what comes before the lines: comment marks, times, line numbers.
func unquote(lines []string) []string {
	for range nesting {
		for n := range lines {
			lines[n] = unmark(inCell.ReplaceAllString(lines[n], "$1"))
		}
		if !unnumber(lines) {
			break
		}
	}
	var kept []string
	for _, line := range lines {
		line = strings.Trim(bold.ReplaceAllString(unmark(line), "$1$2"), " `")
		if !strings.Contains(line, `"`) {
			line = strings.Trim(note.ReplaceAllString(line, ""), " `")
		}
		if !elided.MatchString(line) {
			for _, piece := range ungluedLoad(pointed(line)) {
				for _, row := range unglued(strings.TrimSpace(piece)) {
					kept = rejoined(kept, row)
				}
			}
		}
	}
	return kept
}

// nesting is how many times a log may have been numbered and quoted.
const nesting = 3

// unmark takes off comment and quotation marks, "# > ", "// ", "| ", and the
// time before a line.
func unmark(line string) string {
	for {
		at := mark().FindStringIndex(line)
		if at == nil {
			at = stamp().FindStringIndex(line)
		}
		if at == nil {
			return glued.ReplaceAllString(line, "$1")
		}
		line = line[at[1]:]
	}
}

// note is an arrow at the end of a line, and what somebody wrote behind it.
var note = expressionOf(`\s+(?:[←‹]|<[-=]).*$`)

// mailed is the text of a mail as it was before it was sent: as quoted-printable each = is =3D, and
// a line that ends in = goes on in the next (RFC 2045).
func mailed(text string) string {
	const several = 3
	if strings.Count(text, "=3D") < several || !strings.Contains(text, "=\n") && !strings.Contains(text, "=\r\n") {
		return text
	}
	decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(text)))
	if err != nil {
		return text
	}
	return string(decoded)
}

// decode returns the text of UTF-8 or, as Windows shells write it, of UTF-16
// with a byte order mark.
func decode(data []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return strings.ToValidUTF8(string(data), "?")
	}
	var units []uint16
	for at := 2; at+1 < len(data); at += 2 {
		units = append(units, order.Uint16(data[at:]))
	}
	return string(utf16.Decode(units))
}

// plain makes every blank a space and drops what has no width.
func plain(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
		return -1
	}
	return r
}
