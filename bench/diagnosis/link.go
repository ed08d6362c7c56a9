package main

func mtuBlackHole() cause {
	bites := []step{{client, `
		full=$(($(cat /sys/class/net/eth0/mtu) - 28))
		small && ! large "$full" && ! ping -n -c 2 -W 1 -M do -s "$full" "$DIAL" 2>&1 | grep -q mtu`}}
	ask := []question{doctor(), run("tcp_stream")}
	return cause{id: "mtu-black-hole", wordings: []wording{
		{
			name: "far-underlay", does: "the server's host takes frames of 1400 bytes only, and reports it to no sender",
			on:     across(),
			inject: []step{{far, `ip link set eth0 mtu 1400`}},
			bites:  bites, ask: ask,
		}, {
			name: "icmp-filtered", does: "the underlay of the client's host is narrower, and the client drops the news of it",
			on: routed(),
			inject: []step{
				{near, `ip link set eth0 mtu 1300`},
				{client, `nft "table inet guard { chain in { type filter hook input priority 0; icmp type destination-unreachable drop; }; }"`},
			},
			bites: bites, ask: ask,
		},
	}}
}

func mtuMismatch() cause {
	bites := []step{{client, `
		ip route flush cache
		ping -n -c 3 -i 0.01 -W 1 -M do -s 1472 "$DIAL" 2>&1 | grep -q 'mtu *= *1[34]'`}}
	return cause{id: "mtu-mismatch", wordings: []wording{
		{
			name: "underlay", does: "the underlay's devices carry 1400 bytes, the containers believe in 1500",
			on:     routed(),
			inject: []step{{near, `ip link set eth0 mtu 1400`}, {far, `ip link set eth0 mtu 1400`}},
			bites:  bites,
			ask:    []question{doctor()},
		}, {
			name: "last-link", does: "the server and what leads to it take 1300 bytes, the client believes in 1500",
			on: routed(),
			inject: []step{
				{far, `ip link set "$(toward "$SERVER")" mtu 1300`},
				{server, `ip link set eth0 mtu 1300`},
			},
			bites: bites,
			ask:   []question{doctor()},
		},
	}}
}

func neighbourFailed() cause {
	return cause{id: "neighbour-failed", wordings: []wording{
		{
			name: "deaf-server", does: "the server answers no ARP request",
			on: spots("cross-host", "route", "ptp"),
			inject: []step{
				{server, `sysctl -qw net.ipv4.conf.all.arp_ignore=8`},
				{far, `ip neigh flush to "$SERVER" nud all`},
			},
			bites: []step{{client, `answer || true`}, {far, `ip neigh show "$SERVER" | grep -qE 'FAILED|INCOMPLETE'`}},
			ask:   []question{doctor()},
		}, {
			name: "deaf-host", does: "the server's host answers no ARP request on the underlay",
			on: across(),
			inject: []step{
				{far, `sysctl -qw net.ipv4.conf.eth0.arp_ignore=8`},
				{near, `ip neigh flush dev eth0 nud all`},
			},
			bites: []step{{client, `answer || true`}, {near, `ip neigh show dev eth0 | grep -qE 'FAILED|INCOMPLETE'`}},
			ask:   []question{doctor()},
		},
	}}
}

func wrongMAC() cause {
	bites := []step{{client, `mute`}}
	return cause{id: "wrong-mac", wordings: []wording{
		{
			name: "client", does: "the client holds a wrong address for its next hop, for good",
			on:     append(across(), within()[0]),
			inject: []step{{client, `ip neigh replace "$(hop "$DIAL")" lladdr 02:00:5e:00:00:99 dev eth0 nud permanent`}},
			bites:  bites,
			ask:    []question{doctor()},
		}, {
			name: "last-hop", does: "the server's host holds a wrong address for the server, as after it moved",
			on:     routed(),
			inject: []step{{far, `ip neigh replace "$SERVER" lladdr 02:42:ac:11:00:63 dev "$(toward "$SERVER")" nud permanent`}},
			bites:  bites,
			ask:    []question{doctor()},
		},
	}}
}

func offloadOff() cause {
	// bulk data in packets of less than two frames each
	const cut = `
		sent() { cat "/sys/class/net/eth0/statistics/tx_$1"; }
		sleep 0.3
		bytes=$(sent bytes) packets=$(sent packets)
		sleep 0.5
		[ $((($(sent bytes) - bytes) / ($(sent packets) - packets + 1))) -lt 3000 ]`
	return cause{id: "offload-off", wordings: []wording{
		{
			name: "container", does: "the client's device leaves nothing to be segmented later: TSO, GSO and checksums are off",
			on:     append(across(), within()...),
			inject: []step{{client, `ethtool -K eth0 tso off gso off tx off >/dev/null`}},
			bites:  []step{{server, `serve`}, {client, `load`}, {client, cut}},
			ask:    []question{run("tcp_stream")},
		}, {
			name: "underlay", does: "the underlay's device of the client's host cuts segments itself, and the other joins none",
			on: across(),
			inject: []step{
				{near, `ethtool -K eth0 tso off gso off tx off >/dev/null`},
				{far, `ethtool -K eth0 gro off >/dev/null`},
			},
			bites: []step{{server, `serve`}, {client, `load`}, {near, cut}},
			ask:   []question{run("tcp_stream")},
		},
	}}
}
