package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// A kernel that has a module as a file would load it; one that has loaded it, or has none,
// would not.
func TestModulesThatWouldBeLoadedAreSpared(t *testing.T) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(name.Release[:])
	const dep = "kernel/net/ipv4/ip_gre.ko.xz: kernel/net/ipv4/gre.ko.xz\nkernel/net/8021q/8021q.ko:\nkernel/drivers/nf-x.ko.zst:\n"
	for _, c := range []struct {
		dep, loaded, module string
		spared              bool
	}{
		{dep, "", "ip_gre", true}, {dep, "ip_gre", "ip_gre", false}, {dep, "", "ipip", false},
		{"", "", "ip_gre", false}, {dep, "", "8021q", true}, {dep, "", "nf_x", true},
	} {
		root := t.TempDir()
		for path, text := range map[string]string{"lib/modules/" + release + "/modules.dep": c.dep, "sys/module/" + c.loaded + "/refcnt": "0"} {
			if c.dep == "" && filepath.Base(path) == "modules.dep" {
				continue
			}
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := checkModule(root, c.module, "gre0")
		labtest.Equal(t, c.module+" is spared", errors.As(err, new(*ModuleError)), c.spared)
	}
}
