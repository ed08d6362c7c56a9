package network

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"tare/engine"
	"tare/lab"
	"tare/wire"
)

// serviceIptables has the rules that kube-proxy adds in its mode iptables: a list of all
// Services that the first packet of a connection is compared with.
func serviceIptables() Network {
	return withServices(Network{
		Needs: []engine.Need{iptablesRestore(wire.IPv4)},
	}, func(h *lab.Host, s services) error { return restoreIptables(h, s.ip(), "services", s.iptables()) })
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
