package lab

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ContainerExecVerb is the hidden command that runs an engine's command, which
// starts a process in a container: ContainerExecVerb COMMAND... ExecMark among the
// command's arguments becomes a mark in the environment of that process, as in
// {"docker", "exec", "-e", ExecMark, ...}.
const (
	ContainerExecVerb = "container-exec"
	ExecMark          = "TARE_EXEC="
)

// ExecInContainer runs an engine's command that starts a process in a container,
// and forwards the signals that it receives to that process: `docker exec`
// forwards none. The process is found by its mark. status is the command's exit
// status.
func ExecInContainer(argv []string) (status int, err error) {
	mark := ExecMark + rand.Text()
	argv = slices.Clone(argv)
	if at := slices.Index(argv, ExecMark); at >= 0 {
		argv[at] = mark
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	defer signal.Stop(signals)
	// The parent-death signal, which ends the command with this process, is that of the thread.
	runtime.LockOSThread()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start process in container: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			reached, err := signalMarked(mark, sig.(syscall.Signal))
			if err == nil && !reached { // it has not started yet
				err = cmd.Process.Signal(sig)
			}
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				return 0, err
			}
		case err := <-ended:
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				return 0, fmt.Errorf("wait for process in container: %w", err)
			}
			if by := cmd.ProcessState.Sys().(syscall.WaitStatus); by.Signaled() {
				return 128 + int(by.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// signalMarked sends a signal to every process that has the mark in its
// environment. reached reports whether there is one.
func signalMarked(mark string, sig syscall.Signal) (reached bool, err error) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return false, err
	}
	for _, path := range environments {
		text, err := os.ReadFile(path) // of one that has just ended: refused
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return reached, err
		}
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return reached, fmt.Errorf("signal process in container: %w", err)
		}
		reached = true
	}
	return reached, nil
}
