// Package podman drives Podman: in each host of a lab its containers, their network by netavark
// or slirp4netns, with crun and conmon. It has no daemon.
package podman

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

// The files of a host's Podman, in its host's memory.
const (
	folder   = lab.Scratch + "/podman"
	settings = folder + "/containers.conf"
	storage  = folder + "/storage.conf"
)

// loadWait is how long it may take to unpack the image on a CPU that is emulated.
const loadWait = 3 * time.Minute

// Needs lists the programs of Podman.
func Needs() []engine.Need {
	return []engine.Need{
		engine.NeedRoot(),
		engine.NeedProgram("podman", "podman", "--version"),
		engine.NeedProgram("conmon", "conmon", "--version"),
		engine.NeedProgram("crun", "crun", "--version"),
	}
}

// NeedNetavark is the program that attaches containers to bridges, which only Podman starts.
func NeedNetavark() engine.Need {
	return engine.Need{What: "netavark", Get: "apt-get install netavark", Version: []string{"--version"}, Find: func() (string, error) {
		for _, path := range helperFolders() {
			if found, err := lab.LookPath(path + "/netavark"); err == nil {
				return found, nil
			}
		}
		return "", errors.New("netavark is not in podman's folders")
	}}
}

// helperFolders are where Podman looks for its helpers (helper_binaries_dir of containers.conf(5)).
func helperFolders() []string {
	return []string{"/usr/local/libexec/podman", "/usr/local/lib/podman", "/usr/libexec/podman", "/usr/lib/podman"}
}

// Try reports whether the kernel has what Podman needs apart from bridges: an overlay file
// system for its containers.
func Try(h *lab.Host) error { return engine.Seal(h, "/var/lib") }

// Start prepares a host for Podman, with all its files in the host's memory, and loads the image
// of this binary. Locks are files, as those in /dev/shm would be the machine's.
func Start(h *lab.Host) error {
	if err := engine.Seal(h, "/etc", "/var/lib"); err != nil {
		return err
	}
	if err := h.Inside(hideUnified); err != nil {
		return fmt.Errorf("prepare %s for podman: %w", h.Name, err)
	}
	text := fmt.Sprintf(`[containers]
apparmor_profile = "unconfined" # a profile would be the machine's
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
runtime = "crun"
tmp_dir = %q
[network]
network_backend = "netavark"
network_config_dir = %q
`, folder+"/tmp", folder+"/networks")
	if err := h.WriteFile(settings, []byte(text), 0o600); err != nil {
		return err
	}
	text = fmt.Sprintf("[storage]\ndriver = \"overlay\"\nrunroot = %q\ngraphroot = %q\n", folder+"/run", folder+"/root")
	if err := h.WriteFile(storage, []byte(text), 0o600); err != nil {
		return err
	}
	image, err := engine.WriteImage(h)
	if err != nil {
		return err
	}
	if _, err := h.RunWithin(loadWait, command("load", "--quiet", "--input", image)...); err != nil {
		return fmt.Errorf("load image: %w", err)
	}
	return h.Inside(func() error { return os.Remove(image) })
}

// hideUnified hides the second kind of control groups from Podman where a machine has both kinds
// with controllers: crun refuses to start a container there, even one without control groups.
func hideUnified() error {
	err := unix.Unmount("/sys/fs/cgroup/unified", unix.MNT_DETACH)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // it is not there, or not mounted
		return nil
	}
	return err
}

// AddBridge makes a network of Podman's on a bridge, with the host's range for containers, of
// IPv6 too where the host has that, and the given MTU.
func AddBridge(h *lab.Host, name string, mtu int) error {
	args := []string{"network", "create", "--disable-dns", "--subnet", h.Subnet().String(), "--opt", "mtu=" + strconv.Itoa(mtu)}
	if h.At().Is6() {
		args = append(args, "--ipv6", "--subnet", lab.IPv6PrefixOf(h.Subnet()).String())
	}
	_, err := h.Run(command(append(args, name)...)...)
	return err
}

// command is Podman's command line for the host in which it runs, whatever its user has
// configured. The PATH is that of the programs that it starts.
func command(args ...string) []string {
	own := []string{
		"env", "CONTAINERS_CONF=" + settings, "CONTAINERS_STORAGE_CONF=" + storage, "TMPDIR=" + folder,
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "podman",
	}
	return append(own, args...)
}
