package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	listenWait = 5 * time.Second // until a server listens
	endWait    = 5 * time.Second // until a process ends that was interrupted
)

// process is a command at one end of a stage.
type process struct {
	name        string
	interrupt   context.CancelFunc
	done        chan struct{} // closed when it has ended
	err         error         // valid then: it did not run, or its exit status
	files       [3]*os.File   // standard input, output and error
	out, errors []byte
}

// bound is a command bound to a CPU.
func (e end) bound(argv []string) []string {
	return append([]string{"taskset", "-c", e.cpu}, argv...)
}

// start starts a command; what it prints goes to files in memory, which
// a daemon that lives on can't keep from being read.
func (s *stage) start(ctx context.Context, at end, argv []string) (*process, error) {
	ctx, interrupt := context.WithCancel(ctx)
	p := &process{name: argv[0], interrupt: interrupt, done: make(chan struct{})}
	if err := p.open(); err != nil {
		interrupt()
		return nil, err
	}
	go func() {
		defer close(p.done)
		defer interrupt()
		status, err := s.lab.Exec(ctx, at.at, at.bound(argv), p.files[:]...)
		p.err = errors.Join(err, p.read())
		if p.err == nil && status != 0 {
			p.err = fmt.Errorf("%s: exit status %d: %s", p.name, status, bytes.TrimSpace(append(p.errors, p.out...)))
		}
	}()
	return p, nil
}

func (p *process) open() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	p.files[0] = null
	for n := 1; n < len(p.files); n++ {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		if err != nil {
			return fmt.Errorf("open file for output: %w", err)
		}
		p.files[n] = os.NewFile(uintptr(fd), "output")
	}
	return nil
}

// read takes what was printed and closes the files.
func (p *process) read() error {
	var errs []error
	for n, into := range []*[]byte{1: &p.out, 2: &p.errors} {
		if into != nil {
			printed, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", p.files[n].Fd()))
			*into = printed
			errs = append(errs, err)
		}
		p.files[n].Close()
	}
	return errors.Join(errs...)
}

// wait waits for a client's end.
func (p *process) wait() error {
	<-p.done
	return p.err
}

// stop gives a server some time to end by itself, and then interrupts it. Its
// exit status does not matter.
func (p *process) stop(grace time.Duration) error {
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
	}
	p.interrupt()
	select {
	case <-p.done:
		return nil
	case <-time.After(endWait):
		return fmt.Errorf("%s did not end when it was interrupted", p.name)
	}
}

// awaitListener waits until something listens on a port at the server's end.
func (s *stage) awaitListener(ctx context.Context, port int, server *process) error {
	for deadline := time.Now().Add(listenWait); ; {
		look, err := s.start(ctx, s.server, []string{"ss", "-Hlntu", "sport", "=", ":" + strconv.Itoa(port)})
		if err != nil {
			return err
		}
		if err := look.wait(); err != nil {
			return fmt.Errorf("look for listeners: %w", err)
		}
		if len(bytes.TrimSpace(look.out)) > 0 {
			return nil
		}
		select {
		case <-server.done: // one that serves in the background ends well
			if server.err != nil {
				return server.err
			}
		default:
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("%s does not listen on port %d", server.name, port), server.stop(0), server.err)
		}
	}
}
