package traffictest

import (
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// fewPorts is set in a child process of RunInNamespace.
const fewPorts = "TRAFFIC_TEST_FEW_PORTS"

// RunInNamespace runs the check of RunTests in a child with its own network namespace.
func RunInNamespace(t *testing.T) {
	t.Helper()
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), fewPorts+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid := os.Geteuid(); uid != 0 {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("in a network namespace: %v\n%s", err, out)
	}
}

// OnFewPorts leaves the namespace twenty ports to connect from, and listens.
func OnFewPorts() (*traffic.Listener, error) {
	if err := LoopbackUp(); err != nil {
		return nil, err
	}
	// Ports of one parity are used first; with all taken, connect fails.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0); err != nil {
		return nil, err
	}
	return traffic.ListenTCP(netip.AddrPortFrom(Loopback.Addr(), 5300))
}

// LoopbackUp brings up the loopback of this thread's namespace.
func LoopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer traffic.CloseSocket(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
