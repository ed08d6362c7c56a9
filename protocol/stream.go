package protocol

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// MaxMessage bounds a message of a process of ours, in bytes.
const MaxMessage = 16 << 20

// Stream exchanges JSON objects with a peer, one a line.
type Stream struct {
	Clean func(string) string // is applied to every text that comes; nil: the peer is ours
	// Besides receives the lines between messages that are none; nil: such a line is an error.
	Besides func(line string)

	numbered bool
	in       *bufio.Scanner
	cut      bool // the last line has no end
	received uint64
	mu       sync.Mutex
	out      io.Writer
	sent     uint64
}

// NewStream takes both directions of a stream between machines. It may lose or repeat bytes
// without an error (kubernetes/kubernetes#112834, #124571): each message is a line that begins
// with its number from 1 on, its length in bytes and its digest.
func NewStream(in io.Reader, out io.Writer) *Stream {
	s := NewLines(in, out, MaxMessage)
	s.numbered = true
	return s
}

// NewLines takes both directions of a socket, whose messages have nothing before them. One of
// more than most bytes is an error.
func NewLines(in io.Reader, out io.Writer, most int) *Stream {
	s := &Stream{in: bufio.NewScanner(in), out: out}
	s.in.Buffer(nil, most)
	s.in.Split(s.split)
	return s
}

// split is bufio.ScanLines, and sees whether a line has an end.
func (s *Stream) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(data, atEOF)
	s.cut = advance > 0 && data[advance-1] != '\n'
	return advance, line, err
}

// head appends what a message of a number begins with. The digest is of the number too: bytes
// that are lost can join the number of one message and the rest of another.
func head(to []byte, number uint64, body []byte) []byte {
	to = append(strconv.AppendUint(to, number, 10), ' ')
	to = append(strconv.AppendInt(to, int64(len(body)), 10), ' ')
	sum := sha256.New()
	sum.Write(to)
	sum.Write(body)
	return append(hex.AppendEncode(to, sum.Sum(nil)[:8]), ' ')
}

// mostHead is how long a message's beginning is at most, in bytes.
const mostHead = 20 + 20 + 16 + 3

// Write sends one object. Several goroutines may do so at once.
func (s *Stream) Write(v any) error {
	body, err := json.Marshal(v) // without a line break
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	line := make([]byte, 0, mostHead+len(body)+1)
	if s.numbered {
		s.sent++
		line = head(line, s.sent, body)
	}
	_, err = s.out.Write(append(append(line, body...), '\n'))
	return err
}

// Read receives one object. At the end of the input the error is io.EOF; where the line is
// not the message that is due it is a MalformedError.
func (s *Stream) Read(v any) error {
	var body []byte
	var err error
	for ok := false; !ok; ok = err == nil || s.Besides == nil {
		if !s.in.Scan() {
			return cmp.Or(s.in.Err(), io.EOF)
		}
		if body, err = s.message(s.in.Bytes()); err != nil && s.Besides != nil {
			s.Besides(s.in.Text())
		}
	}
	if err == nil && s.Clean != nil {
		body, err = cleaned(body, s.Clean)
	}
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		return &MalformedError{s.in.Text(), err}
	}
	return nil
}

// message is the body of a line that is the next message.
func (s *Stream) message(line []byte) ([]byte, error) {
	switch {
	case s.cut:
		return nil, io.ErrUnexpectedEOF
	case !s.numbered:
		return line, nil
	}
	if words := bytes.SplitN(line, []byte{' '}, 4); len(words) == 4 {
		if body := words[3]; bytes.HasPrefix(line, head(make([]byte, 0, mostHead), s.received+1, body)) {
			s.received++
			return body, nil
		}
	}
	if s.received == 0 {
		return nil, errors.New("it is no message")
	}
	return nil, fmt.Errorf("it is not message %d: another program wrote it, or the stream loses, repeats or changes bytes", s.received+1)
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
	Line string
	Err  error
}

func (e *MalformedError) Error() string { return fmt.Sprintf("%.60q: %v", e.Line, e.Err) }

func (e *MalformedError) Unwrap() error { return e.Err }
