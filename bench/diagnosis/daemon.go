package main

// docker is the engine of the host where it is typed.
const docker = `
		export DOCKER_HOST=unix:///run/tare/docker/docker.sock
		`

// dockerChainMissing is what a firewall that reloads leaves behind.
func dockerChainMissing() cause {
	bites := []step{{far, docker + `
		docker run --rm -d -p 7001:7001 localhost/tare:lab wait 2>&1 | grep -q 'No chain/target/match'`}}
	return cause{id: "docker-chain-missing", bites: bites, ask: []question{doctor(), run("tcp_rr")}, wordings: []wording{
		{
			name: "all", does: "a reload flushes all chains of the server's host and deletes those that are not built in",
			on: spots("published-port", "docker-nat"),
			inject: []step{{far, `
		for table in nat filter; do iptables -t "$table" -F; iptables -t "$table" -X; done`}},
		}, {
			name: "nat", does: "a script of the server's host restores its own nat table, without Docker's chain",
			on: spots("published-port", "docker-nat"),
			inject: []step{{far, `
		printf '*nat\n:PREROUTING ACCEPT\n:POSTROUTING ACCEPT\nCOMMIT\n' | iptables-restore`}},
		},
	}}
}

// overlayStaleVXLAN leaves a VXLAN with a network's number in a namespace that the
// network does not use: no other of that number can be made.
func overlayStaleVXLAN() cause {
	// another namespace, which a process holds
	const hide = `
		setsid unshare -n sleep 100000 >/dev/null 2>&1 &
		holder=
		until [ -n "$holder" ] && ! [ "/proc/$holder/ns/net" -ef /proc/self/ns/net ]; do
			sleep 0.05
			holder=$(pgrep -n -x sleep || true)
		done
		`
	const overlay = `
		device=$(ip -o link show type vxlan | cut -d' ' -f2 | tr -d ':' | head -n 1)
		`
	bites := []step{{client, `! small`}}
	return cause{id: "overlay-stale-vxlan", bites: bites, ask: []question{doctor(), run("tcp_stream")}, wordings: []wording{
		{
			name: "moved", does: "the VXLAN device of the client's host is in another namespace, and no other with its VNI can be created",
			on: spots("cross-host", "vxlan", "flannel-vxlan"),
			inject: []step{{near, hide + overlay + `
		number=$(ip -o -d link show "$device" | grep -o 'vxlan id [0-9]* ' | cut -d' ' -f3)
		port=$(ip -o -d link show "$device" | grep -o 'dstport [0-9]*' | cut -d' ' -f2)
		ip link set "$device" netns "$holder"
		! ip link add again type vxlan id "$number" dstport "$port" 2>/dev/null`}},
		}, {
			name: "left", does: "the server's host lost its VXLAN device, and an old one with its VNI in another namespace prevents a new one",
			on: spots("cross-host", "vxlan", "flannel-vxlan"),
			inject: []step{{far, hide + overlay + `
		number=$(ip -o -d link show "$device" | grep -o 'vxlan id [0-9]* ' | cut -d' ' -f3)
		port=$(ip -o -d link show "$device" | grep -o 'dstport [0-9]*' | cut -d' ' -f2)
		ip link del "$device"
		ip link add vx-left type vxlan id "$number" dstport "$port"
		ip link set vx-left netns "$holder"
		! ip link add again type vxlan id "$number" dstport "$port" 2>/dev/null`}},
		},
	}}
}

// cfsThrottled sets a quota on the server's container, as its engine does.
func cfsThrottled() cause {
	const throttled = `
		id=$(docker ps -q --no-trunc --filter name=h2-c1)
		[ -n "$id" ]
		group=$(find /sys/fs/cgroup/cpu -type d -name "$id")
		sh -c 'echo $$ >"$0/cgroup.procs"; exec timeout 0.6 sh -c "while :; do :; done"' "$group" || true
		`
	return cause{id: "cfs-throttled", wordings: []wording{
		{
			name: "docker-update", does: "docker update gives the server a fifth of a CPU",
			on: append(spots("cross-host", "docker-overlay"), spots("published-port", "docker-nat")...),
			inject: []step{{far, docker + `
		docker update --cpus 0.2 "$(docker ps -q --filter name=h2-c1)" >/dev/null`}},
			bites: []step{{far, docker + throttled + `
		[ "$(awk '$1 == "nr_throttled" { print $2 }' "$group/cpu.stat")" -gt 2 ]`}},
			ask: []question{run("tcp_stream")},
		}, {
			name: "cgroup", does: "the cgroup of the server gets 15 ms of CPU time in every 50 ms",
			on: append(spots("cross-host", "docker-overlay"), spots("published-port", "docker-nat")...),
			inject: []step{{far, docker + throttled + `
		echo 50000 >"$group/cpu.cfs_period_us"
		echo 15000 >"$group/cpu.cfs_quota_us"`}},
			bites: []step{{far, docker + throttled + `
		[ "$(awk '$1 == "nr_throttled" { print $2 }' "$group/cpu.stat")" -gt 2 ]`}},
			ask: []question{run("tcp_rr")},
		},
	}}
}

// bgpWrongInterface has a router use the address of an interface that
// no peer reaches, as one that was found by itself.
func bgpWrongInterface() cause {
	const stray = `
		ip link add stray0 type veth peer name stray1
		ip addr add 192.0.2.1/24 dev stray0
		ip link set stray0 up
		ip link set stray1 up
		`
	const reload = `
		birdc -s /run/tare/bird.ctl configure >/dev/null`
	// routers take a moment to believe it
	dead := step{client, `while small; do sleep 0.1; done`}
	bites := []step{{client, `! small`}}
	return cause{id: "bgp-wrong-interface", bites: bites, ask: []question{doctor(), run("tcp_stream")}, wordings: []wording{
		{
			name: "session", does: "the router of the client's host uses the address of another interface: there is no session",
			on: spots("cross-host", "bgp", "bgp-rr"),
			inject: []step{{near, stray + `
		sed -i 's/local [0-9.]* as/local 192.0.2.1 as/' /run/tare/bird.conf` + reload}, dead},
		}, {
			name: "next-hop", does: "the router of the server's host announces its blocks with the address of another interface",
			on: spots("cross-host", "bgp", "bgp-rr"),
			inject: []step{{far, stray + `
		sed -i 's/add paths on;/add paths on; next hop address 192.0.2.1;/' /run/tare/bird.conf` + reload + `
		birdc -s /run/tare/bird.ctl restart all >/dev/null`}, dead},
		},
	}}
}

func lifecycleDiskLimited() cause {
	return cause{
		id:      "lifecycle-disk-limited",
		notHere: "the engines of a lab keep their containers in memory, so that nothing is left behind: no disk limits them",
	}
}
