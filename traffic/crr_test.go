package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// fewPorts names, in a child process of runInNamespace, what it checks.
const fewPorts = "TRAFFIC_TEST_FEW_PORTS"

// A namespace with twenty ports to connect from, and many more
// connections: they fit only if the client's ports are free at once.
func TestLabTCPCRRDoesNotRunOutOfPorts(t *testing.T) { runInNamespace(t, "tcp_crr") }

// runInNamespace runs a check in a child with its own network namespace.
func runInNamespace(t *testing.T, check string) {
	t.Helper()
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), fewPorts+"="+check)
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid := os.Geteuid(); uid != 0 {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("in a network namespace: %v\n%s", err, out)
	}
}

// runOnFewPorts is the child: it runs in its own namespace.
func runOnFewPorts(check string) int {
	checks := map[string]func() error{"tcp_crr": checkFewPorts, "http": checkHTTPFewPorts}
	if err := checks[check](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// onFewPorts leaves the namespace twenty ports to connect from, and listens.
func onFewPorts() (*Listener, error) {
	if err := loopbackUp(); err != nil {
		return nil, err
	}
	// Ports of one parity are used first; with all taken, connect fails.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0); err != nil {
		return nil, err
	}
	return ListenTCP(netip.AddrPortFrom(loopback.Addr(), 5300))
}

func checkFewPorts() error {
	const ports = 20
	l, err := onFewPorts()
	if err != nil {
		return err
	}
	c := RequestResponse{Token: testToken, Window: Window{Duration: 300 * time.Millisecond}}
	for answered := int64(0); answered < 3*ports; { // fewer show nothing
		served, calls, serveErr, callErr := ends(
			func(ctx context.Context) (Served, error) { return ServeTCPCRR(ctx, l, c) },
			func(ctx context.Context) (Transactions, error) { return CallTCPCRR(ctx, l.Addr(), c) })
		if serveErr != nil || callErr != nil {
			return fmt.Errorf("serving end: %w; calling end: %w", serveErr, callErr)
		}
		if len(calls.Failures) > 0 || served.Transactions == 0 {
			return fmt.Errorf("%d connections, and failures %v", calls.Count, calls.Failures)
		}
		answered += served.Transactions
	}
	if again, err := tcpCounter("TCPSynRetrans"); err != nil || again > 0 {
		return fmt.Errorf("%d SYNs were sent again, %w", again, err)
	}
	return checkNoPortLeft(l.Addr(), c, ports)
}

// checkNoPortLeft takes every port first: the run ends by itself, and reports why.
func checkNoPortLeft(to netip.AddrPort, c RequestResponse, ports int) error {
	for range ports {
		conn, err := net.Dial("tcp", to.String())
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous)
	defer cancel()
	c.Window.Duration = time.Hour
	if _, err := CallTCPCRR(ctx, to, c); !errors.Is(err, errPortsUsed) {
		return fmt.Errorf("without a port the run ended with: %w", err)
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeSocket(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

func TestTCPCRRNamesItsFailures(t *testing.T) {
	var f failures
	for range 3 {
		f.add("connect", fmt.Errorf("open: %w", unix.ECONNREFUSED))
	}
	f.add("connect", unix.EADDRNOTAVAIL)
	f.add("receive", errPeerClosed)
	for i := range 20 {
		f.add("send", syscall.Errno(i+1))
	}
	names := f.named()
	want := map[string]int64{
		"connect: connection refused":              3,
		"connect: cannot assign requested address": 1,
		"receive: the peer closed the connection":  1,
		"send: operation not permitted":            1,
		"other causes":                             7,
	}
	for name, n := range want {
		if names[name] != n {
			t.Errorf("%q: %d, want %d", name, names[name], n)
		}
	}
}
