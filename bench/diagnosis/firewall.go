package main

import "fmt"

func forwardDrop() cause {
	return cause{id: "forward-drop", bites: []step{{client, `mute`}}, ask: []question{doctor(), run("tcp_stream")}, wordings: []wording{
		{
			name: "policy", does: "the policy of FORWARD drops in the server's host",
			on:     routed(),
			inject: []step{{far, `iptables -P FORWARD DROP`}},
		}, {
			name: "rule", does: "an nftables rule for the server's address drops in the client's host",
			on: routed(),
			inject: []step{{near, `
		nft "table inet guard { chain passing { type filter hook forward priority -5; ip daddr $SERVER counter drop; }; }"`}},
		},
	}}
}

func forwardReject() cause {
	bites := []step{{client, `answer | grep -q "No route to host"`}}
	return cause{id: "forward-reject", bites: bites, ask: []question{doctor(), run("tcp_stream")}, wordings: []wording{
		{
			name: "host-prohibited", does: "the server's host rejects everything that it would forward, with iptables, as prohibited",
			on:     routed(),
			inject: []step{{far, `iptables -I FORWARD -j REJECT --reject-with icmp-host-prohibited`}},
		}, {
			name: "admin-prohibited", does: "the client's host rejects TCP, with nftables, as administratively prohibited",
			on: routed(),
			inject: []step{{near, `
		nft "table inet guard { chain passing { type filter hook forward priority 10; meta l4proto tcp reject with icmp type admin-prohibited; }; }"`}},
		},
	}}
}

func portClosed() cause {
	bites := []step{{server, `serve`}, {client, `answer | grep -q refused`}}
	return cause{id: "port-closed", bites: bites, ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "reset", does: "the server's container answers each connection with a reset",
			on: across(),
			inject: []step{{server, `
		nft "table inet guard { chain in { type filter hook input priority 0; tcp dport $PORT reject with tcp reset; }; }"`}},
		}, {
			name: "unpublished", does: "the relay of the published port is dead",
			on: spots("published-port", "proxy", "docker-proxy"),
			inject: []step{{far, `
		for pid in $(ss -Hltnp "sport = :$PORT" | sed -n 's/.*pid=\([0-9]*\).*/\1/p'); do kill -KILL "$pid"; done`}},
		},
	}}
}

// randomLoss is asked of a run: the few probes of a doctor may all come
// through.
func randomLoss() cause {
	bites := func(at, table string) []step {
		return []step{{server, `serve`}, {client, `load`}, {at, `
		sleep 1
		nft list table ` + table + ` 2>/dev/null | sed -n 's/.*packets \([0-9]*\).*/\1/p' | awk '{ all += $1 } END { exit !(all > 3) }'`}}
	}
	return cause{id: "random-loss", ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "underlay", does: "the server's host drops 2 % of what arrives from the underlay at random, with nftables",
			on: across(),
			inject: []step{{far, `
		nft "table inet thin { chain arriving { type filter hook prerouting priority raw; iifname eth0 numgen random mod 100 < 2 counter drop; }; }"`}},
			bites: bites(far, "inet thin"),
		}, {
			name: "container", does: "the server's container drops 5 % of its packets at random, with the statistic match of iptables",
			on:     append(across(), within()...),
			inject: []step{{server, `iptables -A INPUT -p tcp -m statistic --mode random --probability 0.05 -j DROP`}},
			bites:  bites(server, "ip filter"),
		},
	}}
}

func manyRules() cause {
	const last = `nft list table inet heap 2>/dev/null | awk '/packets/ { seen = $3 } END { exit !(seen > 0) }'`
	return cause{id: "many-rules", ask: []question{run("tcp_rr")}, wordings: []wording{
		{
			name: "forward", does: "2000 iptables rules in FORWARD of the client's host match nothing",
			on: routed(),
			inject: []step{{near, `
		{
			echo '*filter'
			seq 2000 | awk '{ printf "-A FORWARD -s 198.51.%d.%d/32 -j DROP\n", $1 / 250, $1 % 250 }'
			echo '-A FORWARD'
			echo COMMIT
		} | iptables-restore --noflush`}},
			bites: []step{{client, `small`}, {near, `
		iptables -nvxL FORWARD | awk 'END { exit !(NR > 2000 && $1 + 0 > 0) }'`}},
		}, {
			name: "prerouting", does: "3000 nftables rules in prerouting of the server's host match nothing",
			on: across(),
			inject: []step{{far, `
		{
			echo 'table inet heap { chain arriving { type filter hook prerouting priority -200;'
			seq 3000 | awk '{ printf "ip saddr 203.0.%d.%d drop\n", $1 / 250, $1 % 250 }'
			echo 'counter; }; }'
		} | nft -f -`}},
			bites: []step{{client, `small`}, {far, last}},
		},
	}}
}

// conntrackFull fills the table with connections that count as assured, which
// the kernel doesn't drop early for new ones.
func conntrackFull() cause {
	fill := func(protocol string) string {
		return fmt.Sprintf(`
		max=$(cat /proc/sys/net/netfilter/nf_conntrack_max)
		seq "$max" | awk '{ printf "-A -s 198.18.%%d.%%d -d 198.19.0.1 %s -t 3600 -u ASSURED\n", ($1 / 200) %% 200, $1 %% 200, 1024 + $1 / 40000 }' | conntrack -R - >/dev/null 2>&1 || true
		[ "$(cat /proc/sys/net/netfilter/nf_conntrack_count)" -ge "$max" ]`, protocol)
	}
	bites := []step{{server, `serve`}, {client, `mute`}}
	return cause{id: "conntrack-full", bites: bites, ask: []question{doctor(), run("tcp_crr")}, wordings: []wording{
		{
			name: "tcp", does: "the table of the server's host is full of established connections",
			on:     published(),
			inject: []step{{far, fill("-p tcp --sport %d --dport 80 --state ESTABLISHED")}},
		}, {
			name: "udp", does: "the table of the server's host is full of assured UDP flows",
			on:     published(),
			inject: []step{{far, fill("-p udp --sport %d --dport 53")}},
		},
	}}
}
