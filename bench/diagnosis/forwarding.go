package main

func forwardingOff() cause {
	return cause{id: "forwarding-off", bites: []step{{client, `mute`}}, ask: []question{doctor()}, wordings: []wording{
		{
			name: "whole-host", does: "the client's host forwards nothing",
			on:     routed(),
			inject: []step{{near, `sysctl -qw net.ipv4.ip_forward=0`}},
		}, {
			name: "one-device", does: "the server's host does not forward what arrives from the underlay",
			on:     routed(),
			inject: []step{{far, `sysctl -qw net.ipv4.conf.eth0.forwarding=0`}},
		},
	}}
}

// rpFilter makes the way back another than the filter expects: it looks in the
// main table, which shows a device that nothing comes from, while replies are
// led home by a rule. Without the filter the path works.
func rpFilter() cause {
	const detour = `
		back="$(hop "$CLIENT") dev $(toward "$CLIENT")"
		ip link add odd0 type veth peer name odd1
		ip link set odd0 up
		ip link set odd1 up
		case $back in
		"$CLIENT "*) ip route add "$CLIENT" dev "${back##* }" table 100 ;;
		*) ip route add "$CLIENT" via $back table 100 ;;
		esac`
	filtered := func(at string) []step {
		return []step{
			{at, `remember TcpExtIPReversePathFilter`}, {client, `answer || true`}, {at, `grown TcpExtIPReversePathFilter`},
		}
	}
	const works = `answer | grep -q refused`
	return cause{id: "rp-filter", ask: []question{doctor()}, wordings: []wording{
		{
			name: "server-host", does: "strict on all devices of the server's host, replies routed back by a mark",
			on: routed(),
			inject: []step{
				{far, detour + `
		nft "table ip detour { chain arriving { type filter hook prerouting priority mangle; ip daddr $CLIENT meta mark set 1; }; }"
		ip rule add fwmark 1 lookup 100
		ip route add "$CLIENT" dev odd0`},
				{client, works},
				{far, `sysctl -qw net.ipv4.conf.all.rp_filter=1`},
			},
			bites: filtered(far),
		}, {
			name: "server", does: "strict on the device of the server itself, replies routed back by a mark",
			on: across(),
			inject: []step{
				{server, detour + `
		nft "table ip detour { chain out { type route hook output priority mangle; ip daddr $CLIENT meta mark set 1; }; }"
		ip rule add fwmark 1 lookup 100
		ip route add "$CLIENT" dev odd0`},
				{client, works},
				{server, `sysctl -qw net.ipv4.conf.eth0.rp_filter=1`},
			},
			bites: filtered(server),
		},
	}}
}
