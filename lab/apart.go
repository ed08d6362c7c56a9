package lab

import (
	"os"

	"golang.org/x/sys/unix"
)

// apart are the namespaces that a container does not share with its host.
const apart = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// StartApart starts this binary with the arguments given in new namespaces, on the
// host's CPUs: the least that any container is.
func (h *Host) StartApart(args ...string) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return h.cluster.lab.Processes.Start(h.Namespace, Command{
		Argv: append([]string{Self}, args...), Env: os.Environ(), Files: [3]*os.File{null, null, null}, apart: true,
	})
}
