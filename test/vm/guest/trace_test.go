package guest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tare/result"
	"tare/test/labtest"
)

// traced is what tare trace measures of a network between hosts, and its exit status.
func traced(t *testing.T, name string) (cell result.Cell, status int) {
	t.Helper()
	out, err := exec.Command(labtest.Tare(t), "trace", "--networks", name, "--paths", "cross-host", "--workloads", "tcp_rr", "--blocks", "2", "--load-modules", "--json").Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed != nil {
		status = failed.ExitCode()
	}
	for _, c := range decode[result.Result](t, out).Cells {
		if c.Network == name {
			return c, status
		}
	}
	t.Fatalf("tare trace measured no %s: %v", name, err)
	return result.Cell{}, 0
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
			c, status := traced(t, name)
			if c.Trace == nil {
				t.Fatalf("%s was not traced: %s", name, c.Reason)
			}
			if !hasTracepoints() {
				labtest.Equal(t, "exit status", status, 3)
				labtest.Equal(t, "tier", c.Trace.Tier, 0)
				labtest.Contains(t, "what it lacks", strings.Join(c.Trace.Lacks, "\n"), "Linux 6.3")
				return
			}
			labtest.Equal(t, "exit status", status, 0)
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
	c, status := traced(t, "route")
	labtest.Equal(t, "exit status", status, 3)
	if c.Trace == nil {
		t.Fatal("there is no trace")
	}
	labtest.Equal(t, "tier", c.Trace.Tier, 0)
	labtest.Contains(t, "what it lacks", strings.Join(c.Trace.Lacks, "\n"), "BTF")
}
