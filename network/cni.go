package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/containernetworking/cni/libcni"
	types "github.com/containernetworking/cni/pkg/types/100"

	"tare/lab"
)

// cni is whatever a CNI configuration list lays, by the plugins that it names.
func cni() Network {
	return Network{
		Name:     "cni",
		Doc:      "any CNI configuration list (--cni FILE), by its own plugins; without one: bridge and portmap",
		Parent:   Baseline,
		Fidelity: Product,
		Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
		Needs:    []Need{root()},
		Missing:  "what the CNI plugins ask of the kernel",
		Get:      "modprobe -a bridge nft_compat xt_MASQUERADE xt_comment",
		Params: []Param{
			{Name: cniFile, Doc: "CNI configuration list, a template; a comma list weighs each", List: true},
			{Name: cniBin, Doc: "folder of CNI plugins, looked in first"},
		},
		Lay: layCNI,
	}
}

// The parameters of cni.
const (
	cniFile = "cni"
	cniBin  = "cni_bin"
)

// cniConflist is laid where no list is given: a bridge without masquerade.
const cniConflist = `{
  "cniVersion": "1.0.0",
  "name": "tare",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "mtu": {{.MTU}},
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "{{.Subnet}}", "gateway": "{{.Gateway}}"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}`

// CNIVerb is the hidden command that attaches a container by CNI plugins. They
// are processes of its own, which a lab's init must not wait for.
const CNIVerb = "cni-add"

// cniRequest asks for one container to be attached.
type cniRequest struct {
	Conflist  string   // path, in the host
	Folders   []string // of plugins
	Container string
	Namespace string // path of its network namespace, in the host
	Published bool   // Port is published on the host
}

func layCNI(u *lab.Underlay, l *Laying) error {
	text := []byte(cniConflist)
	if file := l.Params[cniFile]; file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return fmt.Errorf("read --cni: %w", err)
		}
	}
	var published bool
	for _, h := range u.Hosts {
		filled, err := fillConflist(string(text), valuesOf(h, u.Spec.MTU))
		if err != nil {
			return err
		}
		list, err := readConflist(filled)
		if err != nil {
			return err
		}
		published = list.published
		if err := attachAll(h, l, list); err != nil {
			return err
		}
	}
	l.Unserved = []string{PublishedPort, ContainerToPublishedPort}
	if published {
		l.Unserved = []string{ContainerToOwnHost} // the host's port is the container's
	}
	return routeBetweenHosts(u)
}

// attachAll makes the host's containers and has the plugins attach them.
func attachAll(h *lab.Host, l *Laying, list conflist) error {
	var folders []string
	if own := l.Params[cniBin]; own != "" {
		folders = append(folders, own)
	}
	for _, name := range list.plugins {
		if _, err := cniFolder(name, folders...); err != nil {
			return &MissingError{"CNI plugin " + name, cniPackage + ", or name its folder by --cni-bin", err}
		}
	}
	file := filepath.Join(cniState, "tare.conflist")
	if err := h.WriteFile(file, list.text, 0o644); err != nil {
		return err
	}
	for n := 1; n <= l.Containers; n++ {
		c, err := h.AddContainer()
		if err != nil {
			return err
		}
		path, err := c.BindNamespace()
		if err != nil {
			return err
		}
		request, err := json.Marshal(cniRequest{
			Conflist: file, Folders: slices.Concat(folders, cniFolders()),
			Container: c.Short, Namespace: path, Published: n == 1,
		})
		if err != nil {
			return fmt.Errorf("attach %s: %w", c.Name, err)
		}
		said, err := h.Run(lab.Self, CNIVerb, string(request))
		if err != nil {
			return fmt.Errorf("attach %s: %w", c.Name, err)
		}
		if c.Addr, err = netip.ParseAddr(said); err != nil {
			return fmt.Errorf("attach %s: read its address: %w", c.Name, err)
		}
	}
	return nil
}

// AddCNI attaches one container, as CNIVerb, and writes its first IPv4 address.
// What CNI keeps stays in the host's own memory; to detach is to end the
// namespaces.
func AddCNI(ctx context.Context, text string, w io.Writer) error {
	var request cniRequest
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		return fmt.Errorf("attach by CNI: read request: %w", err)
	}
	conflist, err := os.ReadFile(request.Conflist)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	list, err := libcni.NetworkConfFromBytes(conflist)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	// Plugins look for iptables and their like.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
	run := &libcni.RuntimeConf{ContainerID: request.Container, NetNS: request.Namespace, IfName: lab.Device}
	if request.Published {
		var ports []map[string]any
		for _, protocol := range []string{"tcp", "udp"} {
			ports = append(ports, map[string]any{"hostPort": Port, "containerPort": Port, "protocol": protocol})
		}
		run.CapabilityArgs = map[string]any{"portMappings": ports}
	}
	done, err := libcni.NewCNIConfigWithCacheDir(request.Folders, cniState, nil).AddNetworkList(ctx, list, run)
	if err != nil {
		return fmt.Errorf("attach by CNI: %w", err)
	}
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
