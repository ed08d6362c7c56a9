package kinds

import (
	"fmt"

	"tare/catalog"
	"tare/engine"
	"tare/engine/cniplugin"
	"tare/engine/containerd"
	"tare/lab"
	"tare/network"
)

// containerdBridge is containerd with the CNI configuration in containerd's
// documentation, and routes between hosts.
func containerdBridge() network.Network {
	return network.Network{
		Needs: append(containerd.Needs(), podPlugins()),
		Cycle: containerd.Cycle,
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
        "ranges": [[{"subnet": "{{.Subnet}}"}]{{with .Subnet6}}, [{"subnet": "{{.}}"}]{{end}}],
        "routes": [{"dst": "0.0.0.0/0"}{{with .Subnet6}}, {"dst": "::/0"}{{end}}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}`

func setUpContainerdBridge(cluster *lab.Cluster, setup *network.Setup) error {
	engines := make([]*containerd.Client, len(cluster.Hosts)) // by host
	err := network.AllHosts(cluster, func(h *lab.Host) (err error) {
		engines[h.Number-1], err = startContainerd(cluster, h, setup)
		return err
	})
	if err != nil {
		return err
	}
	if err := network.RouteBetweenHosts(cluster); err != nil {
		return err
	}
	first := make([]containerd.Pod, len(cluster.Hosts)) // by host
	err = setup.Populate(cluster, func(c *lab.Container) error {
		pod, err := engines[c.Host.Number-1].Run(c, setup.Published(c))
		if c.Number == 1 {
			first[c.Host.Number-1] = pod
		}
		return err
	})
	if err != nil || setup.Containers == 0 {
		return err
	}
	// The last container of each host is in the host's first pod, whose ports are
	// published.
	return network.AllHosts(cluster, func(h *lab.Host) error {
		c, err := h.AddContainer()
		if err != nil {
			return err
		}
		return engines[h.Number-1].Join(c, first[h.Number-1])
	})
}

// startContainerd starts a host's containerd.
func startContainerd(cluster *lab.Cluster, h *lab.Host, setup *network.Setup) (*containerd.Client, error) {
	conflist, err := cniplugin.Fill(podConflist, struct {
		cniplugin.Values
		IPMasq, PromiscMode bool
	}{cniplugin.ValuesOf(h, cluster.Spec.MTU), setup.Params[catalog.IPMasq] == "on", setup.Params[catalog.PromiscMode] == "on"})
	if err != nil {
		return nil, err
	}
	plugins, err := podPlugins().Require()
	if err != nil {
		return nil, err
	}
	client, err := containerd.Start(h, plugins, conflist)
	if err != nil {
		return nil, err
	}
	cluster.Push(client.Close)
	return client, nil
}

// podPlugins are the CNI plugins of podConflist, and the one that sets up the
// loopback of every pod.
func podPlugins() engine.Need { return cniplugin.Need("bridge", "host-local", "portmap", "loopback") }

// podEnds are the ends on hosts whose last container is in the pod of their first.
func podEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	own := cluster.Hosts[0].Containers()
	switch {
	case path == catalog.SamePod && len(own) > 1:
		place := func(c *lab.Container) string { return c.Host.Short + "/" + c.Short }
		return network.Ends{Client: place(own[0]), Server: place(own[len(own)-1]), Bind: network.Loopback(), Dial: network.Loopback()}, nil
	case path == catalog.SamePod, path == catalog.SameHost && len(own) < 3:
		return network.Ends{}, fmt.Errorf("path %s needs more pods: build the lab with more --containers", path)
	}
	return network.UsualEnds(cluster, path)
}

// tryContainerdBridge asks the kernel for what the engine and the plugins need.
func tryContainerdBridge(cluster *lab.Cluster, setup *network.Setup) error {
	if err := engine.Seal(cluster.Hosts[0], "/var/lib"); err != nil { // containers have an overlay file system
		return err
	}
	return tryPlugins(cluster, setup)
}
