package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// reaching is a command that reaches a place: a process here, or one there whose streams this
// process carries.
type reaching struct {
	in    io.WriteCloser
	out   *os.File     // it stays open while the command ends: its last words count
	ended <-chan error // how it ended
	kill  func() error
}

// run starts the command, with words besides. What it complains of goes to a writer.
func (f Far) run(besides []string, complaints io.Writer) (*reaching, error) {
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	begin := f.process
	if f.Carry != nil {
		begin = f.carried
	}
	r, err := begin(besides, theirs, complaints)
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), out.Close())
	}
	r.out = out
	return r, nil
}

// process starts the command here.
func (f Far) process(besides []string, out *os.File, complaints io.Writer) (*reaching, error) {
	cmd := exec.Command("/bin/sh", "-c", strings.Join(append([]string{"exec", f.Command}, besides...), " "))
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, complaints, leaveWait
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return &reaching{in: in, ended: ended, kill: func() error { return cmd.Process.Kill() }}, out.Close()
}

// carried starts the command there.
func (f Far) carried(command []string, out *os.File, complaints io.Writer) (*reaching, error) {
	ctx, stop := context.WithCancel(context.Background())
	in, ours := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		status, err := f.Carry(ctx, command, in, out, complaints)
		if err == nil && status != 0 {
			err = fmt.Errorf("exit status %d", status)
		}
		ended <- errors.Join(err, in.CloseWithError(os.ErrClosed), out.Close())
	}()
	return &reaching{in: ours, ended: ended, kill: func() error { stop(); return nil }}, nil
}
