package ovncontrol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tare/lab"
)

// Port is a port of a logical switch.
type Port struct {
	Name      string
	Host      *lab.Host // whose Open vSwitch has the interface that it is bound to
	Addresses []string  // of what is attached: MAC, IP...
}

// AddSwitch adds a logical switch.
func (central *Central) AddSwitch(name string) error {
	_, err := central.northbound("ls-add", name)
	return err
}

// AddPorts adds ports to a logical switch and waits until ovn-controller has bound them
// on their hosts, and that of every host has set the flows of all that is configured.
// OVN sends to the ports' addresses, and answers ARP for them.
func (central *Central) AddPorts(name string, ports []Port) error {
	var args []string
	for _, port := range ports {
		args = append(args, "--", "lsp-add", name, port.Name,
			"--", "lsp-set-addresses", port.Name, strings.Join(port.Addresses, " "))
	}
	if len(args) > 0 {
		if _, err := central.northbound(args[1:]...); err != nil {
			return err
		}
	}
	return central.await(ports)
}

// RemovePort removes a port, if there is one of that name.
func (central *Central) RemovePort(port Port) error {
	_, err := central.northbound("--if-exists", "lsp-del", port.Name)
	return err
}

// await waits for what AddPorts promises. Its error quotes the log of an ovn-controller
// that has not bound its port.
func (central *Central) await(ports []Port) error {
	args := []string{"--wait=hv"}
	for _, port := range ports {
		args = append(args, "wait-until", "Logical_Switch_Port", port.Name, "up=true", "--")
	}
	_, err := central.northbound(append(args, "sync")...)
	if err == nil {
		return nil
	}
	down, late := central.northbound("--bare", "--columns=name", "find", "Logical_Switch_Port", "up=false")
	if late != nil {
		return fmt.Errorf("wait for OVN: %w", errors.Join(err, late))
	}
	names := strings.Fields(down)
	at := slices.IndexFunc(ports, func(p Port) bool { return slices.Contains(names, p.Name) })
	if at < 0 {
		return fmt.Errorf("wait for OVN's flows: %w", err)
	}
	return fmt.Errorf("wait for OVN's port %s: %w: the log of its ovn-controller ends: %s", ports[at].Name, err, ports[at].Host.LogTail("ovn-controller"))
}

// northbound runs commands of ovn-nbctl.
func (central *Central) northbound(args ...string) (string, error) {
	return central.host.Run(append([]string{"ovn-nbctl", fmt.Sprintf("--timeout=%d", northWait), "--db=unix:" + socketOf("nb")}, args...)...)
}
