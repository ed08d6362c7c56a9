// Package runsc runs the containers of a lab in runsc, gVisor's sandbox: a kernel in user space,
// whose TCP/IP stack takes over the addresses and routes of the container's network namespace and
// exchanges frames with its device by packet sockets. It has no daemon: each container is two
// processes of the host, the sandbox and the one that opens files for it, and those in which the
// container's programs run (platform systrap).
package runsc

import (
	"fmt"
	"path/filepath"

	"tare/engine"
	"tare/lab"
)

// The files of a host's sandboxes, in its host's memory.
const (
	folder = lab.Scratch + "/gvisor"
	root   = folder + "/rootfs" // of all containers; what one writes stays in its sandbox
	state  = folder + "/state"
)

// Needs lists the program.
func Needs() []engine.Need { return []engine.Need{engine.NeedRoot(), needRunsc()} }

// needRunsc prefers the part that is built to what is on the PATH: Debian 12's release does not
// start on Linux 6.18.
func needRunsc() engine.Need {
	need := engine.NeedPart("runsc", "--version")
	need.Find = func() (string, error) {
		if path, err := lab.LookPath(filepath.Join(engine.PartsDir(), "runsc")); err == nil {
			return path, nil
		}
		return engine.Program("runsc")
	}
	return need
}

// Start prepares a host: the files that its containers have besides the machine's programs.
func Start(h *lab.Host) error {
	if err := engine.WriteRoot(h, root); err != nil {
		return fmt.Errorf("prepare %s for runsc: %w", h.Name, err)
	}
	return nil
}

// command is runsc's command line for the host in which it runs. Its control groups are the
// host's, which its processes inherit.
func command(args ...string) ([]string, error) {
	program, err := needRunsc().Require()
	if err != nil {
		return nil, err
	}
	own := []string{
		program, "--root=" + state, "--platform=systrap", "--network=sandbox", "--overlay2=root:memory", "--ignore-cgroups",
		"--host-settings=ignore", // they are the machine's
	}
	return append(own, args...), nil
}
