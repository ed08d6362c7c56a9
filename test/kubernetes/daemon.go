package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// scratch is the host's folder in memory, which ends with the lab.
	scratch = "/run/tare"

	// own is where the parts of Kubernetes have their files in it.
	own = scratch + "/kubernetes"

	readyWait = 2 * time.Minute       // how long a daemon may take
	readyStep = 50 * time.Millisecond // how often it is asked
	quoted    = 600                   // bytes of a log that an error quotes
)

// daemon is a program that runs in the host until the lab ends.
type daemon struct {
	name  string
	ended chan error
}

// start starts a daemon in a separate session. Its log is scratch/NAME.log.
func start(name string, argv ...string) (*daemon, error) {
	log, err := os.Create(logOf(name))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	d := &daemon{name, make(chan error, 1)}
	go func() { d.ended <- cmd.Wait() }()
	return d, nil
}

// startPart starts a program of Kubernetes, which is in this binary.
func startPart(name string, args ...string) (*daemon, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return start(name, append([]string{self, name}, args...)...)
}

// await asks until the daemon is ready, has ended or has taken too long.
func (d *daemon) await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case how := <-d.ended:
			return fmt.Errorf("start %s: it ended (%v): its log ends: %s", d.name, how, tail(logOf(d.name)))
		case <-ctx.Done():
			return fmt.Errorf("start %s: not ready: %w: its log ends: %s", d.name, err, tail(logOf(d.name)))
		case <-time.After(readyStep):
		}
	}
}

func logOf(name string) string { return filepath.Join(scratch, name+".log") }

// tail is the end of a file.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-quoted):]))
}

// writeFile writes a file and makes its folder where there is none.
func writeFile(path string, content []byte, mode os.FileMode) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, content, mode)
	}
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// command runs a program to its end. Its error quotes what the program printed.
func command(ctx context.Context, argv ...string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// needProgram fails unless the machine has a program of a Debian package.
func needProgram(name, debianPackage string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("find %s: %w: apt-get install %s", name, err, debianPackage)
	}
	return nil
}
