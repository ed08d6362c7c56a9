package catalog

import "tare/wire"

// tunnelNetworks need a module or a program that machines often lack.
func tunnelNetworks() []Network {
	return []Network{
		{
			Name: "gre", Parent: "route", Fidelity: SamePath, IPv6: true,
			Doc:   "bridge per host, kernel GRE between hosts, container MTU = underlay - 24",
			Facts: Facts{Kernel: "ip_gre"}, Stack: wire.GRE(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "GRE devices", Get: "modprobe ip_gre",
		},
		{
			Name: "geneve", Parent: "bridge", Fidelity: SamePath, IPv6: true,
			Doc:   "bridge + kernel Geneve between hosts, container MTU = underlay - 50",
			Facts: Facts{Kernel: "geneve"}, Stack: wire.Geneve(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "Geneve devices", Get: "modprobe geneve",
		},
		{
			Name: "wireguard", Parent: "route", Fidelity: SamePath, IPv6: true,
			Doc:   "bridge per host, kernel WireGuard between hosts, container MTU = underlay - 60",
			Facts: Facts{Encrypts: true, Kernel: "wireguard"}, Stack: wire.Wireguard(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "WireGuard devices", Get: "modprobe wireguard",
		},
		{
			Name: "wireguard-go", Parent: "route", Fidelity: Product, IPv6: true,
			Doc:   "bridge per host, wireguard-go between hosts: WireGuard in user space, container MTU = underlay - 60",
			Facts: Facts{Encrypts: true, Kernel: "tun"}, Stack: wire.Wireguard(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "TUN devices", Get: "modprobe tun",
		},
		{
			Name: "ipsec", Parent: "route", Fidelity: SamePath,
			Doc:   "bridge per host, ESP tunnels between hosts (AES-GCM, 128 bits, static keys), container MTU = underlay - 54",
			Facts: Facts{Encrypts: true, Kernel: "esp4"}, Stack: wire.ESP(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "ESP", Get: "modprobe esp4",
		},
	}
}
