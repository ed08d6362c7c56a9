// Package cniplugin attaches containers by CNI plugins, as a configuration list names
// them.
package cniplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"

	"github.com/containernetworking/cni/libcni"
	cniresult "github.com/containernetworking/cni/pkg/types"
	types "github.com/containernetworking/cni/pkg/types/100"

	"tare/engine"
	"tare/lab"
)

// Files of a host.
const (
	state    = lab.Scratch + "/cni" // of CNI and its plugin host-local
	conflist = state + "/tare.conflist"
)

// Verb is the hidden command that attaches a container by CNI plugins, or
// detaches it: Verb REQUEST. The plugins are its child processes, so that a lab's
// init need not wait for them.
const Verb = "cni"

// request asks for one container to be attached or detached.
type request struct {
	Detach    bool
	Folders   []string // of plugins
	Container string
	Namespace string           // path of its network namespace, in the host
	Ports     []map[string]any // published on the host, in the form of the capability portMappings
}

// Install gives a host its configuration list. The plugins must be in one of the
// given folders or in a usual one; else the error is a *engine.MissingError.
func Install(h *lab.Host, list List, folders []string) error {
	if err := list.Check(folders); err != nil {
		return err
	}
	return h.WriteFile(conflist, list.Text, 0o644)
}

// Attach creates a container and has the plugins of its host's configuration list
// attach it. Its address is the first IPv4 address that they report.
func Attach(c *lab.Container, folders []string, ports []engine.Port) error {
	if err := c.Create(); err != nil {
		return err
	}
	path, err := c.BindNamespace()
	if err != nil {
		return err
	}
	r := request{Folders: slices.Concat(folders, usualFolders()), Container: c.Short, Namespace: path}
	for _, port := range ports {
		r.Ports = append(r.Ports, map[string]any{"hostPort": port.Host, "containerPort": port.Container, "protocol": port.Protocol})
	}
	c.Detach.Push(func() error {
		r.Detach = true
		_, err := r.runIn(c.Host)
		return err
	})
	text, err := r.runIn(c.Host)
	if err != nil {
		return err
	}
	if c.Addr, err = netip.ParseAddr(text); err != nil {
		return fmt.Errorf("read address of %s: %w", c.Name, err)
	}
	if err := c.CheckIPv6(); err != nil {
		return fmt.Errorf("attach %s by CNI plugins: %w, or give the list a range of {{.Subnet6}}", c.Name, err)
	}
	return nil
}

// runIn runs Verb in a host.
func (r request) runIn(h *lab.Host) (string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("ask for CNI plugins: %w", err)
	}
	return h.Run(lab.Self, Verb, string(text))
}

// Run does the work of Verb: it attaches one container and writes its first IPv4
// address, or detaches it. CNI's own files stay in the host's memory.
func Run(ctx context.Context, text string, w io.Writer) error {
	var r request
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return fmt.Errorf("attach by CNI: read request: %w", err)
	}
	installed, err := os.ReadFile(conflist)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	list, err := libcni.NetworkConfFromBytes(installed)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	// Plugins run iptables and similar programs.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	run := &libcni.RuntimeConf{ContainerID: r.Container, NetNS: r.Namespace, IfName: lab.Device}
	if len(r.Ports) > 0 {
		run.CapabilityArgs = map[string]any{"portMappings": r.Ports}
	}
	plugins := libcni.NewCNIConfigWithCacheDir(r.Folders, state, nil)
	if r.Detach {
		if err := plugins.DelNetworkList(ctx, list, run); err != nil {
			return fmt.Errorf("detach by CNI: %w", err)
		}
		return nil
	}
	done, err := plugins.AddNetworkList(ctx, list, run)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	return writeAddress(w, done)
}

// writeAddress writes the first IPv4 address in the plugins' result.
func writeAddress(w io.Writer, done cniresult.Result) error {
	result, err := types.NewResultFromResult(done)
	if err != nil {
		return fmt.Errorf("attach by CNI: read result: %w", err)
	}
	for _, ip := range result.IPs {
		if addr, ok := netip.AddrFromSlice(ip.Address.IP); ok && addr.Unmap().Is4() {
			_, err := fmt.Fprint(w, addr.Unmap())
			return err
		}
	}
	return errors.New("attach by CNI: the plugins gave no IPv4 address: a configuration list of a lab needs an ipam")
}
