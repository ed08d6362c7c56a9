package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tare/lab"
)

const (
	// ovsRun is where Open vSwitch's own commands look for its daemons; each
	// host has its own /run.
	ovsRun = "/run/openvswitch"
	// ovsState is where a host's database stands.
	ovsState  = lab.Scratch + "/openvswitch"
	ovsSchema = "/usr/share/openvswitch/vswitch.ovsschema"

	// The datapaths, as the database names them.
	ovsKernel    = "system"
	ovsUserspace = "netdev"
)

// The OpenFlow ports of every bridge: the n-th container is port n.
const (
	uplinkPort = lab.MaxContainers + 1 // the underlay's interface
	tunnelPort = lab.MaxContainers + 2 // VXLAN to wherever a rule says; to the n-th host alone: n more
)

// needsOpenVSwitch is what the networks of Open vSwitch are made of.
func needsOpenVSwitch() []Need {
	const debian = "openvswitch-switch"
	return []Need{root(), program("ovs-vswitchd", debian, "--version"), program("ovsdb-server", debian), program("ovs-vsctl", debian)}
}

// openVSwitch is Open vSwitch on one host: a database and a switch of its own.
type openVSwitch struct {
	host     *lab.Host
	datapath string
	control  string // the switch's socket for ovs-appctl
}

// tryOpenVSwitch tells which datapath this machine has, without the daemons.
func tryOpenVSwitch(cluster *lab.Cluster, setup *Setup) error {
	_, err := chooseDatapath(cluster.Hosts[0], setup)
	return err
}

// chooseDatapath takes the kernel's datapath where one can be made, and else
// that of the daemon itself, which stands in for it.
func chooseDatapath(h *lab.Host, setup *Setup) (string, error) {
	const probe = "tare-probe"
	if _, err := h.Run("ovs-dpctl", "add-dp", probe); err == nil {
		_, err = h.Run("ovs-dpctl", "del-dp", probe)
		return ovsKernel, err
	}
	setup.standIn("userspace-datapath: this kernel has no datapath of Open vSwitch (modprobe openvswitch): " +
		"ovs-vswitchd itself forwards each frame, without segmentation and checksum offload, whatever the nic")
	return ovsUserspace, h.Inside(func() error {
		tun, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
		if err != nil {
			return &MissingError{"/dev/net/tun", "modprobe tun", err}
		}
		return tun.Close()
	})
}

// setUpOpenVSwitch starts Open vSwitch on every host, lays what is asked on each,
// and attaches containers by plug.
func setUpOpenVSwitch(cluster *lab.Cluster, setup *Setup, lay func(s *openVSwitch) error, plug func(s *openVSwitch, c *lab.Container) error) error {
	datapath, err := chooseDatapath(cluster.Hosts[0], setup)
	if err != nil {
		return err
	}
	switches := make([]*openVSwitch, len(cluster.Hosts)) // by host
	err = allHosts(cluster, func(h *lab.Host) error {
		s := &openVSwitch{host: h, datapath: datapath}
		switches[h.Number-1] = s
		if err := s.start(); err != nil {
			return err
		}
		return lay(s)
	})
	if err != nil {
		return err
	}
	err = setup.populate(cluster, func(c *lab.Container) error { return plug(switches[c.Host.Number-1], c) })
	if err != nil {
		return err
	}
	return allHosts(cluster, func(h *lab.Host) error { return switches[h.Number-1].faults() })
}

// start starts the database and the switch.
func (s *openVSwitch) start() error {
	err := s.host.Inside(func() error {
		if err := os.MkdirAll(ovsRun, 0o755); err != nil {
			return err
		}
		return os.MkdirAll(ovsState, 0o755)
	})
	if err != nil {
		return fmt.Errorf("make folders of Open vSwitch in %s: %w", s.host.Name, err)
	}
	database, socket := ovsState+"/conf.db", ovsRun+"/db.sock"
	if _, err := s.host.Run("ovsdb-tool", "create", database, ovsSchema); err != nil {
		return err
	}
	if _, err := s.daemon("ovsdb-server", socket, database, "--remote=punix:"+socket); err != nil {
		return err
	}
	if err := s.vsctl("--no-wait", "init"); err != nil {
		return err
	}
	s.control, err = s.daemon("ovs-vswitchd", ovsRun+"/ovs-vswitchd.*.ctl", "unix:"+socket)
	return err
}

// daemon starts one of the daemons with the priority that Open vSwitch's own
// script (ovs-ctl) gives it, waits until it answers on a socket of its own, and
// gives that socket.
func (s *openVSwitch) daemon(name, pattern string, args ...string) (socket string, err error) {
	path, err := Program(name)
	if err != nil {
		return "", err
	}
	_, err = s.host.StartDaemon(lab.Daemon{
		Name: name,
		Argv: append([]string{"nice", "-n", "-10", path, "--pidfile", "-vconsole:info", "-vsyslog:off", "-vfile:off"}, args...),
		Env:  []string{"OVS_RUNDIR=" + ovsRun, "OVS_DBDIR=" + ovsState, "OVS_LOGDIR=" + lab.Scratch},
		Ready: func() error {
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				return fmt.Errorf("no socket %s", pattern)
			}
			socket = found[0]
			conn, err := net.Dial("unix", socket)
			if err != nil {
				return err
			}
			return conn.Close()
		},
	})
	return socket, err
}

