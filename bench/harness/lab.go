package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// What building a lab and taking it down may take.
const (
	upWait   = 2 * time.Minute
	downWait = time.Minute
)

// Lab is a lab that tare built. It is taken down when this program ends, however that happens.
type Lab struct {
	Name    string
	tare    Tare
	clear   io.WriteCloser // when it is closed the lab is taken down
	cleared chan error
}

// Up builds a lab with a network in it, and flags of tare lab up.
func (t Tare) Up(ctx context.Context, network string, flags ...string) (*Lab, error) {
	ctx, cancel := context.WithTimeout(ctx, upWait)
	defer cancel()
	l := &Lab{Name: fmt.Sprintf("bench-%d-%06x", os.Getpid(), rand.IntN(1<<24)), tare: t, cleared: make(chan error, 1)}
	if err := l.guard(); err != nil {
		return nil, fmt.Errorf("guard the lab: %w", err)
	}
	if _, err := t.Call(ctx, "", append([]string{"lab", "up", network, "--name", l.Name}, flags...)...); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// guard starts what takes the lab down once this program closes a pipe, which it does at the latest
// when it ends. A lab that is being built then is completed before it is taken down.
func (l *Lab) guard() (err error) {
	const wait = `
		read -r _
		while pgrep -f "lab up [^ ]* --name $1" >/dev/null; do sleep 0.05; done
		! "$0" lab list | grep -q "^$1 " || "$0" lab down --name "$1" >/dev/null`
	cmd := exec.Command("sh", "-c", wait, string(l.tare), l.Name)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is not for it
	if l.clear, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { l.cleared <- cmd.Wait() }()
	return nil
}

// Type runs a command at a place, with a text as its input, and gives what it printed.
func (l *Lab) Type(ctx context.Context, input, at string, argv ...string) ([]byte, error) {
	return l.tare.Call(ctx, input, append([]string{"lab", "exec", "--name", l.Name, at, "--"}, argv...)...)
}

// Close takes the lab down.
func (l *Lab) Close() error {
	if err := l.clear.Close(); err != nil {
		return err
	}
	select {
	case err := <-l.cleared:
		return err
	case <-time.After(downWait):
		return fmt.Errorf("lab %s does not go: tare lab down --name %[1]s", l.Name)
	}
}
