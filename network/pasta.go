package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"tare/engine"
	"tare/lab"
)

// pasta is a rootless container behind pasta, which copies between a TAP device and sockets
// without a TCP/IP stack between.
func pasta() Network {
	return rootless(Network{
		Name:  "pasta",
		Doc:   "rootless container behind pasta: a TAP device, and its packets translated to sockets (Podman 5)",
		Needs: []engine.Need{tunNeed(), needPasta()},
	}, startPasta)
}

func needPasta() engine.Need { return engine.NeedProgram("pasta", "passt", "--version") }

func startPasta(c *lab.Container, path string, ports []engine.Port) error {
	program, err := needPasta().Require()
	if err != nil {
		return err
	}
	name := "pasta-" + c.Short
	ready := lab.Scratch + "/" + name + ".pid"
	argv := []string{
		program, "--foreground", "--quiet", "--ipv4-only", "--config-net", "--netns-only", "--runas", "0:0", "--netns", path, "--pid", ready,
		"--ns-ifname", lab.Device, "--interface", lab.Device, "--address", c.Addr.String(), "--netmask", "24", "--gateway", rootlessAddr(c, 1).String(),
		"--no-map-gw", "--tcp-ns", "none", "--udp-ns", "none",
	}
	for protocol, flag := range map[string]string{"tcp": "--tcp-ports", "udp": "--udp-ports"} {
		var specs []string
		for _, port := range ports {
			if port.Protocol == protocol {
				specs = append(specs, fmt.Sprintf("%d:%d", port.Host, port.Container))
			}
		}
		if len(specs) == 0 {
			argv = append(argv, flag, "none")
			continue
		}
		argv = append(argv, flag, c.Host.Addr.String()+"/"+strings.Join(specs, ","))
	}
	err = startFor(c, lab.Daemon{
		Name: name, Argv: argv,
		Ready: func() error { _, err := os.Stat(ready); return err },
	})
	if err != nil {
		return err
	}
	return showMAC(c)
}

// discardPort is where nothing answers (RFC 863).
const discardPort = 9

// showMAC has a container ask for its gateway. pasta learns the container's MAC address by the
// first packet that it sends; until then TCP drops what comes as a broadcast.
func showMAC(c *lab.Container) error {
	return c.Do(func() error {
		conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(rootlessAddr(c, 1), discardPort)))
		if err == nil {
			_, err = conn.Write([]byte{0})
			err = errors.Join(err, conn.Close())
		}
		if err != nil {
			return fmt.Errorf("send to the gateway of %s: %w", c.Name, err)
		}
		return nil
	})
}
