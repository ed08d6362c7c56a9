package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a line of an agent or of a server, in bytes.
const maxLine = 16 << 20

// lines exchanges JSON objects with a peer, one a line: over an agent's
// standard input and output, or over a connection to a serving port. How
// messages are framed is known here alone.
type lines struct {
	in  *bufio.Scanner
	mu  sync.Mutex
	out io.Writer
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
// the line is no such object it is a malformedError.
func (l *lines) read(v any) error {
	if !l.in.Scan() {
		if err := l.in.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	if err := json.Unmarshal(l.in.Bytes(), v); err != nil {
		return &malformedError{l.in.Text(), err}
	}
	return nil
}

// malformedError reports a line that is not the object that was expected.
type malformedError struct {
	line string
	err  error
}

func (e *malformedError) Error() string { return fmt.Sprintf("%.60q: %v", e.line, e.err) }

func (e *malformedError) Unwrap() error { return e.err }
