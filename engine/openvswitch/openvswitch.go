// Package openvswitch drives Open vSwitch: one database and one switch for each host
// of a lab.
package openvswitch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

const (
	// runDir is where Open vSwitch's own commands look for its daemons. Each host
	// has its own /run.
	runDir   = "/run/openvswitch"
	socket   = runDir + "/db.sock"          // of the database
	stateDir = lab.Scratch + "/openvswitch" // of the database's file
	schema   = "/usr/share/openvswitch/vswitch.ovsschema"
)

// switchWait is the most that a command of ovs-vsctl waits, in seconds: a starved guest under TCG has
// needed more than 20.
const switchWait = 60

// The datapaths, as the database names them.
const (
	Kernel    = "system"
	Userspace = "netdev"
)

// The OpenFlow ports of every bridge: the n-th container of a host has port n.
const (
	uplinkPort = catalog.MaxContainers + 1 // the interface on the underlay
	TunnelPort = catalog.MaxContainers + 2 // VXLAN to the host that a rule sets; VXLAN to the n-th host: n more
)

// Needs lists the programs of Open vSwitch.
func Needs() []engine.Need {
	const debian = "openvswitch-switch"
	return []engine.Need{
		engine.NeedRoot(), engine.NeedProgram("ovs-vswitchd", debian, "--version"),
		engine.NeedProgram("ovsdb-server", debian), engine.NeedProgram("ovs-vsctl", debian),
	}
}

// Datapath reports which datapath this machine can run, without starting a
// daemon: the kernel's where the kernel has it, else that of ovs-vswitchd itself,
// which needs TUN devices.
func Datapath(h *lab.Host) (string, error) {
	const probe = "tare-probe"
	if _, err := h.Run("ovs-dpctl", "add-dp", probe); err == nil {
		_, err = h.Run("ovs-dpctl", "del-dp", probe)
		return Kernel, err
	}
	return Userspace, h.Inside(func() error {
		tun, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
		if err != nil {
			return &engine.MissingError{What: "/dev/net/tun", Get: "modprobe tun", Err: err}
		}
		return tun.Close()
	})
}

// Switch is Open vSwitch on one host.
type Switch struct {
	Host     *lab.Host
	Datapath string
	control  string // the switch's socket for ovs-appctl
}

// Start starts the database and the switch on a host.
func Start(h *lab.Host, datapath string) (*Switch, error) {
	s := &Switch{Host: h, Datapath: datapath}
	err := h.Inside(func() error {
		return errors.Join(os.MkdirAll(runDir, 0o755), os.MkdirAll(stateDir, 0o755))
	})
	if err != nil {
		return nil, fmt.Errorf("make folders of Open vSwitch in %s: %w", h.Name, err)
	}
	database := stateDir + "/conf.db"
	if _, err := h.Run("ovsdb-tool", "create", database, schema); err != nil {
		return nil, err
	}
	if _, err := s.daemon("ovsdb-server", socket, database, "--remote=punix:"+socket); err != nil {
		return nil, err
	}
	if err := s.Configure("--no-wait", "init"); err != nil {
		return nil, err
	}
	s.control, err = s.daemon("ovs-vswitchd", runDir+"/ovs-vswitchd.*.ctl", "unix:"+socket)
	return s, err
}

// daemon starts one of the daemons with the priority that Open vSwitch's own
// script (ovs-ctl) gives it, waits until it listens on a socket that matches the
// pattern, and returns that socket.
func (s *Switch) daemon(name, pattern string, args ...string) (socket string, err error) {
	path, err := engine.Program(name)
	if err != nil {
		return "", err
	}
	_, err = s.Host.StartDaemon(lab.Daemon{
		Name: name,
		Argv: append([]string{"nice", "-n", "-10", path, "--pidfile", "-vconsole:info", "-vsyslog:off", "-vfile:off"}, args...),
		Env:  []string{"OVS_RUNDIR=" + runDir, "OVS_DBDIR=" + stateDir, "OVS_LOGDIR=" + lab.Scratch},
		Ready: func() error {
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				return fmt.Errorf("no socket %s", pattern)
			}
			socket = found[0]
			return engine.Listens(socket)
		},
	})
	return socket, err
}

