package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
	"tare/vm"
)

// Kernels is the environment variable with the files of the kernels, separated by spaces.
const Kernels = "TARE_KERNELS"

// TestMain marks what the tests start.
func TestMain(m *testing.M) {
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("kernels-%d", os.Getpid())); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// output is what a command has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// awaits waits until it has printed some words, and fails if that takes an emulated CPU too long
// or if what prints has ended.
func (o *output) awaits(t *testing.T, words string, ended <-chan error) {
	t.Helper()
	const most = 10 * time.Minute
	limit, look := time.After(most), time.Tick(100*time.Millisecond)
	for !strings.Contains(o.String(), words) {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v: %s", err, o)
		case <-limit:
			t.Fatalf("it has not printed %q in %v: %s", words, most, o)
		case <-look:
		}
	}
}

// weighing is tare run on the kernels of the test, with a result file.
func weighing(t *testing.T, flags ...string) (run *exec.Cmd, said *output, file string) {
	t.Helper()
	images := strings.Fields(os.Getenv(Kernels))
	if len(images) < 2 {
		t.Fatalf("%s names %d kernels, want two: make vm sets it", Kernels, len(images))
	}
	file = filepath.Join(t.TempDir(), "result.json")
	args := []string{
		"run", "--kernel", images[0] + "," + images[1], "--networks", "host,bridge,havs", "--paths", "same-host,cross-host", "--workloads", "tcp_rr",
		"--out", file,
	}
	run = exec.Command(labtest.Tare(t), append(args, flags...)...)
	said = &output{}
	run.Stdout, run.Stderr = said, said
	return run, said, file
}

// TestVMKernelsAreWeighed weighs one stock kernel against another.
func TestVMKernelsAreWeighed(t *testing.T) {
	labtest.NoLeaks(t)
	run, said, file := weighing(t, "--blocks", "6", "--duration", "100ms")
	if err := run.Run(); err != nil {
		t.Fatalf("tare run --kernel: %v: %s", err, said)
	}
	res, err := result.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if res.Kernels == nil || len(res.Kernels.Machines) != 3 || len(res.Comparisons) != 1 {
		t.Fatalf("kernels %+v, want three machines and one comparison", res.Kernels)
	}
	all := result.Names(res.Kernels.Machines, func(m result.KernelMachine) string { return m.Release })
	labtest.Equal(t, "kernel of the twin", all[1], all[0])
	for _, cell := range slices.Concat(res.Cells, res.Kernels.Twin) {
		labtest.Equal(t, "status of "+cell.Network, cell.Status, result.StatusOK)
		labtest.Equal(t, cell.Network+" has a kernel", slices.Contains(all, cell.Params.Text("kernel")), true)
	}
	compared := res.Comparisons[0]
	labtest.Equal(t, "cells on both kernels", len(compared.Cells), 3)
	for _, cell := range compared.Cells {
		for _, m := range cell.Metrics {
			if m.Name == "rtt_p50" && (m.Change == nil || m.Change.Low == nil || m.Again == nil || m.Again.Low == nil) {
				t.Errorf("%s: its round trip has change %+v and, of the twin, %+v; want intervals of six blocks", cell.Network, m.Change, m.Again)
			}
		}
	}
	for _, release := range all {
		labtest.Contains(t, "report", said.String(), release)
		labtest.Contains(t, "networks left out", fmt.Sprint(res.Plan.Skipped), "{havs kernel "+release+": ")
	}
	if res.Environment.Emulated() {
		labtest.Contains(t, "report", said.String(), "emulated")
	}
}

// TestVMKernelsThatAreInterruptedKeepTheirBlocks sends Ctrl-C while blocks are measured.
func TestVMKernelsThatAreInterruptedKeepTheirBlocks(t *testing.T) {
	labtest.NoLeaks(t)
	run, said, file := weighing(t, "--blocks", "1000", "--duration", "100ms")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	said.awaits(t, " left", ended) // which is known after a block
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ended // its status is asked for
	labtest.Equal(t, "exit status", run.ProcessState.ExitCode(), 130)
	res, err := result.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	labtest.Equal(t, "end", res.Finished, "")
	for _, cell := range res.Cells {
		labtest.AtLeast(t, "blocks of "+cell.Network, len(cell.Samples), 1)
	}
}

// TestVMGuestStaysOnItsCPUs looks at a guest whose CPUs are threads each.
func TestVMGuestStaysOnItsCPUs(t *testing.T) {
	kernel, err := vm.OpenKernel(strings.Fields(os.Getenv(Kernels))[0])
	if err != nil {
		t.Fatal(err)
	}
	m := vm.Machine{
		Kernel: kernel, By: "tcg,thread=multi", Init: labtest.Tare(t), CPUs: 2, MemoryMiB: 512, Pinned: true,
		Command: []string{"sh", "-c", "echo up; read -r word; echo got $word"},
	}
	in, word := io.Pipe()
	said := &output{}
	ended := make(chan error, 1)
	go func() {
		status, err := m.Run(t.Context(), in, said)
		if err == nil && status != 0 {
			err = fmt.Errorf("status %d", status)
		}
		ended <- errors.Join(err, in.Close())
	}()
	said.awaits(t, "up", ended)
	var threads []string // of QEMU, which this test has started
	for _, pid := range labtest.Marked(t) {
		of, err := filepath.Glob("/proc/" + pid + "/task/*/comm")
		if err != nil {
			t.Fatal(err)
		}
		threads = append(threads, of...)
	}
	on := map[string]string{}
	for _, file := range threads {
		name, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(name), "CPU ") {
			continue // it has ended, or is another
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
		list, _, _ = strings.Cut(list, "\n")
		on[strings.TrimSpace(string(name))] = strings.TrimSpace(list)
	}
	labtest.Equal(t, "CPUs of the guest's threads", fmt.Sprint(on), "map[CPU 0/TCG:0 CPU 1/TCG:1]")
	if _, err := io.WriteString(word, "you\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "what the guest said", said.String(), "got you")
}
