package probe

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestConfined(t *testing.T) {
	for _, c := range []struct {
		about, status string
		want          Confinement
	}{
		{"in a container", "Name:\ttare\nSeccomp:\t2\nSeccomp_filters:\t1\nCpus_allowed:\t2\nCpus_allowed_list:\t1\n", Confinement{"filter", "1"}},
		{"free", "Seccomp:\t0\nCpus_allowed_list:\t0-3,8\n", Confinement{"none", "0-3,8"}},
		{"strict", "Seccomp:\t1\n", Confinement{"strict", ""}},
		{"a kernel without seccomp", "Cpus_allowed_list:\t0\n", Confinement{"", "0"}},
		{"of another kind", "Seccomp:\t77\n:\n\x00", Confinement{}},
		{"nothing", "", Confinement{}},
	} {
		t.Run(c.about, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "proc/self/status"), []byte(c.status), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Confined(root); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestConfinedIsThatOfThisProcess(t *testing.T) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &mask); err != nil {
		t.Fatal(err)
	}
	if got := Confined("/"); countCPUs([]byte(got.CPUs)) != mask.Count() {
		t.Errorf("CPUs %q, the kernel lets it run on %d", got.CPUs, mask.Count())
	}
}
