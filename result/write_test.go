package result

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onSmallDisk makes this binary, run again in its own namespace, the other half of
// TestLabFullDisk. It holds a folder.
const onSmallDisk = "TARE_TEST_SMALL_DISK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(onSmallDisk); dir != "" {
		if err := fillSmallDisk(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func small(id string) *Result { return &Result{Schema: Schema, ID: id} }

// idIn gives the id of the result in a file, and fails without one.
func idIn(t *testing.T, path string) string {
	t.Helper()
	res, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return res.ID
}

// alone fails if the folder holds anything but these names.
func alone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, want %q", found, names)
	}
}

func TestWriteFileReplacesAndKeepsTheMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	if err := small("one").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := small("two").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	// Who had it open still reads the old one, whole.
	if res, err := Read(old); err != nil || res.ID != "one" {
		t.Errorf("the open file holds %v, %v", res, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if id := idIn(t, path); id != "two" || info.Mode().Perm() != 0o640 {
		t.Errorf("id %q, mode %v", id, info.Mode())
	}
	alone(t, dir, "r.json")
}

func TestWriteFileFollowsALink(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	target, link := filepath.Join(far, "target.json"), filepath.Join(dir, "link.json")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(link, 1); err != nil {
		t.Error(err)
	}
	if err := small("through").WriteFile(link); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != target {
		t.Errorf("the link points to %q, %v", to, err)
	}
	if id := idIn(t, target); id != "through" {
		t.Errorf("the target holds %q", id)
	}
	alone(t, dir, "link.json")
	alone(t, far, "target.json")
}

// TestPipe checks also that CheckWritable does not open the pipe: its reader would
// take the close for the end.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(path, 1); err != nil { // nobody reads yet
		t.Error(err)
	}
	got := make(chan []byte, 1)
	go func() {
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		got <- text
	}()
	if err := CheckWritable(path, 1); err != nil {
		t.Error(err)
	}
	if err := small("piped").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if res, err := Read(bytes.NewReader(<-got)); err != nil || res.ID != "piped" {
		t.Errorf("the reader has %v, %v", res, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("what was a pipe: %v, %v", info, err)
	}
	alone(t, dir, "pipe")
}

func TestDeviceIsWrittenDirectly(t *testing.T) {
	if err := errors.Join(CheckWritable(os.DevNull, 1), small("x").WriteFile(os.DevNull)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatalf("the null device is no device any more: %v, %v", info, err)
	}
	if err := small("x").WriteFile("/dev/full"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write to a full device: %v", err)
	}
}

func TestFailedWriteLeavesTheOldFileAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	if err := small("old").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	bad := small("new")
	bad.Noise.Steal = math.NaN() // of the result itself: nothing can be left out
	if err := bad.WriteFile(path); err == nil {
		t.Error("NaN was written")
	}
	if id := idIn(t, path); id != "old" {
		t.Errorf("the file holds %q", id)
	}
	alone(t, dir, "r.json")
	if err := small("x").WriteFile(filepath.Join(dir, "no", "r.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("write into a folder that is not there: %v", err)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "r.json"), 1<<10); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		path string
		size int64
		want string
	}{
		"a folder":         {dir, 1, "it is a folder: name a file in it"},
		"a missing folder": {filepath.Join(dir, "no", "r.json"), 1, "choose another place with --out"},
		"no room":          {filepath.Join(dir, "r.json"), math.MaxInt64, "make room or choose another place"},
	} {
		if err := CheckWritable(test.path, test.size); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v does not contain %q", name, err, test.want)
		}
	}
	alone(t, dir)
}

// TestLabFullDisk fills a file system that only this test sees.
func TestLabFullDisk(t *testing.T) {
	self := exec.Command("/proc/self/exe")
	self.Env = append(os.Environ(), onSmallDisk+"="+t.TempDir())
	self.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if out, err := self.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s (it needs user namespaces)", err, out)
	}
}

func fillSmallDisk(dir string) error {
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		return err
	}
	path := filepath.Join(dir, "r.json")
	if err := errors.Join(CheckWritable(path, 1<<10), small("old").WriteFile(path)); err != nil {
		return err
	}
	if err := CheckWritable(path, 1<<20); err == nil || !strings.Contains(err.Error(), "make room") {
		return errors.New("a megabyte has room in 64 kB: " + errorText(err))
	}
	big := small(strings.Repeat("x", 1<<20))
	if err := big.WriteFile(path); !errors.Is(err, syscall.ENOSPC) {
		return errors.New("a megabyte was written into 64 kB: " + errorText(err))
	}
	if res, err := ReadFile(path); err != nil || res.ID != "old" {
		return errors.New("the old file is gone: " + errorText(err))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		return errors.New("a temporary file stays behind")
	}
	if err := unix.Mount("none", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	for _, name := range []string{"r.json", "other.json"} {
		if err := CheckWritable(filepath.Join(dir, name), 1); !errors.Is(err, syscall.EROFS) {
			return errors.New("a read-only file system passes for writable: " + errorText(err))
		}
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
