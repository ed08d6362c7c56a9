package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ModuleError reports that the kernel would load a module that makes devices in every
// network namespace, the machine's own included (net/ipv4/ip_gre.c, net/ipv4/ipip.c), where
// they stay.
type ModuleError struct{ Module, Devices string }

func (e *ModuleError) Error() string {
	return fmt.Sprintf("would load %s, which adds %s to the machine's own network: --load-modules allows it", e.Module, e.Devices)
}

// checkModule returns a *ModuleError where the kernel would load such a module below a root: it
// has the module as a file and has not loaded it.
func checkModule(root, module, devices string) error {
	if _, err := os.Stat(filepath.Join(root, "sys/module", module)); err == nil {
		return nil // it is there
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return fmt.Errorf("read the kernel's release: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(root, "lib/modules", unix.ByteSliceToString(name.Release[:]), "modules.dep"))
	if err != nil {
		return nil // no module can be loaded, or it is not known which
	}
	for line := range strings.Lines(string(text)) {
		path, _, _ := strings.Cut(line, ":")
		file, _, _ := strings.Cut(filepath.Base(path), ".ko")
		if strings.ReplaceAll(file, "-", "_") == module {
			return &ModuleError{module, devices}
		}
	}
	return nil
}

// LoadModule loads a module of the machine's kernel. One that it does not have is no error:
// what needs it says so.
func LoadModule(ctx context.Context, module string) error {
	out, err := exec.CommandContext(ctx, "modprobe", "-q", module).CombinedOutput()
	if absent := new(exec.ExitError); errors.As(err, &absent) && len(out) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load %s: %w: %s: load it as root, or leave --load-modules out", module, err, strings.TrimSpace(string(out)))
	}
	return nil
}
