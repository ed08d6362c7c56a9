package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// Kernels is the environment variable with the files of the kernels, separated by spaces.
const Kernels = "TARE_KERNELS"

// TestMain marks what the tests start.
func TestMain(m *testing.M) {
	if err := os.Setenv(labtest.Mark, "kernels"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// weighing is tare run on the kernels of the test, with a result file.
func weighing(t *testing.T, flags ...string) (run *exec.Cmd, said *bytes.Buffer, file string) {
	t.Helper()
	images := strings.Fields(os.Getenv(Kernels))
	if len(images) < 2 {
		t.Fatalf("%s names %d kernels, want two: make vm sets it", Kernels, len(images))
	}
	file = filepath.Join(t.TempDir(), "result.json")
	args := []string{
		"run", "--kernel", images[0] + "," + images[1], "--networks", "host,bridge", "--paths", "same-host", "--workloads", "tcp_rr",
		"--out", file,
	}
	run = exec.Command(labtest.Tare(t), append(args, flags...)...)
	said = &bytes.Buffer{}
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
	if res.Kernels == nil || len(res.Kernels.Machines) != 3 || len(res.Kernels.Compared) != 1 {
		t.Fatalf("kernels %+v, want three machines and one comparison", res.Kernels)
	}
	all := result.Names(res.Kernels.Machines, func(m result.KernelMachine) string { return m.Release })
	labtest.Equal(t, "kernel of the twin", all[1], all[0])
	for _, cell := range slices.Concat(res.Cells, res.Kernels.Twin) {
		labtest.Equal(t, "status of "+cell.Network, cell.Status, result.StatusOK)
		labtest.Equal(t, cell.Network+" has a kernel", slices.Contains(all, cell.Params.Text("kernel")), true)
	}
	compared := res.Kernels.Compared[0]
	labtest.Equal(t, "cells on both kernels", len(compared.Cells), 2)
	for _, cell := range compared.Cells {
		for _, m := range cell.Metrics {
			if m.Name == "rtt_p50" && (m.Change == nil || m.Change.Low == nil || m.Again == nil || m.Again.Low == nil) {
				t.Errorf("%s: its round trip has change %+v and, of the twin, %+v; want intervals of six blocks", cell.Network, m.Change, m.Again)
			}
		}
	}
	for _, release := range all {
		labtest.Contains(t, "report", said.String(), release)
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
	select {
	case err := <-ended:
		t.Fatalf("tare run --kernel: %v: %s", err, said)
	case <-time.After(90 * time.Second): // the machines are up after some 30 s
	}
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
	}
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
