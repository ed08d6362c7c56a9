// Package docker drives Docker Engine: one containerd and one dockerd for each host
// of a lab, their containers, and Docker Swarm.
package docker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

// The files of a Docker Engine, in its host's memory.
const (
	folder           = catalog.DockerFolder
	socket           = folder + "/docker.sock"
	containerdSocket = folder + "/containerd.sock"
	programs         = folder + "/bin"
)

// loadWait is how long an engine may take to unpack the image: a CPU that is emulated took
// more than a minute beside other work.
const loadWait = 3 * time.Minute

// Needs lists the programs of a Docker Engine.
func Needs() []engine.Need {
	return []engine.Need{
		engine.NeedRoot(),
		engine.NeedProgram("dockerd", "docker.io", "--version"),
		engine.NeedProgram("docker", "docker.io"),
		engine.NeedProgram("docker-proxy", "docker.io"),
		engine.NeedProgram("containerd", "containerd", "--version"),
		engine.NeedProgram("containerd-shim-runc-v2", "containerd"),
		engine.NeedProgram("runc", "runc", "--version"),
		engine.NeedProgram("iptables", "iptables", "--version"),
		engine.NeedProgram("ip6tables", "iptables"),
	}
}

// Try reports whether the kernel has what dockerd needs apart from bridges: an
// overlay file system, and NAT by iptables.
func Try(h *lab.Host) error {
	if err := engine.Seal(h, "/etc"); err != nil { // mounts an overlay, as images are
		return err
	}
	iptables, err := engine.Program("iptables")
	if err != nil {
		return err
	}
	_, err = h.Run(iptables, "--table", "nat", "--append", "PREROUTING", "--match", "addrtype", "--dst-type", "LOCAL", "--protocol", "tcp",
		"--dport", "1", "--jump", "DNAT", "--to-destination", h.Addr.String())
	return err
}

// NoRules is the flag of dockerd with which it adds no rules of netfilter.
const NoRules = "--iptables=false"

// NoProxy is the flag of dockerd with which no process relays published ports: rules take what comes
// from the host itself and from its containers too.
const NoProxy = "--userland-proxy=false"

// LiveRestore is the flag of dockerd with which containers survive a restart of
// their engine. A Swarm refuses it.
const LiveRestore = "--live-restore"

// Start starts containerd and the chosen dockerd in a host as Debian's services do, with all
// their files in the host's memory, and loads the image of a lab's containers. The
// engine's own bridge has the host's range for containers, of IPv6 too where the host
// has that, and the given MTU; flags are further flags of dockerd.
func (c Choice) Start(h *lab.Host, mtu int, flags ...string) error {
	// dockerd writes to /etc/docker. For the load balancers of Swarm's overlays it
	// also writes to /var/lib/docker, whatever its data folder is.
	if err := engine.Seal(h, "/etc", "/var/lib"); err != nil {
		return err
	}
	path, err := c.linkPrograms(h)
	if err != nil {
		return err
	}
	if err := startContainerd(h, path); err != nil {
		return err
	}
	gateway := netip.PrefixFrom(h.Subnet().Addr().Next(), h.Subnet().Bits())
	own := []string{"--bip", gateway.String(), "--mtu", strconv.Itoa(mtu)}
	if h.At().Is6() {
		own = append(own, "--ipv6", "--fixed-cidr-v6", lab.IPv6PrefixOf(h.Subnet()).String())
		if !slices.Contains(flags, NoRules) {
			own = append(own, "--experimental", "--ip6tables") // by default since Docker 27
		}
	}
	if err := c.startDockerd(h, path, append(own, flags...)); err != nil {
		return err
	}
	image, err := engine.WriteImage(h)
	if err != nil {
		return err
	}
	if _, err := h.RunWithin(loadWait, client("load", "--quiet", "--input", image)...); err != nil {
		return fmt.Errorf("load image: %w", err)
	}
	return h.Inside(func() error { return os.Remove(image) })
}

// linkPrograms gives an engine a PATH that holds the programs that it starts and
// no other: with modprobe, dockerd would load br_netfilter, which changes every
// bridge of the machine.
func (c Choice) linkPrograms(h *lab.Host) (path string, err error) {
	err = h.Inside(func() error {
		if err := os.MkdirAll(programs, 0o755); err != nil {
			return err
		}
		for _, need := range append(Needs(), c.needs()...) {
			at, err := need.Require()
			if err != nil {
				return err
			}
			switch need.What {
			case "root":
				continue
			case "dockerd":
				at = c.daemon
			case "docker-proxy":
				at = c.proxy
			}
			if err := os.Symlink(at, filepath.Join(programs, need.What)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("link the programs of dockerd in %s: %w", h.Name, err)
	}
	return "PATH=" + programs, nil
}

func startContainerd(h *lab.Host, path string) error {
	config := fmt.Sprintf(`version = 2
root = "%s/containerd"
state = "%s/containerd-state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
address = "%s"
[debug]
level = "warn"
`, folder, folder, containerdSocket)
	file := filepath.Join(folder, "containerd.toml")
	if err := h.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	_, err := h.StartDaemon(lab.Daemon{
		Name: "containerd", Argv: []string{filepath.Join(programs, "containerd"), "--config", file}, Env: []string{path},
		Ready: func() error { return engine.Listens(containerdSocket) },
	})
	return err
}

func (c Choice) startDockerd(h *lab.Host, path string, flags []string) error {
	config := filepath.Join(folder, "daemon.json")
	if err := h.WriteFile(config, []byte(c.config()), 0o600); err != nil {
		return err
	}
	argv := []string{
		filepath.Join(programs, "dockerd"), "--config-file", config, "--host", "unix://" + socket, "--group", "root",
		"--data-root", folder + "/data", "--exec-root", folder + "/exec", "--pidfile", folder + "/dockerd.pid",
		"--containerd", containerdSocket, "--storage-driver", "overlay2", "--log-level", "warn",
		"--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", h.Cgroup(),
		"--userland-proxy-path", filepath.Join(programs, "docker-proxy"),
	}
	_, err := h.StartDaemon(lab.Daemon{
		Name: "dockerd", Argv: slices.Concat(argv, c.flags(), flags), Env: []string{path}, Ready: ping,
		Restarts: true,
	})
	return err
}

// ping fails unless the engine answers, as the calling thread sees its socket.
func ping() error {
	conn, err := net.Dial("unix", socket)
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

// client is Docker's command line for the engine of the host in which it runs,
// whatever other engine its user has configured.
func client(args ...string) []string {
	return append([]string{filepath.Join(programs, "docker"), "--config", folder, "--host", "unix://" + socket}, args...)
}

// Command runs `docker ARGS...` against the host's engine and returns what it
// prints.
func Command(h *lab.Host, args ...string) (string, error) {
	return h.Run(client(args...)...)
}
