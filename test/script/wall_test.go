package script

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// behind is the environment variable of the process of the test that is behind the wall.
const behind = "TARE_TEST_BEHIND_WALL"

// TestNothingIsBuiltBehindTheWall: what makes labs is refused there, and nothing else.
func TestNothingIsBuiltBehindTheWall(t *testing.T) {
	if os.Getenv(behind) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), behind+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := Wall(); err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"a process":     func() error { return exec.Command("/proc/self/exe", "-test.run=^$").Run() },
		"a namespace":   func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"a mount":       func() error { return unix.Mount("none", t.TempDir(), "tmpfs", 0, "") },
		"a TCP socket":  func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"a Unix socket": func() error { _, err := net.Dial("unix", "@nobody"); return err },
	} {
		if err := try(); !errors.Is(err, unix.EPERM) {
			t.Errorf("%s: %v, want that it is not permitted", what, err)
		}
	}
	if _, err := os.ReadFile("/proc/self/status"); err != nil {
		t.Error(err)
	}
	threads := make(chan int)
	for range 50 {
		go func() { threads <- unix.Gettid() }()
	}
	for range 50 {
		<-threads
	}
}
