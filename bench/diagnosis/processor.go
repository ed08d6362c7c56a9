package main

// busy reports whether other processes of the lab take a fifth of a CPU.
const busy = `
		ticks() { cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | awk '{ all += $12 + $13 } END { print all }'; }
		before=$(ticks)
		sleep 1
		[ $(($(ticks) - before)) -gt $(($(getconf CLK_TCK) / 5)) ]`

func noisyNeighbour() cause {
	return cause{id: "noisy-neighbour", wordings: []wording{
		{
			name: "server-host", does: "three busy loops share the CPU of the server's host",
			on: across(),
			inject: []step{{far, `
		for one in 1 2 3; do setsid sh -c 'while :; do :; done' >/dev/null 2>&1 & done`}},
			bites: []step{{far, busy}},
			ask:   []question{run("tcp_rr")},
		}, {
			name: "client-host", does: "two endless copies share the CPU of the client's host",
			on: across(),
			inject: []step{{near, `
		for one in 1 2; do setsid dd if=/dev/zero of=/dev/null bs=64k >/dev/null 2>&1 & done`}},
			bites: []step{{near, busy}},
			ask:   []question{run("tcp_stream")},
		},
	}}
}

// moving has the process of a socket change its CPU over and over.
const moving = `
		moving() { # FILTER SECONDS
			setsid sh -c 'while :; do
				for cpu in 0 1; do
					for pid in $(ss -Htnp "$0" | grep -o "pid=[0-9]*" | cut -d= -f2 | sort -u); do
						taskset -apc "$cpu" "$pid"
					done
					sleep "$1"
				done
			done' "$@" >/dev/null 2>&1 &
		}`

func coreMigration() cause {
	moved := func(filter string) string {
		return `
		sleep 0.2
		pid=$(ss -Htnp "` + filter + `" | grep -o "pid=[0-9]*" | cut -d= -f2 | head -n 1)
		moves() { awk '/nr_migrations/ { all += $NF } END { print all }' /proc/"$pid"/task/*/sched; }
		before=$(moves)
		sleep 1
		[ $(($(moves) - before)) -gt 5 ]`
	}
	return cause{id: "core-migration", ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "sender", does: "the sending process is moved to another CPU every 4 ms",
			on: across(),
			inject: []step{{client, moving + `
		moving "dport = :$PORT" 0.004`}},
			bites: []step{{server, `serve`}, {client, `load`}, {client, moved("dport = :$PORT")}},
		}, {
			name: "receiver", does: "the receiving process is moved to another CPU every 10 ms",
			on: across(),
			inject: []step{{server, moving + `
		moving "sport = :$PORT" 0.01`}},
			bites: []step{{server, `serve`}, {client, `load`}, {server, moved("sport = :$PORT")}},
		},
	}}
}

func softirqOneCore() cause {
	// of what arrives under load, three quarters are handled by the client's CPU
	bites := []step{{server, `serve`}, {client, `load -u -b 0 -l 64`}, {far, `
		received() { awk '{ print $1 }' /proc/net/softnet_stat | while read -r packets; do echo $((0x$packets)); done; }
		sleep 0.3
		before=$(received)
		sleep 0.7
		echo $before $(received) | awk '{ for (n = NF / 2; n > 0; n--) { d = $(n + NF / 2) - $n; all += d; if (n == 1) first = d } exit !(first > 0.75 * all) }'`}}
	return cause{id: "softirq-one-core", bites: bites, wordings: []wording{
		{
			name: "steered", does: "the server's host steers what arrives to the CPU of the client's host",
			on:     across(),
			inject: []step{{far, `echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus`}},
			ask:    []question{run("udp_pps")},
		}, {
			name: "unsteered", does: "the server's host steers nothing: what arrives is processed on the sender's CPU",
			on:     across(),
			inject: []step{{far, `echo 0 >/sys/class/net/eth0/queues/rx-0/rps_cpus`}},
			ask:    []question{run("udp_pps", "--flows", "2")},
		},
	}}
}

func softirqCollapse() cause {
	return cause{
		id:      "softirq-collapse",
		notHere: "it needs twice the load at which a receiver begins to lose packets, and a sender has one of this machine's two CPUs: udp_load could not offer that on route, ptp, macvlan or vxlan (twice-knee), and mostly lost nothing at its highest load (tester-limited)",
	}
}

func steeredOntoApplication() cause {
	return cause{
		id:      "steered-onto-application",
		notHere: "a host needs a second CPU to steer packets to; with this machine's two CPUs each host of a lab has one, so that its clean state is this one",
	}
}
