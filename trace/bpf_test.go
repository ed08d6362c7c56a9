package trace

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The objects in the repository are those of the source.
func TestRealObjectsAreOfTheSource(t *testing.T) {
	built := t.TempDir()
	if out, err := exec.Command("bpf/build", built).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, kept := range map[string][]byte{"path.bpf.o": pathObject, "cpu.bpf.o": cpuObject} {
		fresh, err := os.ReadFile(filepath.Join(built, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh, kept) {
			t.Errorf("%s is not what its source gives: run make bpf", name)
		}
	}
}
