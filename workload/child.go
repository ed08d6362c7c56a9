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
	// endWait is how long a program may take to end after a signal.
	endWait = 2 * time.Second
	// readyStep is how often a server that starts is asked whether it answers.
	readyStep = 10 * time.Millisecond
	// mostFiles is how many files and connections a program may have open, if the machine's hard limit
	// allows it.
	mostFiles = 65536
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

// startChild starts a program in a folder. eachLine, where it is not nil, receives
// each line of its standard output and error; the last lines are kept.
func startChild(dir string, eachLine func(line string), path string, args ...string) (*Child, error) {
	c := &Child{name: path[strings.LastIndex(path, "/")+1:], cmd: exec.Command(path, args...), done: make(chan struct{})}
	c.cmd.Dir = dir
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	output, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	c.cmd.Stdout, c.cmd.Stderr = input, input
	if err := allowFiles(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, errors.Join(err, input.Close(), output.Close()))
	}
	started := make(chan error, 1)
	go c.run(started, output, input, eachLine)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	return c, nil
}

// allowFiles lets what this process starts have many connections: with a shell's soft limit of 1024 a server
// that takes more does not answer the next, and does not refuse it. Go would give its children the limit
// that it was started with.
func allowFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read limit of open files: %w", err)
	}
	limit.Cur = min(limit.Max, mostFiles)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("set limit of open files to %d: %w", limit.Cur, err)
	}
	return nil
}

// run starts the program and waits for its end on one thread: the kernel ends
// the program with the thread that started it.
func (c *Child) run(started chan<- error, output, input *os.File, eachLine func(string)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	if err = errors.Join(err, input.Close()); err != nil {
		started <- errors.Join(err, output.Close())
		return
	}
	started <- nil
	var reading sync.WaitGroup
	reading.Go(func() { c.read(output, eachLine) })
	c.err = c.cmd.Wait()
	// Workers that have lost their master would keep its port.
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		c.err = errors.Join(c.err, fmt.Errorf("end what %s left running: %w", c.name, err))
	}
	// What has left its group may hold the pipe open.
	quiet := time.AfterFunc(endWait, func() { output.Close() })
	reading.Wait()
	quiet.Stop()
	output.Close()
	close(c.done)
}

func (c *Child) read(output io.Reader, eachLine func(string)) {
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			c.lines.add(line)
			if eachLine != nil {
				eachLine(line)
			}
		}
		if err != nil {
			return
		}
	}
}

// await polls until the program is ready, has ended or has taken too long.
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

// Ended returns how a program ended that should have stayed, with the last lines
// that it printed; nil while it runs.
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

// lastWords quotes the last lines that the program printed.
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

// runChild runs a program to its end and returns an error that quotes its last
// lines where it failed. It ends with the context.
func runChild(ctx context.Context, dir string, eachLine func(line string), path string, args ...string) error {
	c, err := startChild(dir, eachLine, path, args...)
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

// lastLines keeps the last lines that a program printed.
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
