package kinds

import (
	"tare/catalog"
	"tare/engine"
	"tare/engine/cniplugin"
	"tare/engine/flannel"
	"tare/lab"
	"tare/network"
)

// flannelHostGW is flannel with routes between hosts: nothing is encapsulated.
func flannelHostGW() network.Network {
	return network.Network{
		Needs: flannelNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setUpFlannel(cluster, setup, flannel.Backend{Type: "host-gw"})
		},
		Try: func(cluster *lab.Cluster, _ *network.Setup) error { return flannel.Try(cluster.Hosts[0]) },
	}
}

// ipMasq is the parameter whether what leaves the containers' network is
func flannelNeeds() []engine.Need {
	return append(flannel.Needs(), cniplugin.Need("bridge", "host-local"))
}

// flannelConflist is what flannel's CNI plugin makes of the list in flannel's
// manifest for Kubernetes (kube-flannel.yml, cni-conf.json), less the masquerade,
// which flanneld adds if at all.
const flannelConflist = `{
  "cniVersion": "1.0.0",
  "name": "cbr0",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "hairpinMode": true,
      "isDefaultGateway": true,
      "mtu": {{.MTU}},
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "{{.Subnet}}", "gateway": "{{.Gateway}}"}]{{with .Subnet6}}, [{"subnet": "{{.}}"}]{{end}}],
        "routes": [{"dst": "{{.Network}}"}{{if .Subnet6}}, {"dst": "{{.Network6}}"}{{end}}]
      }
    }
  ]
}`

// setUpFlannel starts etcd on the first host and flanneld on each, has CNI attach
// the containers to a bridge in the subnet that flanneld got, and waits until
// every host reaches every other through flannel.
func setUpFlannel(cluster *lab.Cluster, setup *network.Setup, backend flannel.Backend) error {
	rules := flannel.Rules{Masquerade: setup.Params[catalog.IPMasq] == catalog.On, NFTables: setup.Params[catalog.Backend] == catalog.ByNftables}
	store, err := flannel.StartStore(cluster.Hosts[0], backend, rules)
	if err != nil {
		return err
	}
	if err := network.AddNeighbours(cluster); err != nil { // each host asks for every other
		return err
	}
	leases := make([]flannel.Lease, len(cluster.Hosts)) // by host
	err = network.AllHosts(cluster, func(h *lab.Host) error {
		lease, err := flannel.Start(h, store, rules)
		leases[h.Number-1] = lease
		return err
	})
	if err != nil {
		return err
	}
	err = network.AllHosts(cluster, func(h *lab.Host) error {
		list, err := leaseConflist(leases[h.Number-1])
		if err != nil {
			return err
		}
		return cniplugin.Install(h, list, nil)
	})
	if err != nil {
		return err
	}
	if err := setup.Populate(cluster, func(c *lab.Container) error { return cniplugin.Attach(c, nil, setup.Published(c)) }); err != nil {
		return err
	}
	return network.AllHosts(cluster, func(h *lab.Host) error { return flannel.Await(h, leases) })
}

// leaseConflist fills in flannelConflist for a host.
func leaseConflist(l flannel.Lease) (cniplugin.List, error) {
	values := map[string]any{
		"MTU": l.MTU, "Subnet": l.Gateway.Masked(), "Gateway": l.Gateway.Addr(), "Network": flannel.Network(),
		"Subnet6": "", "Network6": lab.IPv6PrefixOf(flannel.Network()),
	}
	if l.Gateway6.IsValid() {
		values["Subnet6"] = l.Gateway6.Masked()
	}
	text, err := cniplugin.Fill(flannelConflist, values)
	if err != nil {
		return cniplugin.List{}, err
	}
	return cniplugin.Read(text)
}
