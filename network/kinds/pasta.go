package kinds

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// pasta is a rootless container behind pasta, which copies between a TAP device and sockets
// without a TCP/IP stack between.
func pasta() network.Network {
	n := rootless(network.Network{
		Needs: []engine.Need{tunNeed(), needPasta()},
	}, startPasta)
	attach := n.SetUp
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		if err := attach(cluster, setup); err != nil {
			return err
		}
		if setup.Params[catalog.PastaFrom] == catalog.OfDebian13 {
			versions, err := engine.Versions(cluster.Hosts[0], []engine.Need{needPastaOf(setup)})
			if err != nil {
				return err
			}
			setup.Part()["pasta"] = versions[pastaOf13]
		}
		return setup.FindMute(cluster, pastaMute)
	}
	return n
}

// pastaMute is the limit of versions before 2023_10_04 (passt's commit 9178a9e). Debian's
// prints no version: whether this one has it is found by trying.
const pastaMute = "this pasta does not complete a connection to a container before the client has sent something: take passt 2023_10_04 or newer (https://passt.top)"

func needPasta() engine.Need { return engine.NeedProgram("pasta", "passt", "--version") }

// pastaOf13 is the name of Debian 13's among the parts.
const pastaOf13 = "pasta-13"

// needPastaOf is the pasta that the parameters ask for.
func needPastaOf(setup *network.Setup) engine.Need {
	if setup.Params[catalog.PastaFrom] == catalog.OfDebian13 {
		return engine.NeedPart(pastaOf13, "--version")
	}
	return needPasta()
}

func startPasta(c *lab.Container, setup *network.Setup, with tap) error {
	program, err := needPastaOf(setup).Require()
	if err != nil {
		return err
	}
	argv := []string{
		program, "--foreground", "--quiet", "--config-net", "--netns-only", "--runas", "0:0", "--netns", with.path,
		"--ns-ifname", lab.Device, "--interface", lab.Device, "--address", c.Addr.String(), "--netmask", "24", "--gateway", rootlessAddr(c, 1).String(),
		"--mtu", with.mtu, "--no-map-gw", "--tcp-ns", "none", "--udp-ns", "none",
	}
	if c.Host.At().Is6() {
		argv = append(argv, "--address", lab.IPv6Of(c.Addr).String(), "--gateway", lab.IPv6Of(rootlessAddr(c, 1)).String())
	} else {
		argv = append(argv, "--ipv4-only")
	}
	for protocol, flag := range map[string]string{"tcp": "--tcp-ports", "udp": "--udp-ports"} {
		var specs []string
		for _, port := range with.ports {
			if port.Protocol == protocol {
				specs = append(specs, fmt.Sprintf("%d:%d", port.Host, port.Container))
			}
		}
		if len(specs) == 0 {
			argv = append(argv, flag, "none")
			continue
		}
		at := c.Host.Addr.String() + "/"
		if c.Host.At().Is6() {
			at = "" // a port is published once: at all addresses
		}
		argv = append(argv, flag, at+strings.Join(specs, ","))
	}
	err = startFor(c, lab.Daemon{
		Name: "pasta-" + c.Short, Argv: argv, Within: pastaWait,
		Ready: func() error { return passesGateway(c) },
	})
	if err != nil {
		return fmt.Errorf("%w: see what pasta(1) needs, or take slirp4netns instead", err)
	}
	return nil
}

// pastaWait is how long pasta may take, a few milliseconds on a CPU that is not emulated.
const pastaWait = 10 * time.Second

// discardPort is where nothing answers (RFC 863).
const discardPort = 9

// passesGateway has a container send to its host, and fails until its gateway, which is pasta,
// has answered its request for a MAC address. A pid file would not do: that of a container
// that had the same number may still be there. pasta answers when it has set the container's
// address and route and listens at the published ports. By the request it learns the
// container's MAC address; before, TCP drops what comes, as a broadcast.
func passesGateway(c *lab.Container) error {
	err := c.Do(func() error {
		conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.Host.Addr, discardPort)))
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte{0})
		return errors.Join(err, conn.Close())
	})
	if err != nil {
		return fmt.Errorf("send from %s to its host: %w", c.Name, err)
	}
	gateway := rootlessAddr(c, 1)
	if answered, err := c.Resolved(lab.Device, gateway); err != nil || answered {
		return err
	}
	return fmt.Errorf("ask %s for its MAC address from %s: no answer yet", gateway, c.Name)
}

// rootless completes a network whose containers have no device of the host's: each has a
// process that takes its packets from a TAP device and sends their content by sockets of the
// host, and listens there for its published ports, as for containers of a user without root.
// start starts it for a container.
func rootless(n network.Network, start func(c *lab.Container, setup *network.Setup, with tap) error) network.Network {
	n.Ends = rootlessEnds
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		if err := addServers(cluster, setup); err != nil {
			return err
		}
		return setup.Populate(cluster, func(c *lab.Container) error {
			if err := checkRootless(c); err != nil {
				return err
			}
			if err := c.Create(); err != nil {
				return err
			}
			path, err := c.BindNamespace()
			if err != nil {
				return err
			}
			c.Addr = rootlessAddr(c, 100)
			return start(c, setup, tap{path: path, mtu: tapMTU(setup), ports: setup.Published(c)})
		})
	}
	return n
}

// addServers gives each host a second address, for its own servers: at the first, processes of its
// containers listen at the same ports. With IPv6 pasta listens at all addresses.
func addServers(cluster *lab.Cluster, setup *network.Setup) error {
	if cluster.Spec.IPv6 {
		setup.Unserved = append(setup.Unserved, catalog.ContainerToHost)
		return nil
	}
	return network.EachHost(cluster, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(secondAddr(h), 32))
	})
}

// rootlessEnds are the usual ends, and those of a container that sends to the other host.
func rootlessEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	if path != catalog.ContainerToHost {
		return network.UsualEnds(cluster, path)
	}
	ends, err := network.UsualEnds(cluster, catalog.ContainerToPublishedPort)
	if err == nil {
		other := cluster.Hosts[1]
		ends.Server, ends.Bind, ends.Dial = other.Short, secondAddr(other), secondAddr(other)
	}
	return ends, err
}

// tap is the only device of a rootless container.
type tap struct {
	path  string // of the container's namespace, in its host
	mtu   string
	ports []engine.Port
}

func tapMTU(setup *network.Setup) string {
	return cmp.Or(setup.Params[catalog.TapMTU], catalog.DefaultTapMTU)
}

// mostRootless bounds the containers of a host: each has its own subnet.
const mostRootless = 250

func checkRootless(c *lab.Container) error {
	if c.Number > mostRootless {
		return fmt.Errorf("%s is container %d of its host: these networks have addresses for %d", c.Name, c.Number, mostRootless)
	}
	return nil
}

// rootlessAddr is an address of the container's own subnet, a /24 of its host's.
func rootlessAddr(c *lab.Container, n byte) netip.Addr {
	b := c.Host.Subnet().Addr().As4()
	return netip.AddrFrom4([4]byte{b[0], b[1], byte(c.Number), n})
}

// startFor starts a daemon that ends with a container.
func startFor(c *lab.Container, d lab.Daemon) error {
	process, err := c.Host.StartDaemon(d)
	if err != nil {
		return err
	}
	c.Detach.Push(func() error {
		err := process.Signal(syscall.SIGKILL)
		<-process.Done
		return err
	})
	return nil
}
