package network

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tare/lab"
)

// Where a Docker Engine keeps all that is its own, in its host's memory.
const (
	dockerDir        = lab.Scratch + "/docker"
	dockerSocket     = dockerDir + "/docker.sock"
	dockerContainerd = dockerDir + "/containerd.sock"
	dockerHelpers    = dockerDir + "/bin"
)

// dockerNeeds are the real parts of a Docker Engine.
func dockerNeeds() []Need {
	return []Need{
		root(),
		program("dockerd", "docker.io", "--version"),
		program("docker", "docker.io"),
		program("docker-proxy", "docker.io"),
		program("containerd", "containerd", "--version"),
		program("containerd-shim-runc-v2", "containerd"),
		program("runc", "runc", "--version"),
		program("iptables", "iptables", "--version"),
	}
}

// dockerEngine is what several networks of Docker's share: an engine in each
// host, as it comes, whose own bridge has the host's range for containers.
func dockerEngine() Engine {
	return Engine{Name: "docker", Start: func(cluster *lab.Cluster) error { return startDockers(cluster, dockerLiveRestore) }}
}

// dockerLiveRestore has containers outlive their engine, which a Swarm refuses.
const dockerLiveRestore = "--live-restore"

// startDockers starts an engine in every host at once. flags are dockerd's own.
func startDockers(cluster *lab.Cluster, flags ...string) error {
	return allHosts(cluster, func(h *lab.Host) error {
		gateway := netip.PrefixFrom(h.Subnet().Addr().Next(), h.Subnet().Bits())
		own := []string{"--bip", gateway.String(), "--mtu", strconv.Itoa(cluster.Spec.MTU)}
		return startDocker(h, append(own, flags...)...)
	})
}

// startDocker starts containerd and dockerd in a host as Debian's services do,
// with all that is theirs in the host's memory, and loads the image that holds
// only this binary.
func startDocker(h *lab.Host, flags ...string) error {
	// dockerd writes /etc/docker and, for the balancers of Swarm's overlays, whatever
	// its data folder is, /var/lib/docker.
	if err := seal(h, "/etc", "/var/lib"); err != nil {
		return err
	}
	path, err := dockerPath(h)
	if err != nil {
		return err
	}
	if err := startDockerContainerd(h, path); err != nil {
		return err
	}
	if err := startDockerd(h, path, flags); err != nil {
		return err
	}
	image, err := writeImageTo(h)
	if err != nil {
		return err
	}
	if _, err := docker(h, "load", "--quiet", "--input", image); err != nil {
		return fmt.Errorf("load image: %w", err)
	}
	return h.Inside(func() error { return os.Remove(image) })
}

// dockerPath is a PATH with the programs that an engine starts and no other:
// dockerd would load br_netfilter, which changes every bridge of the machine.
func dockerPath(h *lab.Host) (string, error) {
	err := h.Inside(func() error {
		if err := os.MkdirAll(dockerHelpers, 0o755); err != nil {
			return err
		}
		for _, need := range dockerNeeds() {
			at, err := need.Find()
			if err != nil {
				return &MissingError{need.What, need.Get, err}
			}
			if at == "" {
				continue
			}
			if err := os.Symlink(at, filepath.Join(dockerHelpers, need.What)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("gather what dockerd starts in %s: %w", h.Name, err)
	}
	return "PATH=" + dockerHelpers, nil
}

func startDockerContainerd(h *lab.Host, path string) error {
	config := fmt.Sprintf(`version = 2
root = "%s/containerd"
state = "%s/containerd-state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
address = "%s"
[debug]
level = "warn"
`, dockerDir, dockerDir, dockerContainerd)
	file := filepath.Join(dockerDir, "containerd.toml")
	if err := h.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	_, err := h.StartDaemon(lab.Daemon{
		Name: "containerd", Argv: []string{filepath.Join(dockerHelpers, "containerd"), "--config", file}, Env: []string{path},
		Ready: func() error {
			conn, err := net.Dial("unix", dockerContainerd)
			if err != nil {
				return err
			}
			return conn.Close()
		},
	})
	return err
}

func startDockerd(h *lab.Host, path string, flags []string) error {
	config := filepath.Join(dockerDir, "daemon.json")
	if err := h.WriteFile(config, []byte("{}"), 0o600); err != nil {
		return err
	}
	argv := []string{
		filepath.Join(dockerHelpers, "dockerd"), "--config-file", config, "--host", "unix://" + dockerSocket, "--group", "root",
		"--data-root", dockerDir + "/data", "--exec-root", dockerDir + "/exec", "--pidfile", dockerDir + "/dockerd.pid",
		"--containerd", dockerContainerd, "--storage-driver", "overlay2", "--log-level", "warn",
		"--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", h.Cgroup(),
		"--oom-score-adjust", "0", // a lower one takes CAP_SYS_RESOURCE
		"--userland-proxy-path", filepath.Join(dockerHelpers, "docker-proxy"),
	}
	_, err := h.StartDaemon(lab.Daemon{
		Name: "dockerd", Argv: append(argv, flags...), Env: []string{path}, Ready: pingDocker,
		Restarts: true,
	})
	return err
}

// DockerRestart is a command that does in a host of a lab what
// "systemctl restart docker" does on a machine; empty: the containers of the
// network would not outlive it.
func (n Network) DockerRestart() string {
	if n.Engine.Name != dockerEngine().Name {
		return ""
	}
	return "kill $(cat " + dockerDir + "/dockerd.pid) && for try in $(seq 200); do sleep 0.1; iptables -t nat -S DOCKER >/dev/null 2>&1 && break; done"
}

// pingDocker asks the engine whether it is there.
func pingDocker() error {
	conn, err := net.Dial("unix", dockerSocket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(conn, "GET /_ping HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	status, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if fields := strings.Fields(status); len(fields) < 2 || fields[1] != strconv.Itoa(http.StatusOK) {
		return errors.New(strings.TrimSpace(status))
	}
	return nil
}

// dockerCommand is Docker's command line, spoken to the engine of the host in
// which it runs and to no other that its user has configured.
func dockerCommand(args ...string) []string {
	return append([]string{filepath.Join(dockerHelpers, "docker"), "--config", dockerDir, "--host", "unix://" + dockerSocket}, args...)
}

// docker gives the host's engine a command.
func docker(h *lab.Host, args ...string) (string, error) {
	return h.Run(dockerCommand(args...)...)
}
