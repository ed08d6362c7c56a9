package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tare/test/labtest"
)

// TestDeepRelease makes a release of the commit in two clones, and installs it.
func TestDeepRelease(t *testing.T) {
	dist := released(t)
	sums := read(t, filepath.Join(dist, "SHA256SUMS"))
	labtest.Equal(t, "files of a release", strings.Count(sums, "\n"), 8) // of each architecture: binary, what is in it, deb, rpm
	labtest.Equal(t, "sums of a second build", read(t, filepath.Join(released(t), "SHA256SUMS")), sums)

	debs, err := filepath.Glob(filepath.Join(dist, "tare_*_"+runtime.GOARCH+".deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("packages of Debian for %s: %q, %v", runtime.GOARCH, debs, err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg/info"), 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, root, "touch", "var/lib/dpkg/status")
	do(t, root, "dpkg", "--root="+root, "--install", debs[0])
	tare := filepath.Join(root, "usr/bin/tare")
	labtest.Contains(t, "tare version", do(t, root, tare, "version"), "commit "+do(t, dist, "git", "rev-parse", "HEAD"))
	labtest.Contains(t, "tare run --dry-run", do(t, root, tare, "run", "--dry-run", "--networks", "vxlan"), "- vxlan")
	labtest.Contains(t, "man tare-run", do(t, root, "man", "--manpath="+filepath.Join(root, "usr/share/man"), "tare-run"), "TARE-RUN(1)")
	labtest.Contains(t, "the completion of bash", read(t, filepath.Join(root, "usr/share/bash-completion/completions/tare")), "complete -o default -F __start_tare tare")
	do(t, root, "dpkg", "--root="+root, "--purge", "tare")
	if _, err := os.Stat(filepath.Join(root, "usr")); !os.IsNotExist(err) {
		t.Errorf("it leaves %s/usr behind: %v", root, err)
	}
}

// released is the folder of a release that a new clone makes.
func released(t *testing.T) string {
	t.Helper()
	clone := t.TempDir()
	do(t, "../..", "git", "clone", "--quiet", "--depth=1", "file://"+strings.TrimSpace(do(t, "../..", "git", "rev-parse", "--show-toplevel")), clone)
	do(t, clone, "make", "dist")
	return filepath.Join(clone, "dist")
}

func do(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", argv, err, out, &said)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
