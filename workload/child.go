package workload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// quotedLines is how many of its last lines an error quotes of a program.
	quotedLines = 6
	// endWait is how long a program may take to end when it is told to.
	endWait = 2 * time.Second
	// readyStep is how often a server that starts is asked whether it answers.
	readyStep = 10 * time.Millisecond
)

// Child is a real program that runs at an end: a server, or a client for one
// run. It dies with this process, and what it started dies with it.
type Child struct {
	name  string
	cmd   *exec.Cmd
	lines lastLines
	done  chan struct{} // closed when it has ended
	err   error         // how it ended; may be read from then on
}

// startChild starts a program in a folder, with variables beside the agent's
// own. Each line of its standard output goes to heard, where that is not nil;
// the last lines of that and of its standard error are kept.
func startChild(dir string, env []string, heard func(line string), path string, args ...string) (*Child, error) {
	c := &Child{name: path[strings.LastIndex(path, "/")+1:], cmd: exec.Command(path, args...), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env = dir, append(os.Environ(), env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	said, says, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	c.cmd.Stdout, c.cmd.Stderr = says, says
	started := make(chan error, 1)
	go c.live(started, said, says, heard)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	return c, nil
}

// live starts the program and waits for its end on one thread: the kernel ends
// the program with the thread that started it.
func (c *Child) live(started chan<- error, said, says *os.File, heard func(string)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	if err = errors.Join(err, says.Close()); err != nil {
		started <- errors.Join(err, said.Close())
		return
	}
	started <- nil
	var listening sync.WaitGroup
	listening.Go(func() { c.listen(said, heard) })
	c.err = c.cmd.Wait()
	// Workers that have lost their master would keep its port.
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		c.err = errors.Join(c.err, fmt.Errorf("end what %s left running: %w", c.name, err))
	}
	// What has left its group may hold the pipe open.
	quiet := time.AfterFunc(endWait, func() { said.Close() })
	listening.Wait()
	quiet.Stop()
	said.Close()
	close(c.done)
}

func (c *Child) listen(said io.Reader, heard func(string)) {
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			c.lines.add(line)
			if heard != nil {
				heard(line)
			}
		}
		if err != nil {
			return
		}
	}
}

// await asks until the program is ready, has ended or has taken too long.
func (c *Child) await(ctx context.Context, within time.Duration, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return c.Ended()
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s is not ready after %v: %w: %s", c.name, within, err, c.lastWords()), c.Stop())
		case <-time.After(readyStep):
		}
	}
}

// Ended tells how a program ended that should have stayed, and what it said
// last; nil while it runs.
func (c *Child) Ended() error {
	select {
	case <-c.done:
	default:
		return nil
	}
	how := "it ended by itself"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("%s ended (%s): %s", c.name, how, c.lastWords())
}

// lastWords quotes what the program said last.
func (c *Child) lastWords() string {
	if text := c.lines.text(); text != "" {
		return "its log ends: " + text
	}
	return "it logged nothing"
}

// Stop ends the program and waits for its end.
func (c *Child) Stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("end %s: %w", c.name, err)
		}
		select {
		case <-c.done:
			return nil
		case <-time.After(endWait):
		}
	}
	return fmt.Errorf("end %s: it still runs after SIGKILL", c.name)
}

// runChild runs a program to its end and gives an error that quotes its last
// lines where it failed. It ends with the context.
func runChild(ctx context.Context, dir string, heard func(line string), path string, args ...string) error {
	c, err := startChild(dir, nil, heard, path, args...)
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Stop())
	}
	if c.err != nil {
		return fmt.Errorf("run %s: %w: %s", c.name, c.err, c.lastWords())
	}
	return nil
}

// lastLines keeps the last lines that a program said.
type lastLines struct {
	mu   sync.Mutex
	last []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = append(l.last, line); len(l.last) > quotedLines {
		l.last = l.last[1:]
	}
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.last, " | ")
}
