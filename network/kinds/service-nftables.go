package kinds

import (
	"fmt"
	"strings"

	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// serviceNftables has the rules that kube-proxy adds in its mode nftables: one map of all
// Services, in which the first packet of a connection is looked up.
func serviceNftables() network.Network {
	return withServices(network.Network{
		Needs: []engine.Need{nft()},
	}, func(h *lab.Host, s services) error {
		file := lab.Scratch + "/services"
		if err := h.WriteFile(file, []byte(s.nftables()), 0o600); err != nil {
			return err
		}
		path, err := nft().Require()
		if err != nil {
			return err
		}
		_, err = h.RunWithin(network.RulesWait, path, "-f", file)
		return err
	})
}

func nft() engine.Need { return engine.NeedProgram("nft", "nftables", "--version") }

// nftables are the rules of all Services as nft reads them. Their shape and names are those
// of kube-proxy v1.36 (pkg/proxy/nftables/proxier.go) with its defaults.
func (s services) nftables() string {
	chains, rules, maps := new(strings.Builder), new(strings.Builder), map[string][]string{}
	add := func(to string, element string) { maps[to] = append(maps[to], element) }
	add("nodeport-ips", s.node.String())
	for _, p := range s.ports {
		base := p.nftablesName()
		own := "service-" + base
		at := fmt.Sprintf("%s . %s . %d", p.at.Addr(), p.protocol, p.at.Port())
		fmt.Fprintf(chains, "add chain ip kube-proxy %s\n", own)
		add("service-ips", at+" : goto "+own)
		if p.nodePort > 0 {
			outside := "external-" + base
			add("service-nodeports", fmt.Sprintf("%s . %d : goto %s", p.protocol, p.nodePort, outside))
			fmt.Fprintf(chains, "add chain ip kube-proxy %s\n", outside)
			fmt.Fprintf(rules, "add rule ip kube-proxy %s mark set mark or 0x4000 comment \"masquerade\"\n", outside)
			fmt.Fprintf(rules, "add rule ip kube-proxy %s goto %s\n", outside, own)
		}
		fmt.Fprintf(rules, "add rule ip kube-proxy %s meta l4proto %s dnat %s\n", own, p.protocol, p.nftablesTarget(s, add))
		if last := len(maps["cluster-ips"]) - 1; last < 0 || maps["cluster-ips"][last] != p.at.Addr().String() {
			add("cluster-ips", p.at.Addr().String())
		}
	}
	var elements strings.Builder
	for _, name := range []string{"cluster-ips", "nodeport-ips", "hairpin-connections", "service-ips", "service-nodeports"} {
		if len(maps[name]) > 0 {
			fmt.Fprintf(&elements, "add element ip kube-proxy %s { %s }\n", name, strings.Join(maps[name], ", "))
		}
	}
	text := nftablesTable + chains.String() + fmt.Sprintf(nftablesRules, s.pods, s.all) + rules.String() + elements.String()
	if s.ip() == wire.IPv6 {
		return strings.NewReplacer(" ip ", " ip6 ", "ipv4_addr", "ipv6_addr").Replace(text)
	}
	return text
}

// nftablesName is the part of its chains' names that is the port's.
func (p servicePort) nftablesName() string {
	name := p.service + "/" + p.protocol + "/" + p.port
	return hashed(8, name) + "-" + name
}

// nftablesTarget chooses one of the endpoints of a port. Those of the host itself may reach
// themselves. A Service that is not measured has no map for its one endpoint, since no packet
// comes there, and the kernel takes minutes for 30,000 maps without a name
// (nf_tables_set_alloc_name in net/netfilter/nf_tables_api.c).
func (p servicePort) nftablesTarget(s services, add func(to, element string)) string {
	var all []string
	for n, at := range p.endpoints {
		all = append(all, fmt.Sprintf("%d : %s . %d", n, at.Addr(), at.Port()))
		if s.pods.Contains(at.Addr()) {
			add("hairpin-connections", fmt.Sprintf("%s . %[1]s . %s . %d", at.Addr(), p.protocol, at.Port()))
		}
	}
	if p.nodePort == 0 {
		return "to " + p.endpoints[0].String()
	}
	return fmt.Sprintf("ip addr . port to numgen random mod %d map { %s }", len(all), strings.Join(all, ", "))
}

// nftablesTable are the chains, sets and maps that every host has.
const nftablesTable = `add table ip kube-proxy { comment "rules for kube-proxy" ; }
add chain ip kube-proxy filter-prerouting-pre-dnat { type filter hook prerouting priority -110 ; }
add chain ip kube-proxy filter-output-pre-dnat { type filter hook output priority -110 ; }
add chain ip kube-proxy filter-input { type filter hook input priority filter ; }
add chain ip kube-proxy filter-forward { type filter hook forward priority filter ; }
add chain ip kube-proxy filter-output { type filter hook output priority filter ; }
add chain ip kube-proxy nat-prerouting { type nat hook prerouting priority -100 ; }
add chain ip kube-proxy nat-output { type nat hook output priority -100 ; }
add chain ip kube-proxy nat-postrouting { type nat hook postrouting priority srcnat ; }
add chain ip kube-proxy nodeport-endpoints-check
add chain ip kube-proxy service-endpoints-check
add chain ip kube-proxy firewall-check
add chain ip kube-proxy services
add chain ip kube-proxy masquerading
add chain ip kube-proxy cluster-ips-check
add chain ip kube-proxy reject-chain { comment "helper for @no-endpoint-services / @no-endpoint-nodeports" ; }
add set ip kube-proxy hairpin-connections { type ipv4_addr . ipv4_addr . inet_proto . inet_service ; comment "service hairpin connections" ; }
add set ip kube-proxy cluster-ips { type ipv4_addr ; comment "Active ClusterIPs" ; }
add set ip kube-proxy nodeport-ips { type ipv4_addr ; comment "IPs that accept NodePort traffic" ; }
add map ip kube-proxy no-endpoint-services { type ipv4_addr . inet_proto . inet_service : verdict ; comment "vmap to drop or reject packets to services with no endpoints" ; }
add map ip kube-proxy no-endpoint-nodeports { type inet_proto . inet_service : verdict ; comment "vmap to drop or reject packets to service nodeports with no endpoints" ; }
add map ip kube-proxy firewall-ips { type ipv4_addr . inet_proto . inet_service : verdict ; comment "destinations that are subject to LoadBalancerSourceRanges" ; }
add map ip kube-proxy service-ips { type ipv4_addr . inet_proto . inet_service : verdict ; comment "ClusterIP, ExternalIP and LoadBalancer IP traffic" ; }
add map ip kube-proxy service-nodeports { type inet_proto . inet_service : verdict ; comment "NodePort traffic" ; }
`

// nftablesRules are the rules that every host has. What comes from elsewhere than its own
// containers is masqueraded.
const nftablesRules = `add rule ip kube-proxy filter-input ct state new jump nodeport-endpoints-check
add rule ip kube-proxy filter-input ct state new jump service-endpoints-check
add rule ip kube-proxy filter-forward ct state new jump service-endpoints-check
add rule ip kube-proxy filter-output ct state new jump service-endpoints-check
add rule ip kube-proxy filter-prerouting-pre-dnat ct state new jump firewall-check
add rule ip kube-proxy filter-output-pre-dnat ct state new jump firewall-check
add rule ip kube-proxy nat-output jump services
add rule ip kube-proxy nat-prerouting jump services
add rule ip kube-proxy nat-postrouting jump masquerading
add rule ip kube-proxy filter-forward ct state new jump cluster-ips-check
add rule ip kube-proxy filter-output ct state new jump cluster-ips-check
add rule ip kube-proxy masquerading mark and 0x4000 != 0 mark set mark xor 0x4000 masquerade fully-random
add rule ip kube-proxy masquerading ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random
add rule ip kube-proxy cluster-ips-check ip daddr @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"
add rule ip kube-proxy cluster-ips-check ip daddr { %[2]s } drop comment "Drop traffic to unallocated ClusterIPs"
add rule ip kube-proxy reject-chain reject
add rule ip kube-proxy service-endpoints-check ip daddr . meta l4proto . th dport vmap @no-endpoint-services
add rule ip kube-proxy nodeport-endpoints-check ip daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports
add rule ip kube-proxy firewall-check ip daddr . meta l4proto . th dport vmap @firewall-ips
add rule ip kube-proxy services ip daddr @cluster-ips ip saddr != %[1]s mark set mark or 0x4000 comment "masquerade clusterIP traffic from outside cluster"
add rule ip kube-proxy services ip daddr . meta l4proto . th dport vmap @service-ips
add rule ip kube-proxy services ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
`
