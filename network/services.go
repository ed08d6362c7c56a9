package network

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"tare/catalog"
	"tare/lab"
	"tare/wire"
)

// withServices completes a network whose hosts have rules for Services, as kube-proxy adds
// them, on top of the bridge and the routes of the network below. addRules adds those of one
// host.
func withServices(n Network, addRules func(h *lab.Host, s services) error) Network {
	n.Ends = serviceEnds
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		if err := errors.Join(setUpBridge(cluster, setup), routeBetweenHosts(cluster)); err != nil {
			return err
		}
		all, err := servicesOf(cluster, setup)
		if err != nil {
			return err
		}
		return allHosts(cluster, func(h *lab.Host) error {
			// A node has a default route, without which its own packets to a Service come
			// to no rule.
			if err := h.AddRoute(lab.Route{To: serviceRange(), Device: lab.Device}); err != nil {
				return err
			}
			own := services{ports: all, node: h.Addr, pods: h.Subnet(), all: serviceRange()}
			if err := addRules(h, own); err != nil || !cluster.Spec.IPv6 {
				return err
			}
			return addRules(h, own.inIPv6())
		})
	}
	return n
}

// services are those of a cluster, as kube-proxy on one host knows them.
type services struct {
	ports []servicePort // in the order of their rules
	node  netip.Addr    // the host's address, at which it has the ports of nodes
	pods  netip.Prefix  // what is from elsewhere is masqueraded (detectLocalMode NodeCIDR)
	all   netip.Prefix  // of cluster IPs
}

// ip is the version of their addresses: kube-proxy has rules for each.
func (s services) ip() wire.IP { return wire.IPOf(s.node) }

// inIPv6 are the same Services in IPv6.
func (s services) inIPv6() services {
	counterpart := func(at netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(lab.IPv6Of(at.Addr()), at.Port()) }
	six := services{node: lab.IPv6Of(s.node), pods: lab.IPv6PrefixOf(s.pods), all: lab.IPv6PrefixOf(s.all)}
	for _, p := range s.ports {
		p.at, p.endpoints = counterpart(p.at), slices.Clone(p.endpoints)
		for n, at := range p.endpoints {
			p.endpoints[n] = counterpart(at)
		}
		six.ports = append(six.ports, p)
	}
	return six
}

// servicePort is one port of one Service.
type servicePort struct {
	service, port string // "tare/server", "tcp-5210"
	protocol      string
	at            netip.AddrPort   // its cluster IP
	nodePort      uint16           // 0: none
	endpoints     []netip.AddrPort // of its pods
}

// name is the port's name as kube-proxy writes it.
func (p servicePort) name() string { return p.service + ":" + p.port }

// serviceRange is the range of cluster IPs: OpenShift's, since Kubernetes' own begins
// within a lab's addresses.
func serviceRange() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, 0, 0}), 16)
}

// clusterIP is the address of the n-th Service; 0: the measured one.
func clusterIP(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{172, 30, byte((n + 1) >> 8), byte(n + 1)})
}

// backendRange is a range of the second host that its first container has to itself: the
// addresses of the measured Service's further endpoints.
func backendRange(h *lab.Host) netip.Prefix {
	b := h.Subnet().Addr().As4()
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{b[0], b[1], 128, 0}), 17)
}

// servicesOf are the ports of all Services. The first container of the second host is behind
// the measured one, whose node ports are the servers' own, and behind all others.
func servicesOf(cluster *lab.Cluster, setup *Setup) ([]servicePort, error) {
	count, errCount := numberOf(setup, catalog.Services)
	backends, errBackends := numberOf(setup, catalog.Backends)
	if err := errors.Join(errCount, errBackends); err != nil {
		return nil, err
	}
	if len(cluster.Hosts) < 2 || len(cluster.Hosts[1].Containers()) == 0 {
		return nil, nil // there is no path to serve
	}
	host := cluster.Hosts[1]
	server := host.Containers()[0]
	addrs := []netip.Addr{server.Addr}
	if backends > 1 {
		own := lab.Route{To: backendRange(host), Device: "lo", Own: true}
		err := errors.Join(server.AddRoute(own), host.AddRoute(lab.Route{To: own.To, Via: server.Addr, Device: bridgeName}))
		if err != nil {
			return nil, err
		}
		for n := 1; n < backends; n++ {
			b := own.To.Addr().As4()
			addrs = append(addrs, netip.AddrFrom4([4]byte{b[0], b[1], b[2] | byte(n>>8), byte(n)}))
		}
	}
	before := map[string]int{catalog.AtFirst: 0, catalog.AtLast: count - 1, catalog.InTheMiddle: (count - 1) / 2}[setup.Params[catalog.ServiceAt]]
	var all []servicePort
	for n := range count {
		if n == before {
			all = append(all, measuredService(addrs)...)
		}
		if n > 0 {
			all = append(all, servicePort{
				service: fmt.Sprintf("tare/other-%d", n), port: "http", protocol: "tcp", at: netip.AddrPortFrom(clusterIP(n), 80),
				endpoints: []netip.AddrPort{netip.AddrPortFrom(server.Addr, 80)},
			})
		}
	}
	return all, nil
}

// measuredService are the ports of the Service that is measured. Those of UDP have one endpoint:
// a server that does not know at which of its addresses a datagram came can't answer from it.
func measuredService(endpoints []netip.Addr) []servicePort {
	one := func(protocol string, port uint16, endpoints []netip.Addr) servicePort {
		p := servicePort{
			service: "tare/server", port: fmt.Sprintf("%s-%d", protocol, port), protocol: protocol,
			at: netip.AddrPortFrom(clusterIP(0), port), nodePort: port,
		}
		for _, addr := range endpoints {
			p.endpoints = append(p.endpoints, netip.AddrPortFrom(addr, port))
		}
		return p
	}
	var ports []servicePort
	for _, port := range ServerPorts() {
		ports = append(ports, one("tcp", port, endpoints))
	}
	for _, port := range UDPServerPorts() {
		ports = append(ports, one("udp", port, endpoints[:1]))
	}
	return ports
}

// numberOf is a parameter that is a number; 1 where it is not given.
func numberOf(setup *Setup, name string) (int, error) {
	if setup.Params[name] == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(setup.Params[name])
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return n, nil
}

// serviceEnds are the ends of a path by a Service. The server listens at all addresses of its
// container: each endpoint has one.
func serviceEnds(cluster *lab.Cluster, path string) (Ends, error) {
	ends, err := usualEnds(cluster, catalog.Unpublished(path))
	if err != nil {
		return ends, fmt.Errorf("path %s: %w", path, err)
	}
	ends.Bind, ends.Dial = netip.IPv4Unspecified(), clusterIP(0)
	if path == catalog.NodePort || path == catalog.ContainerToNodePort {
		ends.Dial = cluster.Hosts[1].Addr
	}
	return ends, nil
}
