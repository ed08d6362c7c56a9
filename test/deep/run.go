package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// runParts runs the crowd, as many at a time as there are CPUs, two at least; then the rest, one at a time.
func runParts(ctx context.Context, parts []part, out io.Writer) error {
	print := &printer{out: out}
	failed := make([]error, len(parts))
	for _, of := range []struct {
		crowd bool
		limit int
	}{{true, max(2, runtime.NumCPU())}, {false, 1}} {
		var group errgroup.Group // each says what went wrong, and none ends another
		group.SetLimit(of.limit)
		for n, p := range parts {
			if p.crowd == of.crowd {
				group.Go(func() error {
					failed[n] = p.run(ctx, print)
					return nil
				})
			}
		}
		failed = append(failed, group.Wait())
	}
	return errors.Join(failed...)
}

// printer prints blocks of text whole.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *printer) printf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format, args...)
}

// run runs a part, prints what it printed once it has ended, and records that it passed.
func (p part) run(ctx context.Context, print *printer) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s did not run: %w", p.name, context.Cause(ctx))
	}
	digest, err := p.digest()
	if err != nil {
		return err
	}
	print.printf("deep: %s: runs\n", p.name)
	began := time.Now()
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, "bash", "-eu", "-o", "pipefail", "-c", p.command)
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the kernel shares CPUs out between sessions
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	err = cmd.Run()
	took := time.Since(began).Round(time.Second)
	if err != nil {
		print.printf("%sdeep: %s: failed after %v\n", &text, p.name, took)
		return fmt.Errorf("%s failed: %w: make deep PARTS=%s repeats it", p.name, err, p.name)
	}
	print.printf("%sdeep: %s: passed in %v\n", &text, p.name, took)
	return p.passed(digest)
}
