package network

import (
	"errors"
	"fmt"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"tare/lab"
)

// The settings of the CNI plugin `bridge` that can be taken off.
const (
	podIPMasq  = "ip_masq"
	podPromisc = "promisc_mode"
)

// containerdBridge is containerd with the CNI configuration of its own
// documentation, and routes between hosts.
func containerdBridge() Network {
	onOff := []string{"on", "off"}
	return Network{
		Name:     "containerd-bridge",
		Doc:      "containerd, pods by the CRI API, CNI bridge (isGateway, ipMasq, promiscMode), static routes",
		Parent:   "route",
		Fidelity: Product,
		Facts:    Facts{NeedsL2: true},
		Paths:    []string{SamePod, SameHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Needs:    containerdNeeds("bridge", "host-local", "portmap"),
		Missing:  "the kernel's bridge, or iptables with NAT",
		Get:      "modprobe -a bridge overlay nft_compat xt_MASQUERADE xt_comment",
		Runtime:  containerdRuntime(),
		Params: []Param{
			{Name: podIPMasq, Doc: "masquerade what leaves the containers' network", Values: onOff, List: true},
			{Name: podPromisc, Doc: "CNI bridge in promiscuous mode", Values: onOff, List: true},
		},
		SetUp: setUpContainerdBridge,
		Try:   tryContainerdBridge,
		Ends:  podEnds,
	}
}

// podConflist is containerd's documented configuration (containerd,
// script/setup/install-cni), with what is the host's own.
const podConflist = `{
  "cniVersion": "1.0.0",
  "name": "containerd-net",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "ipMasq": {{.IPMasq}},
      "promiscMode": {{.PromiscMode}},
      "mtu": {{.MTU}},
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "{{.Subnet}}"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}`

func setUpContainerdBridge(cluster *lab.Cluster, setup *Setup) error {
	engines := make([]*pods, len(cluster.Hosts)) // by host
	err := allHosts(cluster, func(h *lab.Host) (err error) {
		engines[h.Number-1], err = setUpPods(cluster, h, setup)
		return err
	})
	if err != nil {
		return err
	}
	if err := routeBetweenHosts(cluster); err != nil {
		return err
	}
	first := make([]pod, len(cluster.Hosts)) // by host
	err = setup.populate(cluster, func(c *lab.Container) error {
		in, err := engines[c.Host.Number-1].attach(c, setup.published(c))
		if c.Number == 1 {
			first[c.Host.Number-1] = in
		}
		return err
	})
	if err != nil || setup.Containers == 0 {
		return err
	}
	return allHosts(cluster, func(h *lab.Host) error { return engines[h.Number-1].second(first[h.Number-1]) })
}

// setUpPods starts the host's containerd.
func setUpPods(cluster *lab.Cluster, h *lab.Host, setup *Setup) (*pods, error) {
	conflist, err := fillConflist(podConflist, struct {
		conflistValues
		IPMasq, PromiscMode bool
	}{valuesOf(h, cluster.Spec.MTU), setup.Params[podIPMasq] == "on", setup.Params[podPromisc] == "on"})
	if err != nil {
		return nil, err
	}
	p, err := startContainerd(h, conflist)
	if err != nil {
		return nil, err
	}
	cluster.Push(p.close)
	return p, nil
}

// attach runs a pod of its own for a container.
func (p *pods) attach(c *lab.Container, ports []portMap) (pod, error) {
	in, err := p.run(fmt.Sprintf("pod%d", c.Number), cri.NamespaceMode_POD, ports)
	if err != nil {
		return in, err
	}
	c.Detach.Push(func() error { return p.remove(in) })
	id, err := p.add(in, "first")
	if err != nil {
		return in, err
	}
	return in, p.adopt(c, in, id)
}

// second puts the host's last container into its first pod, whose ports are
// published.
func (p *pods) second(in pod) error {
	c, err := p.host.AddContainer()
	if err != nil {
		return err
	}
	id, err := p.add(in, "second")
	if err != nil {
		return err
	}
	return p.adopt(c, in, id)
}

// containerdRuntime runs pods. Its cycle is a pod on the node's own network with
// one container: all that a pod takes but the network.
func containerdRuntime() Runtime {
	return Runtime{Name: "containerd", Cycle: func(h *lab.Host, name string) (func() error, error) {
		p, err := openPods(h)
		if err != nil {
			return nil, err
		}
		in, err := p.run(name, cri.NamespaceMode_NODE, nil)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		remove := func() error { return errors.Join(p.remove(in), p.close()) }
		if _, err := p.add(in, "first"); err != nil {
			return nil, errors.Join(err, remove())
		}
		return remove, nil
	}}
}

// podEnds are those of a host whose last container is in its first's pod.
func podEnds(cluster *lab.Cluster, path string) (Ends, error) {
	own := cluster.Hosts[0].Containers()
	switch {
	case path == SamePod && len(own) > 1:
		place := func(c *lab.Container) string { return c.Host.Short + "/" + c.Short }
		return Ends{place(own[0]), place(own[len(own)-1]), loopback(), loopback()}, nil
	case path == SamePod, path == SameHost && len(own) < 3:
		return Ends{}, fmt.Errorf("path %s needs more pods: build the lab with more --containers", path)
	}
	return Network{}.EndsOf(cluster, path)
}

// tryContainerdBridge asks the kernel for what the engine and the plugins will
// ask of it.
func tryContainerdBridge(cluster *lab.Cluster, setup *Setup) error {
	if err := seal(cluster.Hosts[0], "/var/lib"); err != nil { // an overlay file system, as containers have
		return err
	}
	return tryPlugins(cluster, setup)
}

// tryPlugins asks the kernel for a bridge and for NAT by iptables.
func tryPlugins(cluster *lab.Cluster, _ *Setup) error {
	h := cluster.Hosts[0]
	if err := h.AddBridge(bridgeName, cluster.Spec.MTU, nil); err != nil {
		return err
	}
	iptables, err := Program("iptables")
	if err != nil {
		return &MissingError{"iptables", "apt-get install iptables", err}
	}
	_, err = h.Run(iptables, "-t", "nat", "-A", "POSTROUTING", "-m", "comment", "--comment", "tare", "-j", "MASQUERADE")
	return err
}
