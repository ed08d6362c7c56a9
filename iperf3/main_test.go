package iperf3

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/traffic"
)

// inNamespace marks the process that runs the tests.
const inNamespace = "IPERF3_TEST_NAMESPACE"

// TestMain runs all tests in a separate network namespace, whose loopback
// is the only network they know. Quick tests alone do without.
func TestMain(m *testing.M) {
	quick, err := labtest.MarkQuickRun()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if quick {
		os.Exit(m.Run())
	}
	if os.Getenv(inNamespace) == "" {
		os.Exit(runInNamespace())
	}
	if err := loopbackUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(traffic.Processors(100))
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20)
	// The parallel tests send little, and wait for the most part.
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func runInNamespace() int {
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Env = append(os.Environ(), inNamespace+"=1")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid := os.Geteuid(); uid != 0 {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	}
	runtime.LockOSThread() // the parent-death signal is that of the thread
	if err := child.Run(); err != nil {
		if child.ProcessState == nil {
			fmt.Fprintln(os.Stderr, "start the tests in a network namespace:", err)
		}
		return 1
	}
	return 0
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// loopback is where a test's server listens, at a port that its test chooses.
var loopback = netip.MustParseAddrPort("127.0.0.1:0")
