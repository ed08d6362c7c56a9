package catalog

// rootlessNetworks are of containers of a user without root, which have no device of the host's.
func rootlessNetworks() []Network {
	all := []Network{
		{
			Name: "pasta", Called: []string{"rootless", "passt"}, IPv6: true,
			Doc:    "rootless container behind pasta: a TAP device, and its packets translated to sockets (Podman 5)",
			Params: []Param{{Name: PastaFrom, Doc: "whose pasta: the machine's, or that of Debian 13's backports, which make parts gets", Values: []string{OfMachine, OfDebian13}, List: true}},
		},
		{
			Name: "slirp4netns", Called: []string{"rootless"},
			Doc: "rootless container behind slirp4netns: a TAP device and a TCP/IP stack in user space (Podman before 5, rootless Docker)",
		},
		{
			Name: "gvisor-tap-vsock", Called: []string{"gvproxy", "vpnkit"},
			Doc: "rootless container behind gvproxy: a TAP device and gVisor's TCP/IP stack in user space (podman machine, RootlessKit)",
		},
	}
	for n := range all {
		one := &all[n]
		one.Parent, one.Fidelity, one.Outside = Baseline, Product, true
		one.Facts = Facts{Relays: true, Kernel: "tun"}
		one.Paths = []string{ContainerToHost, PublishedPort, ContainerToPublishedPort}
		one.Missing, one.Get = "TUN devices", "modprobe tun"
		one.Params = append(one.Params, tapMTU())
	}
	return all
}
