package kinds

import (
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// wireguardGo is wireguard without the kernel's module: the project's own program in user
// space, on a TUN device.
func wireguardGo() network.Network {
	n := wireguard()
	n.Needs = []engine.Need{tunNeed(), needWireguardGo(), wg()}
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		return setUpWireguard(cluster, setup, startWireguardGo)
	}
	return n
}

func needWireguardGo() engine.Need {
	return engine.NeedProgram("wireguard-go", "wireguard-go", "--version")
}

// startWireguardGo starts the program in a host, and waits until its device can be set.
func startWireguardGo(h *lab.Host, mtu int) error {
	path, err := needWireguardGo().Require()
	if err != nil {
		return err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name:  "wireguard-go",
		Argv:  []string{path, "--foreground", wireguardDevice},
		Env:   []string{"LOG_LEVEL=error"},
		Ready: func() error { return engine.Listens("/var/run/wireguard/" + wireguardDevice + ".sock") },
	})
	if err != nil {
		return err
	}
	return h.SetMTU(wireguardDevice, mtu)
}
