package kernels

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tare/protocol"
	"tare/result"
)

// A machine greets when it waits for its first turn. It is asked to measure a block, and replies
// when it waits again, or it is asked to leave, and writes its result.
const (
	schema    = "tare.kernel/1"
	doMeasure = "measure"
)

// Taker takes a machine's turns: as experiment.Options.Turn, it waits until this machine may
// measure a block. in is what Run writes, out what it reads.
func Taker(in io.Reader, out io.Writer) func(ctx context.Context, done int) (more bool, err error) {
	stream := protocol.NewStream(in, out)
	var waits any = protocol.Greeting{Schema: schema}
	return func(context.Context, int) (bool, error) {
		if err := stream.Write(waits); err != nil {
			return false, fmt.Errorf("say that the machine waits for its turn: %w", err)
		}
		var asked protocol.Request
		if err := stream.Read(&asked); err != nil {
			return false, fmt.Errorf("wait for the machine's turn: %w", err)
		}
		waits = protocol.Reply{ID: asked.ID}
		if asked.Do != doMeasure && asked.Do != protocol.Leave {
			return false, fmt.Errorf("wait for the machine's turn: %w", asked.Unknown("machine"))
		}
		return asked.Do == doMeasure, nil
	}
}

// mostSaid is how much of what a machine says besides is kept, in bytes.
const mostSaid = 4 << 10

// outcome is what a machine has said until it ended, besides its replies.
type outcome struct {
	res  *result.Result  // nil: none
	file strings.Builder // of the result: indented, so that no line inside is a brace alone
	said string
	err  error
}

// keep keeps a line.
func (o *outcome) keep(line string) {
	switch {
	case line == "{" || o.file.Len() > 0 && o.res == nil:
		o.file.WriteString(line + "\n")
		if line == "}" {
			o.res, o.err = result.Read(strings.NewReader(o.file.String()))
		}
	case len(o.said) < mostSaid:
		o.said += line + "\n"
	}
}
