package network

import (
	"errors"
	"fmt"

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
		Paths:    []string{SamePod, SameHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
		Needs:    containerdNeeds("bridge", "host-local", "portmap"),
		Missing:  "the kernel's bridge, or iptables with NAT",
		Get:      "modprobe -a bridge overlay nft_compat xt_MASQUERADE xt_comment",
		Params: []Param{
			{Name: podIPMasq, Doc: "masquerade what leaves the containers' network", Values: onOff, List: true},
			{Name: podPromisc, Doc: "CNI bridge in promiscuous mode", Values: onOff, List: true},
		},
		Lay:  layContainerdBridge,
		Try:  tryContainerdBridge,
		Ends: podEnds,
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

func layContainerdBridge(u *lab.Underlay, l *Laying) error {
	if err := allHosts(u, func(h *lab.Host) error { return layPods(h, l, u.Spec.MTU) }); err != nil {
		return err
	}
	return routeBetweenHosts(u)
}

// layPods starts the host's containerd and a pod for each of its containers.
// The first pod, whose port is published, holds a second container, the host's
// last.
func layPods(h *lab.Host, l *Laying, mtu int) (err error) {
	conflist, err := fillConflist(podConflist, struct {
		conflistValues
		IPMasq, PromiscMode bool
	}{valuesOf(h, mtu), l.Params[podIPMasq] == "on", l.Params[podPromisc] == "on"})
	if err != nil {
		return err
	}
	p, err := startContainerd(h, conflist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var first pod
	for n := 1; n <= l.Containers; n++ {
		in, err := p.run(fmt.Sprintf("pod%d", n), n == 1)
		if err != nil {
			return err
		}
		if err := p.add(in, "first"); err != nil {
			return err
		}
		if n == 1 {
			first = in
		}
	}
	if l.Containers == 0 {
		return nil
	}
	return p.add(first, "second")
}

// podEnds are those of a host whose last container is in its first's pod.
func podEnds(u *lab.Underlay, path string) (Ends, error) {
	own := u.Hosts[0].Containers
	switch {
	case path == SamePod && len(own) > 1:
		place := func(c *lab.Container) string { return c.Host.Short + "/" + c.Short }
		return Ends{place(own[0]), place(own[len(own)-1]), loopback(), loopback()}, nil
	case path == SamePod, path == SameHost && len(own) < 3:
		return Ends{}, fmt.Errorf("path %s needs more pods: build the lab with more --containers", path)
	}
	return Network{}.EndsOf(u, path)
}

// tryContainerdBridge asks the kernel for what the plugins will ask of it.
func tryContainerdBridge(u *lab.Underlay, _ *Laying) error {
	h := u.Hosts[0]
	if err := h.AddBridge(bridgeName, u.Spec.MTU, nil); err != nil {
		return err
	}
	if err := seal(h, "/var/lib"); err != nil { // an overlay file system, as containers have
		return err
	}
	iptables, err := Program("iptables")
	if err != nil {
		return err
	}
	_, err = h.Run(iptables, "-t", "nat", "-A", "POSTROUTING", "-m", "comment", "--comment", "tare", "-j", "MASQUERADE")
	return err
}
