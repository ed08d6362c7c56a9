package foreign

import (
	"bytes"
	"encoding/json"
	"strings"
)

// documents finds JSON documents among the lines of a text. What is
// never closed is searched to the end; after many of these it gives up.
type documents struct {
	futile int
	past   int // the line after the stream of events that was found last
}

// nothing is a number that a division by zero left, as C prints it and as JavaScript does.
var nothing = expressionOf(`([:\[,]\s*)-?(?:nan|inf(?:inity)?|NaN|Infinity)(\s*(?:[,\]}]|$))`)

// mostFutile bounds the time that a text full of braces takes.
const mostFutile = 20

// at finds the object that begins in a line, or the lines of a stream of
// objects. after is the line that follows it, rest what its last line has behind it, where that begins another.
// A document whose end is missing is closed where it last was whole: cut.
func (d *documents) at(lines []string, at int) (doc []byte, after int, rest string, cut bool) {
	start := bare(lines[at])
	if d.futile >= mostFutile || !object.MatchString(start) {
		return nil, at, "", false
	}
	if at >= d.past { // else it is of a stream that nobody took
		if doc, after := streamAt(lines, at); doc != nil {
			d.past = after
			return doc, after, "", false
		}
	}
	text := []byte(start)
	depth := scanner{}
	n := at
	for ; n < len(lines); n++ {
		if n > at && begins(lines[n:]) {
			break
		}
		if n > at {
			text = append(append(text, '\n'), lines[n]...)
		}
		if end, whole := depth.feed(text); whole {
			if doc = valid(text[:end]); doc != nil {
				if rest = bare(string(text[end:])); object.MatchString(rest) {
					return doc, n, rest, false
				}
				return doc, n + 1, "", false
			}
			return nil, at, "", false
		}
	}
	d.futile++
	if closed := valid(depth.close(text)); closed != nil {
		return closed, n, "", true
	}
	return nil, at, "", false
}

// valid is a text that is JSON, or would be but for numbers that are none, which are null
// then; else nil.
func valid(text []byte) []byte {
	if text == nil || json.Valid(text) {
		return text
	}
	if fixed := nothing().ReplaceAll(text, []byte("${1}null$2")); json.Valid(fixed) {
		return fixed
	}
	return nil
}

// bare is a line without what may come before an object: the bracket of a
// list of them, or the number of a line that was too alone to be unnumbered.
func bare(line string) string {
	return lead.ReplaceAllString(line, "{")
}

var lead = expressionOf(`^\s*(?:\d+[:|.)]?)?[\s\[,]*\{`)

// object is how every JSON object begins that is not empty.
var object = expressionOf(`^\{\s*(?:"|$)`)

// begins reports whether the first of the lines begins something new, so that a
// document before it that is not whole was cut.
func begins(lines []string) bool {
	_, isCommand := commandIn(lines[0])
	return isCommand || len(lines) > 1 && lines[0] == "{" && headOfIperf3.MatchString(lines[1])
}

var headOfIperf3 = expressionOf(`^"start"\s*:\s*\{`)

// scanner follows the brackets of a growing text.
type scanner struct {
	read     int    // bytes looked at
	open     []byte // closing brackets that are due
	inString bool
	escaped  bool
	whole    int    // bytes up to which all values are whole
	due      []byte // closing brackets that are due there
}

// feed scans what is new, and returns the end of the document once its last
// bracket is closed.
func (s *scanner) feed(text []byte) (end int, whole bool) {
	for ; s.read < len(text); s.read++ {
		c := text[s.read]
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = c == '\\'
			s.inString = c != '"'
		case c == '"':
			s.inString = true
		case c == '{':
			s.open = append(s.open, '}')
		case c == '[':
			s.open = append(s.open, ']')
		case c == '}' || c == ']':
			if len(s.open) == 0 || s.open[len(s.open)-1] != c {
				return 0, true // not JSON: what calls asks whether it is valid
			}
			s.open = s.open[:len(s.open)-1]
			if len(s.open) == 0 {
				return s.read + 1, true
			}
			s.mark(s.read + 1)
		case c == ',':
			s.mark(s.read)
		}
	}
	return 0, false
}

// mark notes that all values before at are whole.
func (s *scanner) mark(at int) {
	s.whole, s.due = at, append(s.due[:0], s.open...)
}

// close ends the text where it last was whole.
func (s *scanner) close(text []byte) []byte {
	if s.whole == 0 {
		return nil
	}
	closed := bytes.Clone(text[:s.whole])
	for n := len(s.due) - 1; n >= 0; n-- {
		closed = append(closed, s.due[n])
	}
	return closed
}

// streamed is a line of a stream of events, as iperf3 --json-stream writes it.
type streamed struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// streamAt makes the document that a stream of events adds up to: the events
// from a start, or from the first that is left, to an end.
func streamAt(lines []string, at int) (doc []byte, after int) {
	whole := map[string]any{}
	var intervals []json.RawMessage
	n := at
loop:
	for ; n < len(lines); n++ {
		var e streamed
		line := strings.TrimSpace(bare(lines[n]))
		switch {
		case line == "":
			continue
		case json.Unmarshal([]byte(line), &e) != nil || e.Event == "" || e.Data == nil:
			break loop
		case e.Event == "interval":
			intervals = append(intervals, e.Data)
		case e.Event == "start" && (len(whole) > 0 || len(intervals) > 0):
			break loop
		default:
			whole[e.Event] = e.Data
		}
		if e.Event == "end" {
			n++
			break
		}
	}
	if len(whole) == 0 && len(intervals) == 0 {
		return nil, at
	}
	if _, found := whole["start"]; !found {
		whole["start"] = struct{}{}
	}
	whole["intervals"] = append([]json.RawMessage{}, intervals...)
	doc, err := json.Marshal(whole)
	if err != nil {
		return nil, at
	}
	return doc, n
}
