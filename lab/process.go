package lab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Processes are what runs in a lab. The lab's init reaps them, and every orphan
// that a daemon leaves behind.
type Processes struct {
	mu      sync.Mutex
	running map[int]*Process
	stop    chan struct{}
}

// Command is a program to start in a namespace.
type Command struct {
	Argv  []string
	Env   []string
	Dir   string      // empty: /
	Files [3]*os.File // its standard input, output and error
	apart bool        // in new namespaces
}

// Process is a started command. Done is closed when it has ended; Status may
// be read from then on.
type Process struct {
	PID    int
	Done   chan struct{}
	Status syscall.WaitStatus
	client bool // of an engine: it forwards signals to the process that the engine started for it
}

func newProcesses() *Processes {
	p := &Processes{running: map[int]*Process{}, stop: make(chan struct{})}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	go func() {
		defer signal.Stop(children)
		for {
			select {
			case <-children:
				p.reap()
			case <-p.stop:
				return
			}
		}
	}()
	return p
}

// reap collects every child that has ended, ours or adopted.
func (p *Processes) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if process, ours := p.running[pid]; ours {
			process.Status = status
			close(process.Done)
			delete(p.running, pid)
		}
	}
}

// Start starts a command in a namespace, bound to its CPUs, in a new process group.
func (p *Processes) Start(in *Namespace, c Command) (*Process, error) {
	process := &Process{Done: make(chan struct{}), client: len(in.via) > 0}
	in, c.Argv = in.command(c.Argv)
	err := onThread(func() (err error) {
		attr := &syscall.SysProcAttr{Setpgid: true}
		if err := in.CPUs.bind(); err != nil {
			return err
		}
		if in.cgroup != "" { // before it enters mounts that may have no control groups
			close, err := joinCgroup("/", in.cgroup, max(1, len(in.CPUs)), attr)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, close()) }()
		}
		if err := in.enter(); err != nil {
			return err
		}
		dir, program := cmp.Or(c.Dir, "/"), c.Argv[0]
		if strings.Contains(program, "/") && !filepath.IsAbs(program) {
			program = filepath.Join(dir, program) // this process has another folder
		}
		path, err := exec.LookPath(program)
		if err != nil {
			return err
		}
		files := make([]uintptr, len(c.Files))
		for n, file := range c.Files {
			files[n] = file.Fd()
		}
		if c.apart {
			attr.Cloneflags = apart
		}
		// The lock is held over the fork, so that reap finds a child that ends at once.
		p.mu.Lock()
		defer p.mu.Unlock()
		process.PID, err = syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{
			Dir: dir, Env: c.Env, Files: files, Sys: attr,
		})
		if err == nil {
			p.running[process.PID] = process
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start %s in %s: %w", c.Argv[0], in.Name, err)
	}
	return process, nil
}

// LookPath finds a program: on the PATH, or where its name says.
func LookPath(program string) (string, error) { return exec.LookPath(program) }

// StartSelf starts this binary in the host with the arguments given and waits
// until it writes on its standard output that it is ready. It ends with the owner
// of the undo: the cluster, or a container.
func (h *Host) StartSelf(with *Undo, args ...string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", args[0], h.Name, err)
	}
	defer null.Close()
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", args[0], h.Name, err)
	}
	defer readEnd.Close()
	process, err := h.cluster.lab.Processes.Start(h.Namespace, Command{
		Argv:  append([]string{Self}, args...),
		Env:   os.Environ(),
		Files: [3]*os.File{null, writeEnd, os.Stderr},
	})
	if err = errors.Join(err, writeEnd.Close()); err != nil {
		return err
	}
	with.Push(func() error { return process.Signal(syscall.SIGKILL) })
	if n, err := readEnd.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("start %s in %s: it ended before it was ready: %w", args[0], h.Name, err)
	}
	return nil
}

// Signal sends a signal to the process and all that it started in its group.
func (p *Process) Signal(sig syscall.Signal) error {
	err := syscall.Kill(-p.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil // it has ended
	}
	return err
}

// End kills the process and all its descendants, in whatever group. An engine's
// client first gets SIGTERM, which it forwards: the process that the engine started
// for it is not a descendant and would outlive it.
func (p *Process) End() error {
	if p.client {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {
		case <-p.Done:
			return nil
		case <-time.After(endWait):
		}
	}
	kin, err := descendants(p.PID)
	errs := []error{err, p.Signal(syscall.SIGKILL)}
	for _, pid := range kin {
		if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// How long a lab's processes get to end by themselves, and after SIGKILL, which they
// cannot ignore: a busy machine may not give them a CPU to end on at once.
const (
	endWait  = 500 * time.Millisecond
	killWait = 10 * time.Second
)

// close ends every process of the lab, orphans included: kill(-1) by a namespace's
// init reaches all in it but itself.
func (p *Processes) close() error {
	err := p.endAll(syscall.SIGTERM, endWait)
	if errors.Is(err, errStillRunning) {
		err = p.endAll(syscall.SIGKILL, killWait)
	}
	close(p.stop)
	return err
}

var errStillRunning = errors.New("end the lab's processes: some are still running")

func (p *Processes) endAll(sig syscall.Signal, wait time.Duration) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("end the lab's processes: not the init of a PID namespace")
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
		err := syscall.Kill(-1, sig)
		if errors.Is(err, syscall.ESRCH) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("end the lab's processes: %w", err)
		}
		p.reap()
		sig = 0 // once is enough: from here on kill(2) only checks whether any is left
		if time.Now().After(deadline) {
			return errStillRunning
		}
	}
}
