package probe

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestForeignCPU plays a machine that is busy for 300 ms of CPU time within
// 200 ms, by the clock of the bubble.
func TestForeignCPU(t *testing.T) {
	root := tree(t, map[string]string{"proc/stat": "cpu 100 0 0 500 0 0 0 0\n"})
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(100*time.Millisecond, func() {
			next := []byte("cpu 120 0 3 510 0 0 2 5\n")
			if err := os.WriteFile(filepath.Join(root, "proc/stat"), next, 0o644); err != nil {
				t.Error(err)
			}
		})
		cores, err := ForeignCPU(root, 200*time.Millisecond)
		if err != nil || math.Abs(cores-1.5) > 1e-9 {
			t.Errorf("%v cores, %v, want 1.5", cores, err)
		}
	})
}

func TestForeignCPUOfThisMachine(t *testing.T) {
	cores, err := ForeignCPU("/", 50*time.Millisecond)
	if err != nil || cores < 0 || cores > 2*float64(Environment("/").CPUs) {
		t.Errorf("%v cores, %v", cores, err)
	}
}

func TestForeignCPURefuses(t *testing.T) {
	if _, err := ForeignCPU("/", time.Millisecond); err == nil {
		t.Error("a span shorter than a tick was taken")
	}
	if _, err := ForeignCPU(t.TempDir(), 10*time.Millisecond); err == nil {
		t.Error("no /proc/stat, no error")
	}
}