// vsctl changes the database, and waits until the switch has followed.
func (s *openVSwitch) vsctl(args ...string) error {
	_, err := s.host.Run(append([]string{"ovs-vsctl", "--timeout=20", "--db=unix:" + ovsRun + "/db.sock"}, args...)...)
	return err
}

// faults tells which interface the switch could not set up: ovs-vsctl counts
// that as done.
func (s *openVSwitch) faults() error {
	said, err := s.host.Run("ovs-vsctl", "--db=unix:"+ovsRun+"/db.sock", "--format=csv", "--no-headings",
		"--columns=name,error", "find", "Interface", "error!=[]")
	if err == nil && said != "" {
		err = fmt.Errorf("add ports to Open vSwitch in %s: %s", s.host.Name, strings.Join(strings.Fields(said), " "))
	}
	return err
}

// addBridge adds a bridge whose own port has the MAC address given. Until
// rules are laid, it learns and floods as any switch.
func (s *openVSwitch) addBridge(name string, mac net.HardwareAddr) error {
	return s.vsctl("add-br", name, "--", "set", "Bridge", name,
		"datapath_type="+s.datapath, fmt.Sprintf("other-config:hwaddr=%q", mac))
}

// portOf is the command that adds a device to a bridge as the port of a number.
// settings are those of the port, as "tag=701".
func portOf(bridge, device string, port int, settings ...string) []string {
	args := append([]string{"--", "add-port", bridge, device}, settings...)
	return append(args, "--", "set", "Interface", device, "ofport_request="+strconv.Itoa(port))
}

// plug makes a container and hangs it on a bridge.
func (s *openVSwitch) plug(bridge string, c *lab.Container, mtu int, addr netip.Prefix, settings ...string) error {
	if err := c.Create(); err != nil {
		return err
	}
	return s.hang(bridge, c, mtu, addr, settings...)
}

// hang hangs a container on a bridge, at the port of its number. It reaches only
// what is on its link.
func (s *openVSwitch) hang(bridge string, c *lab.Container, mtu int, addr netip.Prefix, settings ...string) error {
	port, err := join(c, addr.Addr(), mtu, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(s.sendWhole(c), s.takeFrom(port), s.host.SetUp(port)); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, addr); err != nil {
		return err
	}
	c.Detach.Push(func() error { return errors.Join(s.vsctl("--if-exists", "del-port", bridge, port), s.leave(port)) })
	return s.vsctl(portOf(bridge, port, c.Number, settings...)...)
}

// addUplink makes the underlay's interface a port of the bridge, and gives the
// host's address to the bridge. The interface keeps its queueing discipline, a
// link's token bucket, which Open vSwitch would take away.
func (s *openVSwitch) addUplink(bridge string, settings ...string) error {
	if err := s.addBridge(bridge, lab.MAC(s.host.Addr)); err != nil {
		return err
	}
	if err := s.takeFrom(lab.Device); err != nil {
		return err
	}
	settings = append(settings, "qos=@none")
	port := append([]string{"--id=@none", "create", "QoS", "type=linux-noop"}, portOf(bridge, lab.Device, uplinkPort, settings...)...)
	if err := s.vsctl(port...); err != nil {
		return err
	}
	address := netip.PrefixFrom(s.host.Addr, underlayBits)
	if err := s.host.DropAddress(lab.Device, address); err != nil {
		return err
	}
	if err := s.host.SetUp(bridge); err != nil {
		return err
	}
	return s.host.AddAddress(bridge, address)
}

// setFlows lets a bridge do what rules say, and nothing else.
func (s *openVSwitch) setFlows(bridge string, flows []string) error {
	if err := s.vsctl("set-fail-mode", bridge, "secure"); err != nil {
		return err
	}
	return s.flows("replace-flows", bridge, "all", flows)
}

// addFlows adds rules of an owner to a bridge's.
func (s *openVSwitch) addFlows(bridge, owner string, flows []string) error {
	return s.flows("add-flows", bridge, owner, flows)
}

func (s *openVSwitch) flows(do, bridge, owner string, flows []string) error {
	path := fmt.Sprintf("%s/%s-%s.flows", lab.Scratch, bridge, owner)
	if err := s.host.WriteFile(path, []byte(strings.Join(flows, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	return s.ofctl(do, bridge, path)
}

// ofctl speaks OpenFlow with a bridge.
func (s *openVSwitch) ofctl(do, bridge string, args ...string) error {
	_, err := s.host.Run(append([]string{"ovs-ofctl", "-O", "OpenFlow13", do, "unix:" + ovsRun + "/" + bridge + ".mgmt"}, args...)...)
	return err
}
