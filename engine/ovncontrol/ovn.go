// Package ovncontrol drives OVN: its databases and ovn-northd on one host of a lab, and
// ovn-controller on each host, beside that host's Open vSwitch.
package ovncontrol

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"tare/engine"
	"tare/lab"
)

const (
	// runDir is where OVN's own commands look for its daemons. Each host has its
	// own /run.
	runDir    = "/run/ovn"
	switchDir = "/run/openvswitch"   // where ovn-controller finds its host's Open vSwitch
	stateDir  = lab.Scratch + "/ovn" // of the databases' files
	schemas   = "/usr/share/ovn"
	// southPort is the TCP port of the southbound database (ovn-architecture(7)).
	southPort = 6642
	northWait = 50 // s: the most that a command of ovn-nbctl waits
)

// Bridge is the integration bridge, by the name that ovn-controller expects.
const Bridge = "br-int"

// Needs lists the programs of OVN, without those of Open vSwitch.
func Needs() []engine.Need {
	const central, host = "ovn-central", "ovn-host"
	return []engine.Need{
		engine.NeedProgram("ovn-northd", central, "--version"), engine.NeedProgram("ovn-nbctl", central),
		engine.NeedProgram("ovn-controller", host, "--version"),
	}
}

// Central is the part of OVN that a cluster has once: what its hosts do is
// configured there.
type Central struct {
	host   *lab.Host
	remote string // the southbound database, for every ovn-controller
}

// StartCentral starts both databases and ovn-northd on a host.
func StartCentral(h *lab.Host) (*Central, error) {
	err := h.Inside(func() error {
		return errors.Join(os.MkdirAll(runDir, 0o755), os.MkdirAll(stateDir, 0o755))
	})
	if err != nil {
		return nil, fmt.Errorf("make folders of OVN in %s: %w", h.Name, err)
	}
	at := netip.AddrPortFrom(h.Addr, southPort)
	central := &Central{host: h, remote: fmt.Sprintf("tcp:%s", at)}
	if err := startDatabase(h, "nb"); err != nil {
		return nil, err
	}
	if err := startDatabase(h, "sb", fmt.Sprintf("--remote=ptcp:%d:%s", southPort, h.Addr)); err != nil {
		return nil, err
	}
	return central, startDaemon(h, "ovn-northd", runDir+"/ovn-northd.*.ctl", "ovn-northd",
		"--ovnnb-db=unix:"+socketOf("nb"), "--ovnsb-db=unix:"+socketOf("sb"))
}

// socketOf is the socket of a database, "nb" or "sb", where OVN's commands look for
// it.
func socketOf(database string) string { return fmt.Sprintf("%s/ovn%s_db.sock", runDir, database) }

// startDatabase makes one of the databases, empty, and starts its server.
func startDatabase(h *lab.Host, name string, args ...string) error {
	database := fmt.Sprintf("%s/ovn%s_db.db", stateDir, name)
	if _, err := h.Run("ovsdb-tool", "create", database, fmt.Sprintf("%s/ovn-%s.ovsschema", schemas, name)); err != nil {
		return err
	}
	socket := socketOf(name)
	args = append([]string{database, "--remote=punix:" + socket, fmt.Sprintf("--unixctl=%s/ovn%s_db.ctl", runDir, name)}, args...)
	return startDaemon(h, "ovn"+name, socket, "ovsdb-server", args...)
}

// StartController starts ovn-controller on a host, whose Open vSwitch has the
// settings that Settings returns.
func StartController(h *lab.Host) error {
	if err := h.Inside(func() error { return os.MkdirAll(runDir, 0o755) }); err != nil {
		return fmt.Errorf("make folder of OVN in %s: %w", h.Name, err)
	}
	return startDaemon(h, "ovn-controller", runDir+"/ovn-controller.*.ctl", "ovn-controller", "unix:"+switchDir+"/db.sock")
}

// startDaemon starts one of the daemons with the priority that OVN's own script
// (ovn-ctl) gives it, and waits until it listens on a socket that matches the
// pattern.
func startDaemon(h *lab.Host, name, pattern, program string, args ...string) error {
	path, err := engine.Program(program)
	if err != nil {
		return err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name: name,
		Argv: append([]string{
			"nice", "-n", "-10", path, fmt.Sprintf("--pidfile=%s/%s.pid", runDir, name),
			"-vconsole:info", "-vsyslog:off", "-vfile:off",
		}, args...),
		Env: []string{"OVN_RUNDIR=" + runDir, "OVS_RUNDIR=" + switchDir, "OVN_DBDIR=" + stateDir, "OVN_LOGDIR=" + lab.Scratch},
		Ready: func() error {
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				return fmt.Errorf("no socket %s", pattern)
			}
			return engine.Listens(found[0])
		},
	})
	return err
}

// Settings is what the Open vSwitch of a host has to be configured with for
// ovn-controller: columns of the table Open_vSwitch (ovn-controller(8)).
func (central *Central) Settings(h *lab.Host) []string {
	return []string{
		"external-ids:system-id=" + h.Short, "external-ids:ovn-remote=" + strconv.Quote(central.remote),
		"external-ids:ovn-encap-type=geneve", "external-ids:ovn-encap-ip=" + h.Addr.String(),
	}
}
