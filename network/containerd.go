package network

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// Where a host's containerd keeps what is its own.
const (
	containerdRoot   = lab.Scratch + "/containerd"
	containerdSocket = containerdRoot + "/containerd.sock"
	containerdConfig = containerdRoot + "/config.toml"
	podLogs          = containerdRoot + "/logs"
	podConflists     = lab.Scratch + "/cni/net.d"
)

// containerdSettings is containerd's configuration but for the folder of the
// CNI plugins. Lowering a score of the OOM killer takes CAP_SYS_RESOURCE, and
// an AppArmor profile would be the machine's.
const containerdSettings = `version = 2
root = "` + containerdRoot + `/root"
state = "` + containerdRoot + `/state"
[grpc]
  address = "` + containerdSocket + `"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + ImageName + `"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%s"
    conf_dir = "` + podConflists + `"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
[plugins."io.containerd.internal.v1.opt"]
  path = "` + containerdRoot + `/opt"
`

// containerdNeeds are the real parts of a host that runs pods.
func containerdNeeds(plugins ...string) []Need {
	return []Need{
		root(),
		program("containerd", "containerd", "--version"),
		program("ctr", "containerd"),
		program("runc", "runc", "--version"),
		program("iptables", "iptables", "--version"),
		cniPlugins(append(plugins, "loopback")...),
	}
}

// startContainerd starts the host's containerd, whose pods' networks are those
// of the conflist, and gives it the image of this binary.
func startContainerd(h *lab.Host, conflist []byte) (*pods, error) {
	folder, err := cniFolder("loopback")
	if err != nil {
		return nil, err
	}
	containerd, err := Program("containerd")
	if err != nil {
		return nil, err
	}
	// It keeps the results of CNI plugins in /var/lib/cni, and nothing else tells
	// it where.
	if err := seal(h, "/var/lib"); err != nil {
		return nil, err
	}
	if err := h.WriteFile(podConflists+"/10-tare.conflist", conflist, 0o644); err != nil {
		return nil, err
	}
	if err := h.WriteFile(containerdConfig, fmt.Appendf(nil, containerdSettings, folder), 0o644); err != nil {
		return nil, err
	}
	p, err := openPods(h)
	if err != nil {
		return nil, err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name: "containerd", Argv: []string{containerd, "--config", containerdConfig},
		Env: []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin"}, // for runc and iptables
		Ready: func() error {
			// Only then is it worth asking: gRPC waits after a refusal.
			if err := knockUnix(containerdSocket); err != nil {
				return err
			}
			return p.ready()
		},
	})
	if err == nil {
		err = p.addImage()
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// knockUnix tells whether something listens on a unix socket.
func knockUnix(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	return conn.Close()
}

// PodExecVerb is the hidden command that starts a process in a pod's container:
// PodExecVerb CONTAINER COMMAND...
const PodExecVerb = "pod-exec"

// PodExec becomes `ctr tasks exec`, which passes on standard input and output,
// signals and the exit status. Each start has a name of its own.
func PodExec(container string, command []string) error {
	ctr, err := Program("ctr")
	if err != nil {
		return err
	}
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return fmt.Errorf("name process: %w", err)
	}
	argv := append([]string{
		ctr, "--address", containerdSocket, "--namespace", podNamespace,
		"tasks", "exec", "--exec-id", "tare-" + hex.EncodeToString(name), container,
	}, command...)
	if err := unix.Exec(ctr, argv, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	return nil
}
