package site

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tare/result"
)

const (
	// reachWait is how long a command may take to reach its place: it may have to ask for a
	// password.
	reachWait = time.Minute
	// uploadWait is how long this program may take there.
	uploadWait = 5 * time.Minute
	// leaveWait is how long a command may take to end once its input has, and removeWait one
	// that removes a container then.
	leaveWait  = 10 * time.Second
	removeWait = 20 * time.Second
	// mostBefore is how many lines may come before ours: a shell may greet.
	mostBefore = 100
	// mostSaid is how much is kept of what a command complained of, in bytes.
	mostSaid = 400
)

// channel is a command with a shell at its far end.
type channel struct {
	far   Far
	mark  string // begins our lines
	in    io.WriteCloser
	out   *bufio.Reader
	said  *complaint
	close func() error // ends the command
}

// shell starts a shell by the command.
func (f Far) shell() (*channel, error) { return f.start("sh") }

// start starts the command, with words besides.
func (f Far) start(besides ...string) (*channel, error) {
	c := &channel{far: f, mark: "tare-" + rand.Text(), said: &complaint{}}
	run, err := f.run(besides, c.said)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", f.Name, err)
	}
	c.in, c.out = &onceClosed{run.in, sync.OnceValue(func() error { return unlessClosed(run.in.Close()) })}, bufio.NewReader(run.out)
	c.close = sync.OnceValue(func() error { return errors.Join(c.leave(run), run.out.Close()) })
	return c, nil
}

// unlessClosed is the error of closing what may be closed already.
func unlessClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// onceClosed may be closed by whoever is done with it.
type onceClosed struct {
	io.Writer
	closed func() error
}

func (o *onceClosed) Close() error { return o.closed() }

// leave ends a command by its input's end, or by force.
func (c *channel) leave(run *reaching) error {
	err, most := c.in.Close(), leaveWait
	if c.far.Direct {
		most = removeWait
	}
	select {
	case status := <-run.ended:
		if said := c.said.String(); status != nil && said != "" {
			status = fmt.Errorf("%w: it said: %s", status, said)
		}
		return errors.Join(err, status)
	case <-time.After(most):
		kill := run.kill()
		status := <-run.ended
		if status == nil { // it ended by itself just before
			return err
		}
		return errors.Join(err, fmt.Errorf("leave %s: %q did not end within %s, and was killed: %w", c.far.Name, c.far.called(), most, status), kill)
	}
}

// say types a line, and waits for the one that begins with the mark, which it gives without.
func (c *channel) say(ctx context.Context, script string) (line string, err error) {
	return c.within(ctx, reachWait, func() (string, error) {
		if _, err := fmt.Fprintf(c.in, "MARK=%s; %s\n", c.mark, script); err != nil {
			return "", err
		}
		return c.await(c.mark)
	})
}

// upload sends a program, and waits until all of it is there: in which file, if that is
// kept.
func (c *channel) upload(ctx context.Context, program string) (kept string, err error) {
	file, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("send tare to %s: %w", c.far.Name, err)
	}
	defer file.Close()
	return c.within(ctx, uploadWait, func() (string, error) {
		if _, err := io.Copy(c.in, file); err != nil {
			return "", err
		}
		if err := c.in.Close(); err != nil {
			return "", err
		}
		return c.await(held)
	})
}

// await reads lines up to the one that begins so, and gives the rest of it.
func (c *channel) await(begins string) (string, error) {
	for range mostBefore {
		line, err := c.out.ReadSlice('\n')
		if rest, ours := strings.CutPrefix(string(line), begins); ours && err == nil {
			return strings.TrimSpace(rest), nil
		}
		if errors.Is(err, io.EOF) {
			return "", errors.New("it ended")
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
	return "", errors.New("it printed what no shell prints")
}

// outcome is what a command answered, or why it did not.
type outcome struct {
	line string
	err  error
}

// within does something with the command, in a time, and gives its answer. The command ends
// where that fails; what it answers after the time is nobody's.
func (c *channel) within(ctx context.Context, most time.Duration, do func() (string, error)) (string, error) {
	done := make(chan outcome, 1)
	go func() {
		line, err := do()
		done <- outcome{line, err}
	}()
	var err error
	select {
	case of := <-done:
		if err = of.err; err == nil {
			return of.line, nil
		}
		if errors.Is(err, unix.EPIPE) || errors.Is(err, os.ErrClosed) { // by what waits for its end
			err = errors.New("it ended")
		}
	case <-time.After(most):
		err = fmt.Errorf("it did not answer for %s", most)
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), c.close())
	}
	return "", c.explain(fmt.Errorf("reach %s by %q: %w", c.far.Name, c.far.called(), err))
}

// explain ends the command, and adds to an error how it ended, or how to look.
func (c *channel) explain(err error) error {
	status, said := c.close(), c.said.String()
	switch {
	case status != nil:
		err = fmt.Errorf("%w: %w", err, status) // which has what it said
	case said != "":
		err = fmt.Errorf("%w: it said: %s", err, said)
	}
	if said == "" && !c.far.Direct {
		err = fmt.Errorf("%w: try it: echo echo it works | %s sh", err, c.far.called())
	}
	return err
}

// complaint is the end of what a command wrote to its standard error.
type complaint struct {
	mu   sync.Mutex
	text []byte
}

func (c *complaint) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, data...)
	c.text = c.text[max(0, len(c.text)-mostSaid):]
	return len(data), nil
}

func (c *complaint) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return result.Plain(string(c.text))
}
