package site_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tare/site"
	"tare/test/labtest"
)

// A lab that would not fit is refused with the number, the limit and the command, before
// anything is built.
func TestLabsThatDoNotFitAreRefused(t *testing.T) {
	large := site.Spec{Clusters: []site.ClusterSpec{
		{Name: "host", Network: "host", Hosts: 40, Containers: 10}, {Name: "route", Network: "route", Hosts: 40, Containers: 10},
	}}
	for want, c := range map[string]struct {
		files       map[string]string
		descriptors int
	}{
		"": {map[string]string{"proc/sys/user/max_net_namespaces": "482\n", "proc/meminfo": "MemAvailable: 1048576 kB\n"}, 1100},
		"the lab needs 482 network namespaces, and this machine allows 440: sysctl user.max_net_namespaces=482": {
			map[string]string{"proc/sys/user/max_net_namespaces": "440\n"}, -1},
		"the lab needs 1064 open files, and this machine allows 900: ulimit -Hn 1064, as root": {nil, 900},
		"the lab needs 241 MiB of memory, and this machine allows 100: use fewer --hosts or --containers than for 241 MiB": {
			map[string]string{"proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 102400 kB\n"}, -1},
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
		err := site.Fits(large, root, c.descriptors)
		text := ""
		if err != nil {
			text = err.Error()
			labtest.Equal(t, "it is a limit's", errors.As(err, new(*site.LimitError)), true)
		}
		labtest.Equal(t, "error", text, want)
	}
}
