package lab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Scratch is a host's folder for state, sockets and logs. It is in memory, belongs
// to the host's mounts, and is removed with them.
const Scratch = "/run/tare"

const (
	readyWait  = 3 * time.Minute       // how long a daemon may take: dockerd needs one on an emulated CPU
	readyStep  = 10 * time.Millisecond // how often Ready is called
	runWait    = 60 * time.Second      // how long a command may usually take
	quotedText = 600                   // bytes of a log that an error quotes
)

// Daemon is a real part that runs in a host for as long as the lab exists.
type Daemon struct {
	Name string // of its log: Scratch/NAME.log
	Argv []string
	Env  []string // in addition to the lab's own; of a variable in both, this one counts
	// Ready is called on a thread inside the host, mounts included, until it
	// returns nil; its last error names what was missing. It must not block for
	// long. nil: the daemon is ready as soon as it is started.
	Ready  func() error
	Within time.Duration // how long it may take to be ready; 0: 3 min
	// Restarts starts it again when it ends while the lab exists, so that to end it
	// is what "systemctl restart" is on a machine.
	Restarts bool
}

// StartDaemon starts a daemon and waits until it is ready. Its errors quote
// the end of its log.
func (h *Host) StartDaemon(d Daemon) (*Process, error) {
	s, err := h.startService(d)
	if err != nil {
		return nil, err
	}
	process := s.process
	if d.Restarts {
		go s.keep()
	}
	return process, nil
}

func (h *Host) startService(d Daemon) (*service, error) {
	log, err := h.openLog(d.Name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	process, err := h.startLogged(d, log)
	if err != nil {
		return nil, err
	}
	s := &service{host: h, daemon: d, process: process}
	h.cluster.Push(s.end)
	if err := h.await(process, d); err != nil {
		return nil, fmt.Errorf("start %s in %s: %w: its log ends: %s", d.Name, h.Name, err, cmp.Or(tail(log), "nothing"))
	}
	return s, nil
}

func (h *Host) startLogged(d Daemon, log *os.File) (*Process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return h.cluster.lab.Processes.Start(h.Namespace, Command{
		Argv: d.Argv, Env: slices.Concat(d.Env, os.Environ()), Files: [3]*os.File{null, log, log},
	})
}

// await polls until the daemon is ready, has ended or has taken too long.
func (h *Host) await(process *Process, d Daemon) error {
	if d.Ready == nil {
		return nil
	}
	within := cmp.Or(d.Within, readyWait)
	return h.Inside(func() error {
		for deadline := time.Now().Add(within); ; time.Sleep(readyStep) {
			err := d.Ready()
			if err == nil {
				return nil
			}
			select {
			case <-process.Done:
				return fmt.Errorf("it ended (%s)", howEnded(process.Status))
			default:
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("not ready after %v: %w", within, err)
			}
		}
	})
}

// Inside runs work on a thread inside the namespace, its mounts included.
func (ns *Namespace) Inside(work func() error) error {
	return onThread(func() error {
		if err := ns.enter(); err != nil {
			return err
		}
		return work()
	})
}

// WriteFile writes a file below the host's Scratch, and its folders.
func (h *Host) WriteFile(path string, text []byte, mode os.FileMode) error {
	return h.Inside(func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write file in %s: %w", h.Name, err)
		}
		if err := os.WriteFile(path, text, mode); err != nil {
			return fmt.Errorf("write file in %s: %w", h.Name, err)
		}
		return nil
	})
}

func (h *Host) openLog(name string) (log *os.File, err error) {
	err = h.Inside(func() error {
		if err := os.MkdirAll(Scratch, 0o755); err != nil {
			return err
		}
		log, err = os.OpenFile(filepath.Join(Scratch, name+".log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open log of %s in %s: %w", name, h.Name, err)
	}
	return log, nil
}

// Run runs a command in the host to its end and returns its standard output. Its
// errors quote its standard error.
func (h *Host) Run(argv ...string) (string, error) { return h.RunWithin(runWait, argv...) }

// RunWithin is Run of a command that may take so long.
func (h *Host) RunWithin(most time.Duration, argv ...string) (string, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return "", err
	}
	defer null.Close()
	// Files, not pipes: a process that the command leaves behind may hold them open.
	var output [2]*os.File
	for i := range output {
		fd, err := unix.MemfdCreate("tare "+argv[0], unix.MFD_CLOEXEC)
		if err != nil {
			return "", fmt.Errorf("make file in memory: %w", err)
		}
		output[i] = os.NewFile(uintptr(fd), argv[0])
		defer output[i].Close()
	}
	process, err := h.cluster.lab.Processes.Start(h.Namespace, Command{
		Argv: argv, Env: os.Environ(), Files: [3]*os.File{null, output[0], output[1]},
	})
	if err != nil {
		return "", err
	}
	select {
	case <-process.Done:
	case <-time.After(most):
		err := fmt.Errorf("run %s in %s: no end after %v", strings.Join(argv, " "), h.Name, most)
		return "", errors.Join(err, process.Signal(syscall.SIGKILL))
	}
	text, err := whole(output[0])
	if process.Status != 0 {
		why := cmp.Or(tail(output[1]), tail(output[0]))
		return text, fmt.Errorf("run %s in %s: %s: %s", strings.Join(argv, " "), h.Name, howEnded(process.Status), why)
	}
	return text, err
}

// LogTail is the end of a daemon's log, on one line.
func (h *Host) LogTail(name string) string {
	log, err := h.openLog(name)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	return cmp.Or(tail(log), "nothing")
}

// Ended reports whether the process has ended, and how.
func (p *Process) Ended() (how string, ended bool) {
	select {
	case <-p.Done:
		return howEnded(p.Status), true
	default:
		return "", false
	}
}

// howEnded describes how a process ended.
func howEnded(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "killed by " + unix.SignalName(status.Signal())
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// whole reads a file from its start.
func whole(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	text := make([]byte, info.Size())
	n, err := file.ReadAt(text, 0)
	if n < len(text) {
		return string(text[:n]), fmt.Errorf("read output: %w", err)
	}
	return string(text), nil
}

// tail is the end of a file, on one line.
func tail(file *os.File) string {
	text, err := whole(file)
	if err != nil {
		return err.Error()
	}
	text = strings.TrimSpace(text)
	if len(text) > quotedText {
		text = "..." + text[len(text)-quotedText:]
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " | ")
}
