package kinds_test

import (
	"strings"
	"testing"

	"tare/lab"
	"tare/site"
)

// hasTheMachinesPrograms holds that real servers and clients run in the containers of a cluster
// with an engine, which can write where they must and nowhere that is the machine's.
func hasTheMachinesPrograms(t *testing.T, l *site.Lab, cluster string) {
	for _, c := range []struct{ script, want string }{
		{"/usr/sbin/nginx -v 2>&1", "nginx version"},
		{"/usr/sbin/mariadbd --version", "MariaDB"},
		{"wrk -v 2>&1; true", "wrk"},
		{"id -un; awk 'BEGIN { print \"by a link\" }'", "root\nby a link"},
		{"cd " + lab.Scratch + " && echo of this container > file && cp file /tmp && cat /tmp/file", "of this container"},
		{"grep ' /usr ' /proc/mounts | cut -d' ' -f4 | cut -d, -f1", "ro"},
		{"touch /usr/tare /opt/tare 2>&1 || true", "Read-only file system"},
	} {
		if printed := shell(t, l, cluster+".h1/c1", c.script); !strings.Contains(printed, c.want) {
			t.Errorf("%s: %q, want %q", c.script, printed, c.want)
		}
	}
	if _, status, err := exec(t.Context(), l, cluster+".h1/c2", "cat", lab.Scratch+"/file"); err != nil || status == 0 {
		t.Errorf("another container has the file: status %d, %v", status, err)
	}
}
