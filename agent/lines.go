package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a message of an agent or a line of a server, in bytes.
const maxLine = 16 << 20

// lines exchanges JSON objects with a peer over a connection to a serving port, one a line.
type lines struct {
	in    *bufio.Scanner
	mu    sync.Mutex
	out   io.Writer
	clean func(string) string // is applied to every text that comes; nil: the peer is ours
}

// newLines takes both directions. A line of more than most bytes is an error.
func newLines(in io.Reader, out io.Writer, most int) *lines {
	l := &lines{in: bufio.NewScanner(in), out: out}
	l.in.Buffer(nil, most)
	return l
}

// write sends one object. Several goroutines may do so at once.
func (l *lines) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode line: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(line, '\n'))
	return err
}

// read receives one object. At the end of the input the error is io.EOF; where
// the line is no such object it is a MalformedError.
func (l *lines) read(v any) error {
	if !l.in.Scan() {
		if err := l.in.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	text := l.in.Bytes()
	if l.clean != nil {
		var err error
		if text, err = cleaned(text, l.clean); err != nil {
			return &MalformedError{l.in.Text(), err}
		}
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &MalformedError{l.in.Text(), err}
	}
	return nil
}

// cleaned is a JSON text with all its strings cleaned, names included.
func cleaned(text []byte, clean func(string) string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return clean(v)
		case []any:
			for n := range v {
				v[n] = walk(v[n])
			}
		case map[string]any:
			all := make(map[string]any, len(v))
			for name, one := range v {
				all[clean(name)] = walk(one)
			}
			return all
		}
		return v
	}
	return json.Marshal(walk(v))
}

// MalformedError reports a line that is not the object that was expected.
type MalformedError struct {
	line string
	err  error
}

func (e *MalformedError) Error() string { return fmt.Sprintf("%.60q: %v", e.line, e.err) }

func (e *MalformedError) Unwrap() error { return e.err }
