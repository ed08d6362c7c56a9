package main

func mtuBlackHole() cause {
	bites := []step{{client, `
		full=$(($(cat /sys/class/net/eth0/mtu) - 28))
		small && ! large "$full" && ! ping -n -c 2 -W 1 -M do -s "$full" "$DIAL" 2>&1 | grep -q mtu`}}
	return cause{id: "mtu-black-hole", bites: bites, ask: []question{doctor(), run("tcp_stream")}, wordings: []wording{
		{
			name: "far-underlay", does: "the server's host accepts only packets of up to 1400 bytes, and reports it to no sender",
			on:     across(),
			inject: []step{{far, `ip link set eth0 mtu 1400`}},
		}, {
			name: "icmp-filtered", does: "the underlay of the client's host has a smaller MTU, and the client drops the ICMP message about it",
			on: routed(),
			inject: []step{
				{near, `ip link set eth0 mtu 1300`},
				{client, `nft "table inet guard { chain in { type filter hook input priority 0; icmp type destination-unreachable drop; }; }"`},
			},
		},
	}}
}

func mtuMismatch() cause {
	bites := []step{{client, `
		ip route flush cache
		ping -n -c 3 -i 0.01 -W 1 -M do -s 1472 "$DIAL" 2>&1 | grep -q 'mtu *= *1[34]'`}}
	return cause{id: "mtu-mismatch", bites: bites, ask: []question{doctor()}, wordings: []wording{
		{
			name: "underlay", does: "the underlay's devices have an MTU of 1400, the containers 1500",
			on:     routed(),
			inject: []step{{near, `ip link set eth0 mtu 1400`}, {far, `ip link set eth0 mtu 1400`}},
		}, {
			name: "last-link", does: "the server and the link to it have an MTU of 1300, the client 1500",
			on: routed(),
			inject: []step{
				{far, `ip link set "$(toward "$SERVER")" mtu 1300`},
				{server, `ip link set eth0 mtu 1300`},
			},
		},
	}}
}

func neighbourFailed() cause {
	return cause{id: "neighbour-failed", ask: []question{doctor()}, wordings: []wording{
		{
			name: "silent-server", does: "the server answers no ARP request",
			on: spots("cross-host", "route", "ptp"),
			inject: []step{
				{server, `sysctl -qw net.ipv4.conf.all.arp_ignore=8`},
				{far, `ip neigh flush to "$SERVER" nud all`},
			},
			bites: []step{{client, `answer || true`}, {far, `ip neigh show "$SERVER" | grep -qE 'FAILED|INCOMPLETE'`}},
		}, {
			name: "silent-host", does: "the server's host answers no ARP request on the underlay",
			on: across(),
			inject: []step{
				{far, `sysctl -qw net.ipv4.conf.eth0.arp_ignore=8`},
				{near, `ip neigh flush dev eth0 nud all`},
			},
			bites: []step{{client, `answer || true`}, {near, `ip neigh show dev eth0 | grep -qE 'FAILED|INCOMPLETE'`}},
		},
	}}
}

func wrongMAC() cause {
	return cause{id: "wrong-mac", bites: []step{{client, `mute`}}, ask: []question{doctor()}, wordings: []wording{
		{
			name: "client", does: "the client has a permanent wrong MAC address for its next hop",
			on:     append(across(), within()[0]),
			inject: []step{{client, `ip neigh replace "$(hop "$DIAL")" lladdr 02:00:5e:00:00:99 dev eth0 nud permanent`}},
		}, {
			name: "last-hop", does: "the server's host has a wrong MAC address for the server, as after the server moved",
			on:     routed(),
			inject: []step{{far, `ip neigh replace "$SERVER" lladdr 02:42:ac:11:00:63 dev "$(toward "$SERVER")" nud permanent`}},
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
	return cause{id: "offload-off", ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "container", does: "TSO, GSO and checksum offload are off on the client's device",
			on:     append(across(), within()...),
			inject: []step{{client, `ethtool -K eth0 tso off gso off tx off >/dev/null`}},
			bites:  []step{{server, `serve`}, {client, `load`}, {client, cut}},
		}, {
			name: "underlay", does: "segmentation offload is off on the underlay's device of the client's host, and GRO on the other",
			on: across(),
			inject: []step{
				{near, `ethtool -K eth0 tso off gso off tx off >/dev/null`},
				{far, `ethtool -K eth0 gro off >/dev/null`},
			},
			bites: []step{{server, `serve`}, {client, `load`}, {near, cut}},
		},
	}}
}

// labChanged changes what no rule of tare knows: only a lab that nobody changed shows it.
func labChanged() cause {
	return cause{id: "lab-changed", ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "one-segment", does: "the interface of the client's host takes one segment at a time",
			on:     across(),
			inject: []step{{near, `ip link set dev eth0 gso_max_segs 1`}},
			bites:  []step{{near, `ip -d link show dev eth0 | grep -q "gso_max_segs 1 "`}},
		}, {
			name: "output-limit", does: "a connection of the client may have one packet in the queues below it",
			on:     across(),
			inject: []step{{client, `sysctl -qw net.ipv4.tcp_limit_output_bytes=1`}},
			bites:  []step{{client, `[ "$(sysctl -n net.ipv4.tcp_limit_output_bytes)" = 1 ]`}},
		},
	}}
}
