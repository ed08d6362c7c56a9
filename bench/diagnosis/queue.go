package main

// slow gives some packets of a device another queue, from which they come
// later than those behind them.
const slow = `
		slow() { # DEVICE RATE
			tc qdisc add dev "$1" root handle 1: htb default 1
			tc class add dev "$1" parent 1: classid 1:1 htb rate 40gbit burst 1m quantum 60000
			tc class add dev "$1" parent 1: classid 1:2 htb rate "$2" burst 64k quantum 60000
		}`

// reordering leaves vxlan out, whose data comes out of order here without an
// injection too.
func reordering() cause {
	bites := []step{{server, `serve`}, {client, `
		before=$(counter TcpExtTCPDSACKRecv)
		timeout 8 iperf3 -c "$DIAL" -p "$PORT" -t 1 >/dev/null
		[ $(($(counter TcpExtTCPDSACKRecv) - before)) -gt 20 ]`}}
	return cause{id: "reordering", bites: bites, ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "underlay", does: "every 40th packet of the client's host uses a slower queue of the underlay",
			on: routed(),
			inject: []step{{near, slow + `
		slow eth0 100mbit
		nft "table inet lanes { chain leaving { type filter hook postrouting priority 300; oifname eth0 numgen inc mod 40 == 0 meta priority set 0x10002; }; }"`}},
		}, {
			name: "container", does: "one in thirty of the client's packets, at random, uses a slower queue of the client's device",
			on: append(routed(), within()...),
			inject: []step{{client, slow + `
		slow eth0 800mbit
		nft "table inet lanes { chain leaving { type filter hook output priority 300; meta l4proto tcp numgen random mod 30 == 0 meta priority set 0x10002; }; }"`}},
		},
	}}
}

func shaperDrop() cause {
	return cause{id: "shaper-drop", wordings: []wording{
		{
			name: "tbf", does: "the underlay's device of the client's host passes 50 Mbit/s and drops the rest",
			on:     across(),
			inject: []step{{near, `tc qdisc add dev eth0 root tbf rate 50mbit burst 16k limit 20k`}},
			bites:  []step{{server, `serve`}, {client, `load`}, {near, dropped}},
			ask:    []question{run("tcp_stream")},
		}, {
			name: "htb", does: "the client's own device has a class of 80 Mbit/s with a queue of ten packets",
			on: append(across(), within()...),
			inject: []step{{client, `
		tc qdisc add dev eth0 root handle 1: htb default 1
		tc class add dev eth0 parent 1: classid 1:1 htb rate 80mbit burst 16k
		tc qdisc add dev eth0 parent 1:1 pfifo limit 10`}},
			bites: []step{{server, `serve`}, {client, `load -P 4`}, {client, dropped}},
			ask:   []question{run("tcp_stream", "--flows", "4")},
		},
	}}
}

// dropped reports whether a queue of the underlay's or container's device drops
// under load.
const dropped = `
		sleep 1
		tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | awk '{ all += $1 } END { exit !(all > 0) }'`

func lockContention() cause {
	return cause{
		id:      "lock-contention",
		notHere: "senders contend for a lock only if each has its own CPU, and a host of the lab has one of this machine's two",
	}
}
