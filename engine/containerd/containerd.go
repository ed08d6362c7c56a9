// Package containerd drives containerd by its Container Runtime Interface:
// one daemon for each host of a lab, and its pods.
package containerd

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

// The files of a host's containerd.
const (
	folder    = lab.Scratch + "/containerd"
	socket    = folder + "/containerd.sock"
	config    = folder + "/config.toml"
	logs      = folder + "/logs" // of pods
	conflists = lab.Scratch + "/cni/net.d"
)

// settings is containerd's configuration, less the folder of the CNI plugins. To
// lower an OOM score, containerd would need CAP_SYS_RESOURCE, and an AppArmor
// profile would be the machine's.
const settings = `version = 2
root = "` + folder + `/root"
state = "` + folder + `/state"
[grpc]
  address = "` + socket + `"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + engine.ImageName + `"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%s"
    conf_dir = "` + conflists + `"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
[plugins."io.containerd.internal.v1.opt"]
  path = "` + folder + `/opt"
`

// Needs lists the programs of a host that runs pods, less its CNI plugins.
func Needs() []engine.Need {
	return []engine.Need{
		engine.NeedRoot(),
		engine.NeedProgram("containerd", "containerd", "--version"),
		engine.NeedProgram("ctr", "containerd"),
		engine.NeedProgram("runc", "runc", "--version"),
		engine.NeedProgram("iptables", "iptables", "--version"),
	}
}

// Start starts a host's containerd and gives it the image of a lab's containers. Its
// pods' networks are those of a CNI configuration list, whose plugins are in one
// folder, with the plugin loopback.
func Start(h *lab.Host, plugins string, conflist []byte) (*Client, error) {
	containerd, err := engine.Program("containerd")
	if err != nil {
		return nil, err
	}
	// It caches the results of CNI plugins in /var/lib/cni, which no setting
	// changes.
	if err := engine.Seal(h, "/var/lib"); err != nil {
		return nil, err
	}
	if err := h.WriteFile(conflists+"/10-tare.conflist", conflist, 0o644); err != nil {
		return nil, err
	}
	if err := h.WriteFile(config, fmt.Appendf(nil, settings, plugins), 0o644); err != nil {
		return nil, err
	}
	c, err := open(h)
	if err != nil {
		return nil, err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name: "containerd", Argv: []string{containerd, "--config", config},
		Env: []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin"}, // for runc and iptables
		Ready: func() error {
			// A request before that would make gRPC back off.
			if err := engine.Listens(socket); err != nil {
				return err
			}
			return c.ready()
		},
	})
	if err == nil {
		err = c.addImage()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ExecVerb is the hidden command that starts a process in a pod's container:
// ExecVerb CONTAINER COMMAND...
const ExecVerb = "pod-exec"

// Exec replaces this process by `ctr tasks exec`, which passes on standard input
// and output, signals and the exit status. Each call takes a new name for the
// process.
func Exec(container string, command []string) error {
	ctr, err := engine.Program("ctr")
	if err != nil {
		return err
	}
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return fmt.Errorf("name process: %w", err)
	}
	argv := append([]string{
		ctr, "--address", socket, "--namespace", namespace,
		"tasks", "exec", "--exec-id", "tare-" + hex.EncodeToString(name), container,
	}, command...)
	if err := unix.Exec(ctr, argv, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	return nil
}
