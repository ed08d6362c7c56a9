package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tare/probe"
	"tare/result"
	"tare/test/labtest"
	"tare/vm"
)

// guestCommand is a command that boots a guest and has a shell there, whose input and output are
// the command's. It does not pass on that its input ends, and again and again somebody sets the
// clock there back by an hour.
func guestCommand(t *testing.T) (command string, kernel vm.Kernel) {
	t.Helper()
	image := strings.Fields(os.Getenv(Kernels))[0]
	kernel, err := vm.OpenKernel(image)
	if err != nil {
		t.Fatal(err)
	}
	boots := filepath.Join(t.TempDir(), "vm")
	build := exec.Command("go", "build", "-o", boots, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`sh -c 'cd %s && exec %s -exec "ip link set lo up; (while sleep 2; do date -s -1hour; done) >/dev/null & exec sh" %s' -`, root, boots, image), kernel
}

// TestVMPlaceOnAnotherMachine measures in a guest, which has another clock, from here.
func TestVMPlaceOnAnotherMachine(t *testing.T) {
	guest, kernel := guestCommand(t)
	tare, file := labtest.Tare(t), filepath.Join(t.TempDir(), "result.json")
	run := exec.Command(tare, "run", "--far-path", tare, "--endpoint", "h1="+guest, "--workloads", "tcp_rr", "--blocks", "2", "--duration", "200ms", "--out", file)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("tare run: %v: %s", err, out)
	}
	res, err := result.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "kernel", res.Environment.Kernel, kernel.Release)
	labtest.Equal(t, "kernel of the place", res.Places[0].Environment.Kernel, kernel.Release)
	labtest.Between(t, "steal", res.Noise.Steal, 0, 1)
	labtest.AtMost(t, "pressure", res.Noise.Pressure, 1)
	labtest.Equal(t, "emulated", strings.Contains(fmt.Sprint(res.Warnings), "emulated: "), res.Environment.Emulated())
	for _, cell := range res.Cells {
		labtest.Equal(t, cell.Network+" on "+cell.Path, cell.Status, result.StatusOK)
	}
}

// TestVMMachinesAreCompared says, before anything is measured, what two machines do not have in
// common. No network joins a guest and this machine.
func TestVMMachinesAreCompared(t *testing.T) {
	guest, kernel := guestCommand(t)
	tare := labtest.Tare(t)
	run := exec.Command(tare, "run", "--far-path", tare, "--endpoint", "h1=", "--endpoint", "h2="+guest, "--workloads", "tcp_rr", "--dry-run")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("tare run: %v: %s", err, out)
	}
	labtest.Contains(t, "what it said", string(out), "h1 and h2 differ: kernel "+probe.Environment("/").Kernel+" and "+kernel.Release)
	labtest.Contains(t, "what it said", string(out), "h1 and h2 differ: core/")
	labtest.Contains(t, "what it said", string(out), "h1 does not reach h2 (cross-host)")
}
