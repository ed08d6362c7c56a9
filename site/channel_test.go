package site

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"tare/test/labtest"
)

// mute is a command that reads what it gets, and says nothing until it is ended.
func mute(t *testing.T) *channel {
	t.Helper()
	theirs, in := io.Pipe()
	out, says := io.Pipe()
	go func() {
		if _, err := io.Copy(io.Discard, theirs); err != nil {
			t.Error(err)
		}
	}()
	return &channel{
		far: Far{Name: "h1", Command: "reach"}, in: in, out: bufio.NewReader(out), said: &complaint{},
		close: func() error { return errors.Join(in.Close(), says.Close()) },
	}
}

// A command that does not answer is ended, and the error says how to look.
func TestCommandThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := mute(t).say(t.Context(), "echo $MARK")
		if err == nil {
			t.Fatal("it answered")
		}
		labtest.Equal(t, "error", err.Error(), `reach h1 by "reach": it did not answer for 1m0s: try it: echo echo it works | reach sh`)
		labtest.Equal(t, "took", time.Since(begun), reachWait)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if _, err := mute(t).say(ctx, "echo $MARK"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an interrupted command: %v", err)
		}
		labtest.Equal(t, "took until it was interrupted", time.Since(begun), time.Second)
	})
}

// A command ends by the end of its input; one that does not, as one that is stopped, is killed.
func TestCommandThatDoesNotEndIsKilled(t *testing.T) {
	for about, c := range map[string]struct {
		direct bool
		most   time.Duration
	}{"a shell": {false, leaveWait}, "one that removes a container": {true, removeWait}} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			run := &reaching{ended: ended, kill: func() error { ended <- errors.New("signal: killed"); return nil }}
			of := mute(t)
			of.far.Direct = c.direct
			begun := time.Now()
			err := of.leave(run)
			labtest.Equal(t, about+": took", time.Since(begun), c.most)
			if err == nil {
				t.Fatal("no error")
			}
			labtest.Equal(t, about, err.Error(), `leave h1: "reach" did not end within `+c.most.String()+`, and was killed: signal: killed`)
		})
	}
}

// A command that ends by itself just before it would be killed has ended well.
func TestCommandThatEndsInTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		run := &reaching{ended: ended, kill: func() error { ended <- nil; return os.ErrProcessDone }}
		if err := mute(t).leave(run); err != nil {
			t.Errorf("error %v", err)
		}
	})
}
