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
	"time"

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
	return execForwarding(argv, func(sig syscall.Signal) (bool, error) { return signalMarked(mark, sig) })
}

// ExecInSandbox is ExecInContainer where no process of the machine is the one that the command
// starts. kill is the command line that sends that one a signal; nil: it has not started yet.
func ExecInSandbox(argv []string, kill func(sig syscall.Signal) ([]string, error)) (status int, err error) {
	return execForwarding(argv, func(sig syscall.Signal) (bool, error) {
		command, err := kill(sig)
		if err != nil || command == nil {
			return false, err
		}
		if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return false, fmt.Errorf("signal process in sandbox: %w: %s", err, bytes.TrimSpace(text))
		}
		return true, nil
	})
}

// execForwarding runs a command that starts a process, and forwards the signals that it
// receives. forward reports whether there was a process; one that is about to end takes none.
func execForwarding(argv []string, forward func(sig syscall.Signal) (reached bool, err error)) (status int, err error) {
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
			reached, err := forward(sig.(syscall.Signal))
			if err == nil && !reached { // it has not started yet
				err = cmd.Process.Signal(sig)
			}
			if err == nil || errors.Is(err, os.ErrProcessDone) {
				continue
			}
			select {
			case err := <-ended:
				return shellStatus(cmd, err)
			case <-time.After(endWait):
				return 0, err
			}
		case err := <-ended:
			return shellStatus(cmd, err)
		}
	}
}

// shellStatus is what a shell would report of a command that has ended.
func shellStatus(cmd *exec.Cmd, err error) (int, error) {
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("wait for process in container: %w", err)
	}
	if by := cmd.ProcessState.Sys().(syscall.WaitStatus); by.Signaled() {
		return 128 + int(by.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
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
