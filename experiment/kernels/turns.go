package kernels

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tare/result"
)

// A machine says that it waits, with how many blocks it has measured; then it receives whether
// to measure one, or to end. Each is a line.
const (
	waits = "tare: waits "
	take  = "take"
	end   = "end"
)

// Taker takes a machine's turns: as experiment.Options.Turn, it waits until this machine may
// measure a block. in is what Run writes, out what it reads.
func Taker(in io.Reader, out io.Writer) func(ctx context.Context, done int) (more bool, err error) {
	lines := bufio.NewScanner(in)
	return func(_ context.Context, done int) (bool, error) {
		if _, err := fmt.Fprintf(out, "%s%d\n", waits, done); err != nil {
			return false, fmt.Errorf("say that the machine waits for its turn: %w", err)
		}
		if !lines.Scan() {
			return false, fmt.Errorf("wait for the machine's turn: its input ended: %w", lines.Err())
		}
		switch word := lines.Text(); word {
		case take, end:
			return word == take, nil
		default:
			return false, fmt.Errorf("wait for the machine's turn: it received %q, not %s or %s", word, take, end)
		}
	}
}

// mostSaid is how much of what a machine says besides is kept, in bytes.
const mostSaid = 4 << 10

// outcome is what a machine has said until it ended.
type outcome struct {
	res  *result.Result // nil: none
	said string         // besides its turns and its result
	err  error
}

// listen reads what a machine says to its end. Each time that it waits, the number of its
// blocks is sent.
func listen(from io.Reader, waiting chan<- int) (h outcome) {
	defer close(waiting)
	var file strings.Builder // of the result: indented, so that no line inside is a brace alone
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		done, isTurn := strings.CutPrefix(line, waits)
		switch {
		case isTurn:
			n, err := strconv.Atoi(strings.TrimSpace(done))
			if err != nil {
				h.err = fmt.Errorf("read the blocks of a machine: %w", err)
				return h
			}
			waiting <- n
		case line == "{\n" || file.Len() > 0 && h.res == nil:
			file.WriteString(line)
			if line == "}\n" {
				if h.res, h.err = result.Read(strings.NewReader(file.String())); h.err != nil {
					return h
				}
			}
		case len(h.said) < mostSaid:
			h.said += line
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				h.err = err
			}
			return h
		}
	}
}
