package network_test

import (
	"strings"
	"testing"

	"tare/lab"
)

// Real servers and clients run in the containers of real engines, which can
// write where they must and nowhere that is the machine's.
func TestRealContainersHaveTheMachinesPrograms(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, on("docker-bridge"), on("containerd-bridge"))
	for _, at := range []string{"docker-bridge.h1/c1", "containerd-bridge.h1/c1"} {
		for _, c := range []struct{ script, want string }{
			{"/usr/sbin/nginx -v 2>&1", "nginx version"},
			{"/usr/sbin/mariadbd --version", "MariaDB"},
			{"wrk -v 2>&1; true", "wrk"},
			{"id -un; awk 'BEGIN { print \"by a link\" }'", "root\nby a link"},
			{"cd " + lab.Scratch + " && echo of this container > file && cp file /tmp && cat /tmp/file", "of this container"},
			{"grep ' /usr ' /proc/mounts | cut -d' ' -f4 | cut -d, -f1", "ro"},
			{"touch /usr/tare /opt/tare 2>&1 || true", "Read-only file system"},
		} {
			printed, status, err := exec(t.Context(), l, at, "/bin/sh", "-c", c.script)
			if err != nil || status != 0 || !strings.Contains(printed, c.want) {
				t.Errorf("%s in %s: status %d, %v, %q, want %q", c.script, at, status, err, printed, c.want)
			}
		}
	}
	if _, status, err := exec(t.Context(), l, "docker-bridge.h1/c2", "cat", lab.Scratch+"/file"); err != nil || status == 0 {
		t.Errorf("another container has the file: status %d, %v", status, err)
	}
}
