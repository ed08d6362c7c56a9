package kinds

import (
	"os"
	"path/filepath"

	"tare/catalog"
	"tare/engine"
	"tare/engine/cniplugin"
	"tare/lab"
	"tare/network"
)

// cni is what the plugins of a CNI configuration list make.
func cni() network.Network {
	return network.Network{
		Needs: []engine.Need{engine.NeedRoot()},
		SetUp: setUpCNI,
		Try:   tryCNI,
	}
}

// cniConflist is the list where none is given: a bridge without masquerade.
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
        "ranges": [[{"subnet": "{{.Subnet}}", "gateway": "{{.Gateway}}"}]{{with .Subnet6}}, [{"subnet": "{{.}}"}]{{end}}],
        "routes": [{"dst": "0.0.0.0/0"}{{with .Subnet6}}, {"dst": "::/0"}{{end}}]
      }
    },
    {"type": "portmap",{{if .NFTables}} "backend": "nftables",{{end}} "capabilities": {"portMappings": true}}
  ]
}`

func setUpCNI(cluster *lab.Cluster, setup *network.Setup) error {
	var published bool
	folders, err := cniFolders(setup)
	if err != nil {
		return err
	}
	for _, h := range cluster.Hosts {
		list, err := conflistFor(h, cluster.Spec.MTU, setup.Params)
		if err != nil {
			return &engine.MissingError{
				What: "CNI configuration list", Get: "name a .conflist by --cni; docs/networks/cni.md describes what it may hold", Err: err,
			}
		}
		published = list.Publishes
		if err := cniplugin.Install(h, list, folders); err != nil {
			return err
		}
	}
	setup.Unserved = []string{catalog.PublishedPort, catalog.ContainerToPublishedPort}
	if published {
		setup.Unserved = []string{catalog.ContainerToOwnHost} // the host's port is the container's
	}
	if err := network.RouteBetweenHosts(cluster); err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error { return cniplugin.Attach(c, folders, setup.Published(c)) })
}

// tryCNI asks for what the default list needs.
func tryCNI(cluster *lab.Cluster, setup *network.Setup) error {
	list, err := conflistFor(cluster.Hosts[0], cluster.Spec.MTU, nil)
	if err != nil {
		return err
	}
	if err := list.Check(nil); err != nil {
		return err
	}
	return tryPlugins(cluster, setup)
}

// tryPlugins asks the kernel for a bridge and for NAT by iptables.
func tryPlugins(cluster *lab.Cluster, _ *network.Setup) error {
	h := cluster.Hosts[0]
	if err := h.AddBridge(network.BridgeName, cluster.Spec.MTU, nil); err != nil {
		return err
	}
	iptables, err := engine.NeedProgram("iptables", "iptables").Require()
	if err != nil {
		return err
	}
	_, err = h.Run(iptables, "-t", "nat", "-A", "POSTROUTING", "-m", "comment", "--comment", "tare", "-j", "MASQUERADE")
	return err
}

// conflistFor reads the list in a file, or the default, with a host's values
// filled in.
func conflistFor(h *lab.Host, mtu int, params map[string]string) (cniplugin.List, error) {
	text := []byte(cniConflist)
	if file := params[catalog.CNIFile]; file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return cniplugin.List{}, err
		}
	}
	filled, err := cniplugin.Fill(string(text), struct {
		cniplugin.Values
		NFTables bool
	}{cniplugin.ValuesOf(h, mtu), byNFTables(params)})
	if err != nil {
		return cniplugin.List{}, err
	}
	return cniplugin.Read(filled)
}

// byNFTables reports whether the plugins of the default list write their rules by nftables.
func byNFTables(params map[string]string) bool {
	return params[catalog.Backend] == catalog.ByNftables
}

// cniFolders are the folders that are searched for plugins before all others.
func cniFolders(setup *network.Setup) ([]string, error) {
	if own := setup.Params[catalog.CNIBin]; own != "" {
		return []string{own}, nil
	}
	if !byNFTables(setup.Params) {
		return nil, nil
	}
	plugin, err := engine.NeedPart("cni-plugins/portmap").Require() // Debian 12's has no such back end
	if err != nil {
		return nil, err
	}
	return []string{filepath.Dir(plugin)}, nil
}
