package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CongestionControls are those that the kernel has loaded (tcp_available_congestion_control, ip-sysctl.rst); none:
// that can't be read.
func CongestionControls() []string { return congestionControlsIn("/") }

func congestionControlsIn(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, "proc/sys/net/ipv4/tcp_available_congestion_control"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// hasCC fails before anything is built where the kernel below a root has no congestion control of the
// plan's name, and can't load it. The error is a *ChoiceError.
func (s Spec) hasCC(root string) error {
	had := congestionControlsIn(root)
	if s.CC == "" || len(had) == 0 || slices.Contains(had, s.CC) || loads(root, "tcp_"+s.CC) {
		return nil
	}
	return &ChoiceError{fmt.Sprintf("--cc %s: this kernel has no such congestion control: give one of %s", s.CC, strings.Join(had, ", "))}
}

// loads reports whether the kernel may load a module: true where it is not known.
func loads(root, module string) bool {
	if _, err := os.Stat(filepath.Join(root, "proc/sys/kernel/modprobe")); errors.Is(err, fs.ErrNotExist) {
		return false // it was built without modules
	}
	release, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/osrelease"))
	if err != nil {
		return true
	}
	text, err := os.ReadFile(filepath.Join(root, "lib/modules", strings.TrimSpace(string(release)), "modules.dep"))
	return err != nil || strings.Contains(string(text), "/"+module+".ko")
}
