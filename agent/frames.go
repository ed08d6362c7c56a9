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
	"strconv"
	"sync"
)

// frames exchanges JSON objects with a peer over an agent's standard input and output. A
// stream between machines may lose or repeat bytes, and nobody reports it
// (kubernetes/kubernetes#112834, #124571): each message is a line that begins with its number
// from 1 on, its length in bytes and its digest.
type frames struct {
	in       *bufio.Reader
	received uint64
	mu       sync.Mutex
	out      io.Writer
	sent     uint64
}

func newFrames(in io.Reader, out io.Writer) *frames {
	return &frames{in: bufio.NewReader(in), out: out}
}

// headMost bounds the words before a message: two numbers and a digest, each with a space.
const headMost = 3 * 21

// write sends one object. Several goroutines may do so at once.
func (f *frames) write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	line := fmt.Appendf(make([]byte, 0, headMost+len(body)+1), "%d %d %s ", f.sent, len(body), digest(body))
	_, err = f.out.Write(append(append(line, body...), '\n'))
	return err
}

// digest is the beginning of a text's SHA-256.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// brokenStreamError reports that bytes were lost, repeated or changed on the way.
type brokenStreamError struct {
	due  uint64 // the number of the message that was due
	what string
}

func (e *brokenStreamError) Error() string {
	return fmt.Sprintf("message %d: %s: its stream loses, repeats or changes bytes", e.due, e.what)
}

// read receives one object. At the end of the input the error is io.EOF; where what comes is
// no message it is a malformedError, and where the message is not whole a brokenStreamError.
func (f *frames) read(v any) error {
	due := f.received + 1
	number, length, sum, err := f.head(due)
	if err != nil {
		return err
	}
	body := make([]byte, length+1)
	if _, err := io.ReadFull(f.in, body); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return &brokenStreamError{due, "the stream ended in the middle of it"}
		}
		return err
	}
	end := body[length]
	body = body[:length]
	switch {
	case end != '\n' || digest(body) != sum:
		return &brokenStreamError{due, fmt.Sprintf("its %d bytes do not have the digest that was sent", length)}
	case number != due:
		return &brokenStreamError{due, fmt.Sprintf("message %d came", number)}
	}
	f.received++
	if err := json.Unmarshal(body, v); err != nil {
		return &malformedError{string(body), err}
	}
	return nil
}

// head reads what is before a message.
func (f *frames) head(due uint64) (number uint64, length int, sum string, err error) {
	head := make([]byte, 0, headMost)
	for words := 0; words < 3; {
		one, err := f.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && len(head) == 0:
			return 0, 0, "", io.EOF
		case errors.Is(err, io.EOF):
			return 0, 0, "", f.noMessage(due, head)
		case err != nil:
			return 0, 0, "", err
		}
		head = append(head, one)
		if one == ' ' {
			words++
		}
		if one == '\n' || len(head) == headMost && words < 3 {
			return 0, 0, "", f.noMessage(due, head)
		}
	}
	words := bytes.Fields(head)
	if len(words) != 3 {
		return 0, 0, "", f.noMessage(due, head)
	}
	number, errNumber := strconv.ParseUint(string(words[0]), 10, 64)
	length, errLength := strconv.Atoi(string(words[1]))
	sum = string(words[2])
	if errNumber != nil || errLength != nil || length < 0 || length > maxLine || len(sum) != hex.EncodedLen(8) {
		return 0, 0, "", f.noMessage(due, head)
	}
	return number, length, sum, nil
}

// noMessage is the error of bytes with which no message begins. The rest of their line is
// read, so that it can be shown.
func (f *frames) noMessage(due uint64, head []byte) error {
	if !bytes.HasSuffix(head, []byte{'\n'}) {
		rest, err := f.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		head = append(head, rest...)
	}
	why := errors.New("it is no message")
	if due > 1 {
		why = errors.New("it is no message: another program wrote it, or the stream loses bytes")
	}
	return &malformedError{string(bytes.TrimSpace(head)), why}
}
