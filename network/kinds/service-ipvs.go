package kinds

import (
	"fmt"
	"strings"

	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// ipvsDevice has the addresses of all Services, so that packets to them come to IPVS.
const ipvsDevice = "kube-ipvs0"

// What a kernel may lack of it, and how to get that.
const (
	ipvsMissing = "IPVS, and sets of addresses in iptables"
	ipvsGet     = "modprobe dummy ip_vs_rr xt_set ip_set_hash_ipport ip_set_hash_ipportip ip_set_bitmap_port nft_compat xt_addrtype xt_mark xt_MASQUERADE"
)

// serviceIPVS has what kube-proxy adds in its mode ipvs: a virtual server of the kernel's load
// balancer for each port of a Service, and sets of addresses for a few rules of iptables.
func serviceIPVS() network.Network {
	return withServices(network.Network{
		Needs: []engine.Need{ipvsadm(), ipset(), network.IptablesRestore(wire.IPv4), ipTool()},
	}, addIPVS)
}

func ipvsadm() engine.Need { return engine.NeedProgram("ipvsadm", "ipvsadm", "--version") }
func ipset() engine.Need   { return engine.NeedProgram("ipset", "ipset", "--version") }
func ipTool() engine.Need  { return engine.NeedProgram("ip", "iproute2", "-V") }

// addIPVS adds all Services to a host.
func addIPVS(h *lab.Host, s services) error {
	for _, step := range []struct {
		need engine.Need
		args []string
		name string
		text string
	}{
		{ipTool(), []string{"-batch"}, "addresses", s.ipvsAddresses()},
		{ipset(), []string{"restore", "-file"}, "sets", s.ipvsSets()},
		{ipvsadm(), nil, "servers", s.ipvsServers()},
	} {
		path, err := step.need.Require()
		if err != nil {
			return err
		}
		file := lab.Scratch + "/" + step.name
		if err := h.WriteFile(file, []byte(step.text), 0o600); err != nil {
			return err
		}
		argv := append(append([]string{path}, step.args...), file)
		if step.args == nil { // it reads its standard input alone
			argv = []string{"/bin/sh", "-c", `exec "$0" --restore <"$1"`, path, file}
		}
		if _, err := h.RunWithin(network.RulesWait, argv...); err != nil {
			return &engine.MissingError{What: ipvsMissing, Get: ipvsGet, Err: err}
		}
	}
	// The sysctl comes with IPVS, which its tool loads. Without it nothing is masqueraded.
	if err := h.Sysctl("net/ipv4/vs/conntrack", "1"); err != nil {
		return err
	}
	return network.RestoreIptables(h, s.ip(), "services", fmt.Sprintf(ipvsRules, s.pods))
}

// ipvsAddresses gives the device each Service's address, once, as ip reads it.
func (s services) ipvsAddresses() string {
	var text strings.Builder
	fmt.Fprintf(&text, "link add %s type dummy\n", ipvsDevice)
	for _, addr := range s.clusterIPs() {
		fmt.Fprintf(&text, "address add %s/32 dev %s\n", addr, ipvsDevice)
	}
	return text.String()
}

// clusterIPs are the addresses of all Services, each once.
func (s services) clusterIPs() (all []string) {
	for _, p := range s.ports {
		if addr := p.at.Addr().String(); len(all) == 0 || all[len(all)-1] != addr {
			all = append(all, addr)
		}
	}
	return all
}

// ipvsSets are the sets of addresses and ports as ipset reads them. Their names and kinds are
// those of kube-proxy v1.36 (pkg/proxy/ipvs/ipset.go); those that a rule names are there even
// if they are empty.
func (s services) ipvsSets() string {
	var text strings.Builder
	for _, set := range []string{"CLUSTER-IP", "LOAD-BALANCER", "EXTERNAL-IP", "EXTERNAL-IP-LOCAL"} {
		fmt.Fprintf(&text, "create KUBE-%s hash:ip,port family inet hashsize 1024 maxelem 65536\n", set)
	}
	text.WriteString("create KUBE-LOOP-BACK hash:ip,port,ip family inet hashsize 1024 maxelem 65536\n" +
		"create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\n")
	for _, set := range []string{"NODE-PORT-TCP", "NODE-PORT-UDP", "HEALTH-CHECK-NODE-PORT"} {
		fmt.Fprintf(&text, "create KUBE-%s bitmap:port range 0-65535\n", set)
	}
	for _, addr := range s.clusterIPs() {
		fmt.Fprintf(&text, "add KUBE-IPVS-IPS %s\n", addr)
	}
	for _, p := range s.ports {
		fmt.Fprintf(&text, "add KUBE-CLUSTER-IP %s,%s:%d\n", p.at.Addr(), p.protocol, p.at.Port())
		if p.nodePort > 0 {
			fmt.Fprintf(&text, "add KUBE-NODE-PORT-%s %d\n", strings.ToUpper(p.protocol), p.nodePort)
		}
		for _, at := range p.endpoints {
			if s.pods.Contains(at.Addr()) {
				fmt.Fprintf(&text, "add KUBE-LOOP-BACK %s,%s:%d,%[1]s -exist\n", at.Addr(), p.protocol, at.Port())
			}
		}
	}
	return text.String()
}

// ipvsServers are the virtual servers as ipvsadm reads them: one for each port of a Service,
// and for its node port at the node's own address. Endpoints take turns (rr), as by
// kube-proxy's default.
func (s services) ipvsServers() string {
	var text strings.Builder
	for _, p := range s.ports {
		kind := map[string]string{"tcp": "-t", "udp": "-u"}[p.protocol]
		serve := func(at string) {
			fmt.Fprintf(&text, "-A %s %s -s rr\n", kind, at)
			for _, endpoint := range p.endpoints {
				fmt.Fprintf(&text, "-a %s %s -r %s -m -w 1\n", kind, at, endpoint)
			}
		}
		serve(p.at.String())
		if p.nodePort > 0 {
			serve(fmt.Sprintf("%s:%d", s.node, p.nodePort))
		}
	}
	return text.String()
}

// ipvsRules are the rules that every host has, however many Services: those of kube-proxy
// v1.36 (writeIptablesRules in pkg/proxy/ipvs/proxier.go) with NodeCIDR.
const ipvsRules = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-LOAD-BALANCER - [0:0]
:KUBE-MARK-MASQ - [0:0]
-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN
-A KUBE-POSTROUTING -m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE
-A KUBE-NODE-PORT -p tcp -m comment --comment "Kubernetes nodeport TCP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ
-A KUBE-NODE-PORT -p udp -m comment --comment "Kubernetes nodeport UDP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-UDP dst -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m comment --comment "Kubernetes service cluster ip + port for masquerade purpose" -m set --match-set KUBE-CLUSTER-IP dst,dst ! -s %s -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT
-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
-A KUBE-POSTROUTING -m mark ! --mark 0x00004000/0x00004000 -j RETURN
-A KUBE-POSTROUTING -j MARK --xor-mark 0x00004000
-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
-A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000
COMMIT
*filter
:KUBE-FORWARD - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-SOURCE-RANGES-FIREWALL - [0:0]
:KUBE-IPVS-FILTER - [0:0]
:KUBE-IPVS-OUT-FILTER - [0:0]
-I FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-I INPUT -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT
-I INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL
-I FORWARD -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL
-I INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
-I OUTPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-OUT-FILTER
-A KUBE-SOURCE-RANGES-FIREWALL -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x00004000/0x00004000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A KUBE-NODE-PORT -m comment --comment "Kubernetes health check node port" -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j ACCEPT
-A KUBE-IPVS-FILTER -m set --match-set KUBE-LOAD-BALANCER dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j RETURN
-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW -m set --match-set KUBE-IPVS-IPS dst -j REJECT
COMMIT
`
