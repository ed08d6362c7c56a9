package network

import (
	"net/netip"
	"strconv"

	"tare/lab"
)

// RelayVerb is the hidden command by which the binary relays a published port.
const RelayVerb = "relay"

// proxy is a bridge and a process that relays the published port: what
// docker-proxy does.
func proxy() Network {
	return Network{
		Name:     "proxy",
		Doc:      "bridge + a userspace relay of the published port (what docker-proxy does)",
		Parent:   "bridge",
		Fidelity: SamePath,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Missing:  "the kernel's bridge",
		Get:      "modprobe bridge",
		Lay: func(u *lab.Underlay, l *Laying) error {
			if err := layBridge(u, l); err != nil {
				return err
			}
			// Containers reach the other host's published port unmasqueraded.
			if err := routeBetweenHosts(u); err != nil {
				return err
			}
			return eachHost(u, startRelay)
		},
	}
}

func startRelay(h *lab.Host) error {
	if len(h.Containers) == 0 {
		return nil
	}
	port := strconv.Itoa(Port)
	return h.StartSelf(RelayVerb,
		"--listen", netip.AddrPortFrom(h.Addr, Port).String(),
		"--to", h.ContainerAddr(1).String()+":"+port)
}
