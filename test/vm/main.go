// Command vm runs tests of tare on kernels that this machine does not run: each kernel
// is booted in a virtual machine, once for each package, and as many at the same time as
// there are CPUs for. It prints the events of the tests as `go test -json` does, for
// test/verdict.
//
//	go run ./test/vm [-run REGEXP] [-packages LIST] KERNEL...
//	go run ./test/vm -exec COMMAND KERNEL...
//
// With -exec a shell there runs a command, with this one's standard input and output.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"tare/test/labtest"
	"tare/vm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "vm: %v\n", err)
		os.Exit(1)
	}
}

// suite is what runs on each kernel.
type suite struct {
	root     string // of the repository
	packages []string
	pattern  string
	command  string // instead of the tests
	cpus     int
	memory   int
}

func run(ctx context.Context) error {
	var s suite
	packages := flag.String("packages", "./test/vm/guest,./test/chaos", "the packages whose tests run, separated by commas")
	flag.StringVar(&s.pattern, "run", "^TestVM", "the tests")
	flag.StringVar(&s.command, "exec", "", "a shell command to run instead of the tests, in this folder")
	flag.IntVar(&s.cpus, "cpus", 2, "CPUs of a machine")
	flag.IntVar(&s.memory, "memory", 4096, "memory of a machine in MiB")
	flag.Parse()
	s.packages = strings.Split(*packages, ",")
	if flag.NArg() == 0 {
		return errors.New("no kernel is named; .ci/kernels prints those that the tests use")
	}
	var err error
	if s.root, err = filepath.Abs("."); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "tare-test-vm-")
	if err != nil {
		return err
	}
	return errors.Join(s.onKernels(ctx, flag.Args(), folder), os.RemoveAll(folder))
}

// onKernels compiles the tests in a folder and runs them on each kernel.
func (s suite) onKernels(ctx context.Context, images []string, folder string) error {
	for n, pkg := range s.packages {
		if s.command != "" {
			break
		}
		build := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", program(folder, n), pkg)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("compile the tests of %s: %w", pkg, err)
		}
	}
	machines := make([]vm.Machine, len(images))
	for n, image := range images {
		kernel, err := vm.OpenKernel(image)
		if err != nil {
			return err
		}
		machines[n] = vm.Machine{Kernel: kernel, Init: filepath.Join(s.root, "dist/tare"), CPUs: s.cpus, MemoryMiB: s.memory}
		machines[n].By = machines[0].By
		if n == 0 {
			machines[n].By = machines[n].Choose(ctx)
		}
	}
	each := s.cpus
	if len(machines) > 0 && machines[0].By == vm.TCG {
		each = 1 // all CPUs of such a guest are one thread
	}
	var guests errgroup.Group // each says what went wrong, and none ends another
	guests.SetLimit(max(1, runtime.NumCPU()/each))
	failed := make([]error, len(machines))
	for n, machine := range machines {
		guests.Go(func() error {
			failed[n] = s.onKernel(ctx, machine, folder)
			return nil
		})
	}
	return errors.Join(guests.Wait(), errors.Join(failed...))
}

func program(folder string, n int) string { return filepath.Join(folder, fmt.Sprintf("%d.test", n)) }

// onKernel runs all packages' tests, or the command, on a kernel.
func (s suite) onKernel(ctx context.Context, machine vm.Machine, folder string) error {
	if s.command != "" {
		machine.Command, machine.Dir = []string{"sh", "-c", s.command}, s.root
		status, err := machine.Run(ctx, os.Stdin, os.Stdout)
		if err == nil && status != 0 {
			err = fmt.Errorf("run it on kernel %s: it ended with status %d", machine.Kernel.Release, status)
		}
		return err
	}
	for n, pkg := range s.packages {
		machine.Command = []string{program(folder, n), "-test.v=test2json", "-test.timeout=" + hangs(machine.By).String(), "-test.run", s.pattern}
		machine.Dir = filepath.Join(s.root, pkg)
		machine.Env = []string{"TARE_BINARY=" + machine.Init, labtest.InVM + "=1"}
		begun := time.Now()
		if err := events(ctx, machine, machine.Kernel.Release+" "+pkg); err != nil {
			return fmt.Errorf("test %s on kernel %s: %w", pkg, machine.Kernel.Release, err)
		}
		fmt.Fprintf(os.Stderr, "vm: %s on kernel %s by %s: %.0f s\n", pkg, machine.Kernel.Release, machine.By, time.Since(begun).Seconds())
	}
	return nil
}

// hangs is from when on tests are taken to hang: those of a translated guest take half an hour on a slow machine.
func hangs(by vm.Accelerator) time.Duration {
	if by == vm.TCG {
		return time.Hour
	}
	return 30 * time.Minute
}

// events runs the machine's tests and prints their events.
func events(ctx context.Context, machine vm.Machine, name string) error {
	reader, writer := io.Pipe()
	printed := &wholeLines{to: os.Stdout}
	convert := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", "-p", name)
	convert.Stdin, convert.Stdout, convert.Stderr = reader, printed, os.Stderr
	if err := convert.Start(); err != nil {
		return err
	}
	// What a failed test says, its events say; what ended without them is said here.
	_, ran := machine.Run(ctx, nil, writer)
	return errors.Join(ran, writer.Close(), convert.Wait())
}

// wholeLines passes lines on as a whole each, so that those of several writers do not mix.
type wholeLines struct {
	to   io.Writer
	rest []byte
}

func (w *wholeLines) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	if end := bytes.LastIndexByte(w.rest, '\n') + 1; end > 0 {
		if _, err := w.to.Write(w.rest[:end]); err != nil {
			return 0, err
		}
		w.rest = w.rest[end:]
	}
	return len(text), nil
}
