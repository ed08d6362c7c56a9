package kinds

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// serviceIptables has the rules that kube-proxy adds in its mode iptables: a list of all
// Services that the first packet of a connection is compared with.
func serviceIptables() network.Network {
	return withServices(network.Network{
		Needs: []engine.Need{network.IptablesRestore(wire.IPv4)},
	}, func(h *lab.Host, s services) error {
		return network.RestoreIptables(h, s.ip(), "services", s.iptables())
	})
}

// iptables are the rules of all Services as iptables-restore reads them. Their shape, names
// and order are those of kube-proxy v1.36 (pkg/proxy/iptables/proxier.go) with its defaults,
// but for the accounting of nfacct, which kernels without it go without.
func (s services) iptables() string {
	var text strings.Builder
	loopback := iptablesLoopback
	if s.ip() == wire.IPv6 {
		loopback = ""
	}
	text.WriteString(fmt.Sprintf(iptablesFilter, loopback) + iptablesTop)
	var chains, rules strings.Builder
	for n, p := range s.ports {
		p.iptablesOf(&chains, &rules, s)
		if chains.Len()+rules.Len() > iptablesAtOnce || n == len(s.ports)-1 {
			text.WriteString("*nat\n" + chains.String() + rules.String() + "COMMIT\n")
			chains.Reset()
			rules.Reset()
		}
	}
	text.WriteString(iptablesLast)
	return text.String()
}

// iptablesAtOnce is how many bytes of chains and rules are added in one step, and a few more:
// iptables-restore translates them to five times as many, of which an ordinary user's socket takes
// 212,992 (net.core.wmem_default) in one message, and its time grows with the square of the chains
// in a step.
const iptablesAtOnce = 20_000

// iptablesTop leads packets to the Services, and masquerades those that a rule marked.
const iptablesTop = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-MARK-MASQ - [0:0]
-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-POSTROUTING -m mark ! --mark 0x00004000/0x00004000 -j RETURN
-A KUBE-POSTROUTING -j MARK --xor-mark 0x00004000
-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
-A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000
COMMIT
`

// iptablesLast is for packets to no cluster IP.
const iptablesLast = `*nat
-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
COMMIT
`

// iptablesLoopback keeps others away from what listens at the loopback: a node forwards IPv4
// to there (route_localnet).
const iptablesLoopback = `-A KUBE-FIREWALL -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
`

// iptablesFilter are the rules that each packet passes.
const iptablesFilter = `*filter
:KUBE-SERVICES - [0:0]
:KUBE-EXTERNAL-SERVICES - [0:0]
:KUBE-FORWARD - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-FIREWALL - [0:0]
-I INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes externally-visible service portals" -j KUBE-EXTERNAL-SERVICES
-I FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes externally-visible service portals" -j KUBE-EXTERNAL-SERVICES
-I INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS
-I FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-I INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
-I OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
-I FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
-I INPUT -j KUBE-FIREWALL
-I OUTPUT -j KUBE-FIREWALL
%s-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x00004000/0x00004000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
`

// iptablesOf writes the chains and rules of one port.
func (p servicePort) iptablesOf(chains, rules *strings.Builder, s services) {
	own := "KUBE-SVC-" + p.iptablesHash()
	outside := "KUBE-EXT-" + p.iptablesHash()
	to := fmt.Sprintf(`-m comment --comment "%s cluster IP" -m %s -p %[2]s -d %[3]s --dport %[4]d`, p.name(), p.protocol, p.at.Addr(), p.at.Port())
	fmt.Fprintf(chains, ":%s - [0:0]\n", own)
	fmt.Fprintf(rules, "-A KUBE-SERVICES %s -j %s\n", to, own)
	if p.nodePort > 0 {
		fmt.Fprintf(chains, ":%s - [0:0]\n", outside)
		fmt.Fprintf(rules, "-A KUBE-NODEPORTS -m comment --comment %s -m %s -p %[2]s --dport %[3]d -j %[4]s\n", p.name(), p.protocol, p.nodePort, outside)
	}
	fmt.Fprintf(rules, "-A %s %s ! -s %s -j KUBE-MARK-MASQ\n", own, to, s.pods)
	if p.nodePort > 0 {
		fmt.Fprintf(rules, "-A %s -m comment --comment \"masquerade traffic for %s external destinations\" -j KUBE-MARK-MASQ\n-A %[1]s -j %[3]s\n", outside, p.name(), own)
	}
	for n, at := range p.endpoints {
		chance := ""
		if left := len(p.endpoints) - n; left > 1 {
			chance = fmt.Sprintf("-m statistic --mode random --probability %.10f ", 1/float64(left))
		}
		fmt.Fprintf(rules, "-A %s -m comment --comment \"%s -> %s\" %s-j %s\n", own, p.name(), at, chance, p.iptablesEndpoint(at.String()))
	}
	for _, at := range p.endpoints {
		chain := p.iptablesEndpoint(at.String())
		fmt.Fprintf(chains, ":%s - [0:0]\n", chain)
		fmt.Fprintf(rules, "-A %s -m comment --comment %s -s %s -j KUBE-MARK-MASQ\n", chain, p.name(), at.Addr())
		fmt.Fprintf(rules, "-A %s -m comment --comment %s -m %s -p %[3]s -j DNAT --to-destination %[4]s\n", chain, p.name(), p.protocol, at)
	}
}

// iptablesHash is the part of its chains' names that is the port's.
func (p servicePort) iptablesHash() string { return hashed(16, p.name(), p.protocol) }

// iptablesEndpoint is the chain of an endpoint.
func (p servicePort) iptablesEndpoint(at string) string {
	return "KUBE-SEP-" + hashed(16, p.name(), p.protocol, at)
}

// hashed are the first letters of a hash of words, as in kube-proxy's names of chains.
func hashed(letters int, words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "")))
	return base32.StdEncoding.EncodeToString(sum[:])[:letters]
}

// withServices completes a network whose hosts have rules for Services, as kube-proxy adds
// them, on top of the bridge and the routes of the network below. addRules adds those of one
// host.
func withServices(n network.Network, addRules func(h *lab.Host, s services) error) network.Network {
	n.Ends = serviceEnds
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		if err := errors.Join(setUpBridge(cluster, setup), network.RouteBetweenHosts(cluster)); err != nil {
			return err
		}
		all, err := servicesOf(cluster, setup)
		if err != nil {
			return err
		}
		return network.AllHosts(cluster, func(h *lab.Host) error {
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
func servicesOf(cluster *lab.Cluster, setup *network.Setup) ([]servicePort, error) {
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
		err := errors.Join(server.AddRoute(own), host.AddRoute(lab.Route{To: own.To, Via: server.Addr, Device: network.BridgeName}))
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
	for _, port := range network.ServerPorts() {
		ports = append(ports, one("tcp", port, endpoints))
	}
	for _, port := range network.UDPServerPorts() {
		ports = append(ports, one("udp", port, endpoints[:1]))
	}
	return ports
}

// numberOf is a parameter that is a number; 1 where it is not given.
func numberOf(setup *network.Setup, name string) (int, error) {
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
func serviceEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	ends, err := network.UsualEnds(cluster, catalog.Unpublished(path))
	if err != nil {
		return ends, fmt.Errorf("path %s: %w", path, err)
	}
	ends.Bind, ends.Dial = netip.IPv4Unspecified(), clusterIP(0)
	if path == catalog.NodePort || path == catalog.ContainerToNodePort {
		ends.Dial = cluster.Hosts[1].Addr
	}
	return ends, nil
}
