package traffic

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A container's root may not choose what its kernel has but does not allow to everyone.
func TestARefusedCongestionControlSaysWhere(t *testing.T) {
	for err, want := range map[unix.Errno]string{
		unix.EPERM:  "tcp_allowed_congestion_control: add it there, on the machine itself",
		unix.ENOENT: "tcp_available_congestion_control lists what the kernel has",
	} {
		if got := refusedControl("cubic", err).Error(); !strings.Contains(got, want) || !strings.HasPrefix(got, `set congestion control "cubic": `) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
