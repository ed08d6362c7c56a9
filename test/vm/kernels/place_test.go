package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/vm"
)

// TestVMPlaceOnAnotherMachine measures in a guest, which has another clock, from here. Its
// command does not pass on that its input ends.
func TestVMPlaceOnAnotherMachine(t *testing.T) {
	image := strings.Fields(os.Getenv(Kernels))[0]
	kernel, err := vm.OpenKernel(image)
	if err != nil {
		t.Fatal(err)
	}
	tare, folder := labtest.Tare(t), t.TempDir()
	boots, file := filepath.Join(folder, "vm"), filepath.Join(folder, "result.json")
	build := exec.Command("go", "build", "-o", boots, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	guest := fmt.Sprintf(`sh -c 'cd %s && exec %s -exec "ip link set lo up; exec sh" %s' -`, root, boots, image)
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
