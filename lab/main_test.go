package lab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tare/test/labtest"
)

// TestMain enters the lab where it is the init of one: see TestLabInside.
func TestMain(m *testing.M) {
	runtime.LockOSThread()
	if os.Getpid() == 1 && os.Getenv(labtest.Mark) != "" {
		if err := Enter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	} else if err := os.Setenv(labtest.Mark, fmt.Sprintf("lab-%d", os.Getpid())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestLabInside runs the table inside as the init of a lab, which this process
// starts: once as its own user, and, if that is root, once as an ordinary one.
func TestLabInside(t *testing.T) {
	if os.Getpid() == 1 {
		for _, c := range inside {
			t.Run(c.about, func(t *testing.T) {
				labtest.NoLeaks(t)
				c.test(t)
			})
		}
		return
	}
	binary := labtest.Readable(t)
	for _, uid := range users() {
		t.Run(fmt.Sprintf("uid %d", uid), func(t *testing.T) {
			labtest.NoLeaks(t)
			runInside(t, binary, uid)
		})
	}
}

// runInside runs TestLabInside as the init of a lab of that user's.
func runInside(t *testing.T, binary string, uid int) {
	arguments := []string{"-test.run=^TestLabInside$", "-test.v", "-test.timeout=10m"}
	var cmd *exec.Cmd
	if uid == os.Geteuid() {
		runtime.LockOSThread() // the parent-death signal is that of the thread
		defer runtime.UnlockOSThread()
		cmd = exec.Command(binary, arguments...)
		cmd.SysProcAttr = Attributes(true)
	} else {
		// That user's process starts its own lab.
		cmd = exec.Command(binary, arguments...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(Explain(err))
	}
	for _, c := range inside {
		if !bytes.Contains(out, []byte("--- PASS: TestLabInside/"+strings.ReplaceAll(c.about, " ", "_")+" (")) {
			t.Errorf("%q did not run", c.about)
		}
	}
}

// users are those that the lab is tested as.
func users() []int {
	if os.Geteuid() == 0 {
		return []int{0, labtest.Nobody}
	}
	return []int{os.Geteuid()}
}