// Configure changes the database by ovs-vsctl, and waits until the switch has
// applied the change.
func (s *Switch) Configure(args ...string) error {
	_, err := s.Host.Run(append([]string{"ovs-vsctl", fmt.Sprintf("--timeout=%d", switchWait), "--db=unix:" + socket}, args...)...)
	return err
}

// Check fails if the switch could not set up an interface, which ovs-vsctl
// reports as success.
func (s *Switch) Check() error {
	text, err := s.Host.Run("ovs-vsctl", "--db=unix:"+socket, "--format=csv", "--no-headings",
		"--columns=name,error", "find", "Interface", "error!=[]")
	if err == nil && text != "" {
		err = fmt.Errorf("add ports to Open vSwitch in %s: %s", s.Host.Name, strings.Join(strings.Fields(text), " "))
	}
	return err
}

// AddBridge adds a bridge whose own port has the given MAC address. Until it has
// flows, it learns and floods as any switch.
func (s *Switch) AddBridge(name string, mac net.HardwareAddr) error {
	return s.Configure("add-br", name, "--", "set", "Bridge", name,
		"datapath_type="+s.Datapath, fmt.Sprintf("other-config:hwaddr=%q", mac))
}

// addPort is the command that adds a device to a bridge as the OpenFlow port of a
// number. settings are the port's, as "tag=701".
func addPort(bridge, device string, port int, settings ...string) []string {
	args := append([]string{"--", "add-port", bridge, device}, settings...)
	return append(args, "--", "set", "Interface", device, "ofport_request="+strconv.Itoa(port))
}

// Attach makes a device of the host, the other end of a container's, a port of a
// bridge: that of the container's number. settings are the port's, as "tag=701".
// It is removed when the container is detached.
func (s *Switch) Attach(bridge string, c *lab.Container, device string, settings ...string) error {
	return s.attach(bridge, c, device, addPort(bridge, device, c.Number, settings...))
}

// AttachAs is Attach of a device that a controller knows by an ID: its interface's
// iface-id (Open vSwitch's "Integration Guide for Centralized Control").
func (s *Switch) AttachAs(bridge string, c *lab.Container, device, id string) error {
	return s.attach(bridge, c, device, append(addPort(bridge, device, c.Number), "external-ids:iface-id="+id))
}

func (s *Switch) attach(bridge string, c *lab.Container, device string, command []string) error {
	if err := errors.Join(s.sendWhole(c), s.takeFrom(device), s.Host.SetUp(device)); err != nil {
		return err
	}
	c.Detach.Push(func() error {
		return errors.Join(s.Configure("--if-exists", "del-port", bridge, device), s.leave(device))
	})
	return s.Configure(command...)
}

// AddUplink adds a bridge, makes the interface on the underlay a port of it, and
// moves the host's address, of a prefix of so many bits, to the bridge. The
// interface keeps its queueing discipline, a link's token bucket, which Open
// vSwitch would remove otherwise.
func (s *Switch) AddUplink(bridge string, bits int, settings ...string) error {
	if err := s.AddBridge(bridge, lab.MAC(s.Host.Addr)); err != nil {
		return err
	}
	if err := s.takeFrom(lab.Device); err != nil {
		return err
	}
	settings = append(settings, "qos=@none")
	port := append([]string{"--id=@none", "create", "QoS", "type=linux-noop"}, addPort(bridge, lab.Device, uplinkPort, settings...)...)
	if err := s.Configure(port...); err != nil {
		return err
	}
	address := netip.PrefixFrom(s.Host.Addr, bits)
	if err := s.Host.DropAddress(lab.Device, address); err != nil {
		return err
	}
	if err := s.Host.SetUp(bridge); err != nil {
		return err
	}
	return s.Host.AddAddress(bridge, address)
}

// AddVXLAN adds a VXLAN port to a bridge. No packet passes from one such port to
// another, so that a mesh of tunnels has no loop. options are the interface's, as
// "options:key=flow".
func (s *Switch) AddVXLAN(bridge, name string, port int, options ...string) error {
	args := append(addPort(bridge, name, port, "protected=true"), "type=vxlan", "options:local_ip="+s.Host.Addr.String())
	return s.Configure(append(args, options...)...)
}
