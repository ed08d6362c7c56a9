package site

import (
	"os"
	"path/filepath"
	"testing"

	"tare/test/labtest"
)

// A congestion control that the kernel has not, and can't load, is refused with those that it has.
func TestCongestionControlsThatAreNot(t *testing.T) {
	const (
		listed   = "proc/sys/net/ipv4/tcp_available_congestion_control"
		modprobe = "proc/sys/kernel/modprobe"
		release  = "proc/sys/kernel/osrelease"
		modules  = "lib/modules/6.1.0-50-amd64/modules.dep"
		refused  = "--cc bbr2: this kernel has no such congestion control: give one of reno, cubic"
	)
	for about, c := range map[string]struct {
		cc, want string
		files    map[string]string
	}{
		"one that is loaded":        {"cubic", "", map[string]string{listed: "reno cubic\n"}},
		"none is asked for":         {"", "", map[string]string{listed: "reno cubic\n"}},
		"a kernel without modules":  {"bbr2", refused, map[string]string{listed: "reno cubic\n"}},
		"no such module":            {"bbr2", refused, map[string]string{listed: "reno cubic\n", modprobe: "/sbin/modprobe\n", release: "6.1.0-50-amd64\n", modules: "kernel/net/ipv4/tcp_bbr.ko:\n"}},
		"a module":                  {"bbr", "", map[string]string{listed: "reno cubic\n", modprobe: "/sbin/modprobe\n", release: "6.1.0-50-amd64\n", modules: "kernel/net/ipv4/tcp_bbr.ko.xz:\n"}},
		"modules that are not seen": {"bbr2", "", map[string]string{listed: "reno cubic\n", modprobe: "/sbin/modprobe\n", release: "6.1.0-50-amd64\n"}},
		"nothing can be read":       {"bbr2", "", nil},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := (Spec{CC: c.cc}).hasCC(root); err != nil {
			got = err.Error()
		}
		labtest.Equal(t, about, got, c.want)
	}
}
