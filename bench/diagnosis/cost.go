package main

func encapsulationCost() cause {
	const sent = `cat "/sys/class/net/$(ip -o link show type vxlan | cut -d' ' -f2 | tr -d ':' | head -n 1)/statistics/tx_packets" 2>/dev/null || echo 0`
	// what the client sends leaves by the device too
	wrapped := []step{
		{near, `mkdir -p /run/tare && { ` + sent + `; } >/run/tare/before`},
		{client, `small`},
		{near, `[ $(($(` + sent + `) - $(cat /run/tare/before))) -gt 2 ]`},
	}
	return cause{id: "encapsulation-cost", bites: wrapped, ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "as-built", does: "the network puts each packet into another",
			on: spots("cross-host", "vxlan", "flannel-vxlan"),
		}, {
			name: "detour", does: "the containers' packets are routed through a VXLAN between hosts that have direct routes",
			on: routed(),
			inject: []step{
				{near, tunnel + `tunnel 192.0.2.1 192.0.2.2 "$(hop "$SERVER")" "$SERVER"`},
				{far, tunnel + `tunnel 192.0.2.2 192.0.2.1 "$(hop "$CLIENT")" "$CLIENT"`},
			},
		},
	}}
}

// tunnel sets up one end of a VXLAN and a route into it.
const tunnel = `
		tunnel() { # OWN-ADDRESS OTHER-ADDRESS OTHER-HOST CONTAINER
			ip link add tun0 mtu 1450 type vxlan id 77 remote "$3" dstport 4789 dev eth0
			ip addr add "$1/30" dev tun0
			ip link set tun0 up
			ip route replace "$4" via "$2" dev tun0
		}
		`

func natCost() cause {
	const forget = `conntrack -F 2>/dev/null`
	translated := []step{{near, forget}, {far, forget}, {client, `small`}, {server, `serve`}, {client, `answer >/dev/null`}}
	return cause{id: "nat-cost", wordings: []wording{
		{
			name: "masquerade", does: "the client's host masquerades the client's packets, with nftables",
			on: routed(),
			inject: []step{{near, `
		nft "table ip extra { chain post { type nat hook postrouting priority srcnat; ip saddr $CLIENT counter masquerade; }; }"`}},
			bites: append(translated, step{near, `conntrack -L -n 2>/dev/null | grep -q "$SERVER"`}),
			ask:   []question{run("tcp_rr")},
		}, {
			name: "snat", does: "the server's host replaces the source address of what it forwards to the server by its own, with iptables",
			on: routed(),
			inject: []step{{far, `
		own=$(ip -o route get "$SERVER" | sed -n 's/.* src \([^ ]*\).*/\1/p')
		iptables -t nat -A POSTROUTING -d "$SERVER" -j SNAT --to-source "$own"`}},
			bites: append(translated, step{far, `conntrack -L -n 2>/dev/null | grep -q "$CLIENT"`}),
			ask:   []question{run("tcp_rr")},
		}, {
			name: "as-built", does: "the network publishes the port by DNAT",
			on:    published(),
			bites: append(translated[3:], step{far, `conntrack -L -g 2>/dev/null | grep -q "$CLIENT"`}),
			ask:   []question{run("tcp_rr", "--blocks", "40")},
		},
	}}
}

func userlandProxy() cause {
	relayed := []step{{far, `ss -Hltnp "sport = :$PORT" | grep -q pid=`}}
	return cause{id: "userland-proxy", bites: relayed, ask: []question{run("tcp_rr")}, wordings: []wording{
		{
			name: "as-built", does: "the network publishes the port by a relay in user space",
			on: spots("published-port", "proxy", "docker-proxy"),
		}, {
			name: "socat", does: "the rules that publish the port are gone, and a relay takes their place",
			on: spots("published-port", "nat"),
			inject: []step{{far, `
		nft flush ruleset
		setsid socat "TCP-LISTEN:$PORT,fork,reuseaddr,nodelay" "TCP:$SERVER:$PORT,nodelay" >/dev/null 2>&1 &
		until [ "$(ss -Hltn "sport = :$PORT" | wc -l)" -gt 0 ]; do sleep 0.01; done`}},
		},
	}}
}

// sizeRank makes small and large messages disagree about a network: what costs
// per byte is no matter to the small, and what costs per packet is divided
// among the many that travel as one.
func sizeRank() cause {
	return cause{id: "size-rank", ask: []question{run("tcp_sizes")}, wordings: []wording{
		{
			name: "large-costly", does: "the client's device has no segmentation offload, which costs large messages only",
			on:     across(),
			inject: offloadOff().wordings[0].inject,
			bites:  offloadOff().wordings[0].bites,
		}, {
			name: "small-costly", does: "2000 rules in the client's host cost each packet the same, and large messages need few packets",
			on:     routed(),
			inject: manyRules().wordings[0].inject,
			bites:  manyRules().wordings[0].bites,
		},
	}}
}
