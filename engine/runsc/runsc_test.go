package runsc

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tare/lab"
	"tare/test/labtest"
)

// The version that runsc prints is that of the module, which the linker writes into it.
func TestVersionIsThatOfTheModule(t *testing.T) {
	pinned, err := os.ReadFile("../../parts/gvisor/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	flags, err := os.ReadFile("../../parts/gvisor/ldflags")
	if err != nil {
		t.Fatal(err)
	}
	_, version, found := strings.Cut(strings.TrimSpace(string(flags)), "version.version=")
	if !found || !strings.Contains(string(pinned), "gvisor.dev/gvisor v"+version+" ") {
		t.Errorf("ldflags are %q, which is not the version of go.mod", flags)
	}
}

// A container runs this binary in a namespace that is given, and sees the machine's programs,
// CPU time and boot.
func TestBundle(t *testing.T) {
	text, err := bundle("c1", "/run/netns/c1")
	if err != nil {
		t.Fatal(err)
	}
	var spec specification
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "program", spec.Process.Args[0], lab.SelfInImage)
	labtest.Equal(t, "root file system", spec.Root.Path, root)
	mounted := map[string]string{}
	for _, m := range spec.Mounts {
		mounted[m.At] = strings.Join(m.Options, ",")
	}
	for _, at := range []string{"/usr", "/proc/stat", "/proc/sys/kernel/random/boot_id"} {
		labtest.Equal(t, "options of "+at, mounted[at], "rbind,ro")
	}
	for _, n := range spec.Linux.Namespaces {
		labtest.Equal(t, "path of the namespace "+n.Kind, n.Path, map[string]string{"network": "/run/netns/c1"}[n.Kind])
	}
}
