package agent

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Frames exchanges JSON objects with a peer over its standard input and output. A
// stream between machines may lose or repeat bytes without an error
// (kubernetes/kubernetes#112834, #124571): each message is a line that begins with its number
// from 1 on, its length in bytes and its digest.
type Frames struct {
	in       *bufio.Scanner
	received uint64
	mu       sync.Mutex
	out      io.Writer
	sent     uint64
}

// NewFrames takes both directions of a stream.
func NewFrames(in io.Reader, out io.Writer) *Frames {
	f := &Frames{in: bufio.NewScanner(in), out: out}
	f.in.Buffer(nil, maxLine)
	return f
}

// head is what a message of a number begins with. The digest is of the number too: bytes that
// are lost can join the number of one message and the rest of another.
func head(number uint64, body []byte) []byte {
	numbers := fmt.Appendf(nil, "%d %d ", number, len(body))
	sum := sha256.Sum256(slices.Concat(numbers, body))
	return fmt.Appendf(numbers, "%s ", hex.EncodeToString(sum[:8]))
}

// Write sends one object. Several goroutines may do so at once.
func (f *Frames) Write(v any) error {
	body, err := json.Marshal(v) // without a line break
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	_, err = f.out.Write(append(append(head(f.sent, body), body...), '\n'))
	return err
}

// Read receives one object. At the end of the input the error is io.EOF; where the line is
// not the message that is due it is a MalformedError.
func (f *Frames) Read(v any) error {
	if !f.in.Scan() {
		if err := f.in.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	f.received++
	line := f.in.Bytes()
	words := bytes.SplitN(line, []byte{' '}, 4)
	if len(words) < 4 || !bytes.HasPrefix(line, head(f.received, words[3])) {
		why := "it is no message"
		if f.received > 1 {
			why = fmt.Sprintf("it is not message %d: another program wrote it, or the stream loses, repeats or changes bytes", f.received)
		}
		return &MalformedError{string(line), errors.New(why)}
	}
	if err := json.Unmarshal(words[3], v); err != nil {
		return &MalformedError{string(line), err}
	}
	return nil
}
