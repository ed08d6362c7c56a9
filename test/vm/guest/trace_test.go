package guest

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"tare/result"
	"tare/test/labtest"
)

// tracing is tare trace of a network between hosts.
func tracing(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	return exec.Command(labtest.Tare(t), "trace", "--networks", name, "--paths", "cross-host", "--workloads", "tcp_rr", "--blocks", "2", "--load-modules", "--json")
}

// traceIsRefused holds that it measures nothing, and says what it takes.
func traceIsRefused(t *testing.T, name, takes string) {
	t.Helper()
	out, err := tracing(t, name).Output()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		t.Fatalf("tare trace ended with %v, and is to be refused", err)
	}
	labtest.Equal(t, "exit status", failed.ExitCode(), 3)
	labtest.Equal(t, "output", string(out), "")
	labtest.Contains(t, "what it says", string(failed.Stderr), "no packet can be followed here: ")
	labtest.Contains(t, "what it says", string(failed.Stderr), takes)
}

// hasTracepoints reports whether the kernel has the tracepoints that packets are followed
// by: Linux 6.3.
func hasTracepoints() bool {
	_, err := os.Stat("/sys/kernel/tracing/events/sock/sk_data_ready")
	return err == nil
}

// TestVMTrace follows packets with the types of another kernel's BTF, or says what that
// takes: on networks that this machine's own kernel has not.
func TestVMTrace(t *testing.T) {
	labtest.NeedsVM(t)
	for _, name := range []string{"vlan", "ovs", "wireguard"} {
		t.Run(name, func(t *testing.T) {
			if !hasTracepoints() {
				traceIsRefused(t, name, "Linux 6.3")
				return
			}
			out, err := tracing(t, name).Output()
			if err != nil {
				t.Fatal(err)
			}
			c, is := result.First(decode[result.Result](t, out).Cells, func(c result.Cell) bool { return c.Network == name })
			if !is || c.Trace == nil {
				t.Fatalf("%s was not traced: %s", name, c.Reason)
			}
			labtest.AtLeast(t, "tier", c.Trace.Tier, 1)
			labtest.AtLeast(t, "hops", len(c.Trace.Hops), 4)
			labtest.AtLeast(t, "ways that were followed", c.Trace.Ways, 1) // how many depends on how fast the guest is
			labtest.Near(t, "sum of the hops in us", 1e6*c.Trace.Sum, 1e6*c.Trace.Mean, 1e6*c.Trace.Mean/20)
		})
	}
}

// TestVMTraceWithoutBTF says that it takes BTF.
func TestVMTraceWithoutBTF(t *testing.T) {
	labtest.NeedsVM(t)
	const btf = "/sys/kernel/btf"
	if err := unix.Mount("none", btf, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(btf, 0); err != nil {
			t.Error(err)
		}
	}()
	traceIsRefused(t, "route", "BTF")
}
