package main

// reroute sets the route to an end with one more attribute, in addition to the
// congestion control that the lab gives it.
const reroute = `
		reroute() { # ADDRESS ATTRIBUTE...
			to=$1; shift
			via=$(ip -o route get "$to" | grep -o 'via [^ ]*' || true)
			control=$(ip -o route show to match "$to" | grep -o 'congctl [^ ]*' | tail -n 1)
			case "$*" in *congctl*) control= ;; esac
			ip route replace "$to" $via ${via:+onlink} dev "$(toward "$to")" $control "$@"
		}`

func tcpReceiveWindow() cause {
	// the window that the load's socket was offered is small, and holds it up
	bites := []step{{server, `serve`}, {client, `load`}, {client, `
		sleep 1
		carrier | grep rwnd_limited | sed -n 's/.* snd_wnd:\([0-9]*\).*/\1/p' | awk '{ met = $1 < 100000 } END { exit !met }'`}}
	return cause{id: "tcp-receive-window", bites: bites, ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "buffer", does: "the server's sockets have receive buffers of at most 16 KiB",
			on:     append(across(), within()...),
			inject: []step{{server, `sysctl -qw net.ipv4.tcp_rmem="4096 8192 16384"`}},
		}, {
			name: "unscaled", does: "window scaling is off at the server: no window is larger than 64 KiB",
			on:     append(across(), within()...),
			inject: []step{{server, `sysctl -qw net.ipv4.tcp_window_scaling=0`}},
		},
	}}
}

func sendBuffer() cause {
	return cause{
		id:      "send-buffer",
		notHere: "a socket queues one packet of 64 kB whatever tcp_wmem allows, and no path of a lab is long enough to need more: with 4 KiB the sender was limited for 0.8 to 3 % of the time, and tare run sets no buffer itself. Where the kernel has netem it is found 20 ms away, and not with the usual buffer: TestVMFarPathsNameTheBufferThatLimitsThem, on Linux 6.1 and 6.12",
	}
}

// pausing stops, over and over, the process that holds a socket of the port.
// The other sockets of it are those of the run's other networks. To find it takes
// as long as a pause: it is looked for anew when it is gone.
const pausing = `
		pausing() { # FILTER STOPPED RUNNING
			setsid sh -c 'while :; do
				kill -0 $pids || pids=$(ss -Hantup "$0" | grep -o "pid=[0-9]*" | cut -d= -f2 | sort -u)
				if [ -n "$pids" ]; then kill -STOP $pids && sleep "$1"; kill -CONT $pids; fi
				sleep "$2"
			done' "$@" >/dev/null 2>&1 &
		}`

func applicationLimited() cause {
	// the sending process is found stopped more than every fourth time
	idle := step{client, `
		sleep 0.3
		pid=$(ss -Htnp "dport = :$PORT" | grep -o "pid=[0-9]*" | cut -d= -f2 | head -n 1)
		for look in $(seq 60); do
			sed 's/.*) //' "/proc/$pid/stat"
			sleep 0.013
		done | awk '$1 == "T" { stopped++ } END { exit !(stopped > NR / 4) }'`}
	bites := []step{{server, `serve`}, {client, `load`}, idle}
	return cause{id: "application-limited", bites: bites, ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "pauses", does: "the sending process is stopped for 60 ms, again and again, with 5 ms between",
			on: across(),
			inject: []step{{client, pausing + `
		pausing "dport = :$PORT" 0.06 0.005`}},
		}, {
			name: "long-pauses", does: "the sending process is stopped for 120 ms, again and again, with 10 ms between",
			on: within(),
			inject: []step{{client, pausing + `
		pausing "dport = :$PORT" 0.12 0.01`}},
		},
	}}
}

func udpReceiveBuffer() cause {
	bites := []step{{server, `serve`}, {client, `load -u -b 200m -l 1400`}, {server, `
		before=$(counter UdpRcvbufErrors)
		sleep 1
		[ $(($(counter UdpRcvbufErrors) - before)) -gt 5000 ]`}}
	return cause{id: "udp-receive-buffer", bites: bites, wordings: []wording{
		{
			name: "pauses", does: "the receiving process does not read for 300 ms of every 400",
			on: across(),
			inject: []step{{server, pausing + `
		pausing "sport = :$PORT" 0.3 0.1`}},
			ask: []question{run("udp_stream", "--rate", "600mbit", "--duration", "1s")},
		}, {
			name: "long-pauses", does: "the receiving process does not read for 600 ms of every 700",
			on: within(),
			inject: []step{{server, pausing + `
		pausing "sport = :$PORT" 0.6 0.1`}},
			ask: []question{run("udp_stream", "--rate", "400mbit", "--duration", "1s")},
		},
	}}
}

func listenOverflow() cause {
	bites := []step{
		{server, `
		remember TcpExtListenOverflows
		serve
		kill -STOP $(ss -Hltnp "sport = :$PORT" | grep -o "pid=[0-9]*" | cut -d= -f2)`},
		{client, `
		for one in 1 2 3 4 5 6 7 8; do
			setsid timeout 2 socat -u OPEN:/dev/null "TCP:$DIAL:$PORT" >/dev/null 2>&1 &
		done
		sleep 0.5`},
		{server, `
		kill -KILL $(ss -Hltnp "sport = :$PORT" | grep -o "pid=[0-9]*" | cut -d= -f2)
		grown TcpExtListenOverflows`},
	}
	return cause{id: "listen-overflow", bites: bites, wordings: []wording{
		{
			name: "silent", does: "the server's container lets one connection wait to be accepted",
			on:     across(),
			inject: []step{{server, `sysctl -qw net.core.somaxconn=1`}},
			ask:    []question{run("http", "--connections", "32")},
		}, {
			name: "resetting", does: "the server's container lets two connections wait, and resets those beyond",
			on:     across(),
			inject: []step{{server, `sysctl -qw net.core.somaxconn=2 net.ipv4.tcp_abort_on_overflow=1`}},
			ask:    []question{run("http", "--connections", "64")},
		},
	}}
}

// controlled reports whether the load's socket obeys this control.
func controlled(by string) step {
	return step{client, `
		sleep 0.5
		carrier | grep -q ' ` + by + ` '`}
}

func congestionControl() cause {
	return cause{id: "congestion-control", ask: []question{run("tcp_stream")}, wordings: []wording{
		{
			name: "bbr", does: "the client's route to the server sets bbr",
			on: append(across(), within()...),
			inject: []step{{client, reroute + `
		reroute "$DIAL" congctl bbr`}},
			bites: []step{{server, `serve`}, {client, `load`}, controlled("bbr")},
		}, {
			name: "reno", does: "the client's route to the server sets reno",
			on: append(across(), within()...),
			inject: []step{{client, reroute + `
		reroute "$DIAL" congctl reno`}},
			bites: []step{{server, `serve`}, {client, `load`}, controlled("reno")},
		},
	}}
}
