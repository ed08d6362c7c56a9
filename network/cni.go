package network

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
		Outside:  true,
		Needs:    []Need{root()},
		Missing:  "what the CNI plugins ask of the kernel",
		Get:      "modprobe -a bridge nft_compat xt_MASQUERADE xt_comment",
		Params: []Param{
			{Name: cniFile, Doc: "CNI configuration list, a template; a comma list weighs each", List: true},
			{Name: cniBin, Doc: "folder of CNI plugins, looked in first"},
		},
		SetUp: setUpCNI,
		Try:   tryCNI,
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

// CNIVerb is the hidden command that attaches a container by CNI plugins, or
// detaches it. They are processes of its own, which a lab's init must not wait
// for.
const CNIVerb = "cni"

// cniRequest asks for one container to be attached or detached.
type cniRequest struct {
	Detach    bool
	Conflist  string   // path, in the host
	Folders   []string // of plugins
	Container string
	Namespace string           // path of its network namespace, in the host
	Ports     []map[string]any // published on the host, as the plugins want to be told
}

func setUpCNI(cluster *lab.Cluster, setup *Setup) error {
	var published bool
	for _, h := range cluster.Hosts {
		list, err := conflistFor(h, cluster.Spec.MTU, setup.Params[cniFile])
		if err != nil {
			return &MissingError{"CNI configuration list", "name a .conflist by --cni; docs/networks/cni.md says what may stand in it", err}
		}
		published = list.published
		if err := setUpConflist(h, setup, list); err != nil {
			return err
		}
	}
	setup.Unserved = []string{PublishedPort, ContainerToPublishedPort}
	if published {
		setup.Unserved = []string{ContainerToOwnHost} // the host's port is the container's
	}
	if err := routeBetweenHosts(cluster); err != nil {
		return err
	}
	return setup.populate(cluster, func(c *lab.Container) error { return attachByCNI(c, setup) })
}

// tryCNI asks for what the default list needs.
func tryCNI(cluster *lab.Cluster, setup *Setup) error {
	list, err := conflistFor(cluster.Hosts[0], cluster.Spec.MTU, "")
	if err != nil {
		return err
	}
	if err := list.whole(nil); err != nil {
		return err
	}
	return tryPlugins(cluster, setup)
}

// conflistFor is the list of the file, or the default, with what is the host's.
func conflistFor(h *lab.Host, mtu int, file string) (conflist, error) {
	text := []byte(cniConflist)
	if file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return conflist{}, err
		}
	}
	filled, err := fillConflist(string(text), valuesOf(h, mtu))
	if err != nil {
		return conflist{}, err
	}
	return readConflist(filled)
}

// cniList is where a host's configuration list stands.
const cniList = cniState + "/tare.conflist"

// setUpConflist gives a host its configuration list, whose plugins must be there.
func setUpConflist(h *lab.Host, setup *Setup, list conflist) error {
	if err := list.whole(setup.cniFolders()); err != nil {
		return err
	}
	return h.WriteFile(cniList, list.text, 0o644)
}

// cniFolders are those that are looked in for plugins before all others.
func (setup *Setup) cniFolders() []string {
	if own := setup.Params[cniBin]; own != "" {
		return []string{own}
	}
	return nil
}

// attachByCNI has the plugins of the host's configuration list attach a
// container.
func attachByCNI(c *lab.Container, setup *Setup) error {
	if err := c.Create(); err != nil {
		return err
	}
	path, err := c.BindNamespace()
	if err != nil {
		return err
	}
	request := cniRequest{
		Conflist: cniList, Folders: slices.Concat(setup.cniFolders(), cniFolders()), Container: c.Short, Namespace: path,
	}
	for _, port := range setup.published(c) {
		request.Ports = append(request.Ports, map[string]any{"hostPort": port.host, "containerPort": port.container, "protocol": port.protocol})
	}
	c.Detach.Push(func() error {
		request.Detach = true
		_, err := runCNI(c, request)
		return err
	})
	said, err := runCNI(c, request)
	if err != nil {
		return err
	}
	if c.Addr, err = netip.ParseAddr(said); err != nil {
		return fmt.Errorf("read address of %s: %w", c.Name, err)
	}
	return nil
}

func runCNI(c *lab.Container, request cniRequest) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("ask for CNI plugins: %w", err)
	}
	return c.Host.Run(lab.Self, CNIVerb, string(text))
}

// RunCNI attaches one container, as CNIVerb, and writes its first IPv4 address,
// or detaches it. What CNI keeps stays in the host's own memory.
func RunCNI(ctx context.Context, text string, w io.Writer) error {
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
	if len(request.Ports) > 0 {
		run.CapabilityArgs = map[string]any{"portMappings": request.Ports}
	}
	plugins := libcni.NewCNIConfigWithCacheDir(request.Folders, cniState, nil)
	if request.Detach {
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

// writeAddress writes the first IPv4 address of what CNI plugins did.
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
