# The words that the scripts have in addition to the shell's, and to the variables DIAL (what the client
# dials), SERVER and CLIENT (addresses of the ends) and PORT.
export DOCKER_HOST=unix:///run/tare/docker/docker.sock # of the host where it is typed

counter() { nstat -asz "$1" | awk -v name="$1" '$1 == name { print $2 }'; }
remember() { mkdir -p /run/tare; counter "$1" >"/run/tare/$1"; }
grown() { [ "$(counter "$1")" -gt "$(cat "/run/tare/$1")" ]; }
small() { ping -qn -c 3 -i 0.01 -W 1 -s 56 "$DIAL" >/dev/null; }
large() { ping -qn -c 3 -i 0.01 -W 1 -M do -s "$1" "$DIAL" >/dev/null; }
answer() { iperf3 -c "$DIAL" -p "$PORT" -n 1 --connect-timeout 1500 2>&1; }
mute() { answer | grep -q "timed out"; }
hop() { ip -o route get "$1" | sed -n 's/.* via \([^ ]*\).*/\1/p' | grep . || echo "$1"; }
toward() { ip -o route get "$1" | sed -n 's/.* dev \([^ ]*\).*/\1/p'; }
serve() {
	setsid timeout 20 iperf3 -s -1 -p "$PORT" >/dev/null 2>&1 &
	until [ "$(ss -Hltn "sport = :$PORT" | wc -l)" -gt 0 ]; do sleep 0.01; done
}
load() { setsid timeout 8 iperf3 -c "$DIAL" -p "$PORT" -t 2 "$@" >/dev/null 2>&1 & }
carrier() { # the load's socket that carries most
	ss -HtinO "dport = :$PORT" | awk '{ sent = 0 } match($0, /bytes_sent:[0-9]+/) { sent = substr($0, RSTART + 11, RLENGTH - 11) + 0 } sent > most { most = sent; line = $0 } END { print line }'
}
settle() { while pgrep -x iperf3 >/dev/null; do sleep 0.02; done; }

# What shows symptoms.

busy() { # other processes of the lab take a fifth of a CPU
	ticks() { cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | awk '{ all += $12 + $13 } END { print all }'; }
	before=$(ticks)
	sleep 1
	[ $(($(ticks) - before)) -gt $(($(getconf CLK_TCK) / 5)) ]
}
moved() { # FILTER: the process of a socket changes its CPU over and over
	sleep 0.2
	pid=$(ss -Htnp "$1" | grep -o "pid=[0-9]*" | cut -d= -f2 | head -n 1)
	moves() { awk '/nr_migrations/ { all += $NF } END { print all }' /proc/"$pid"/task/*/sched; }
	before=$(moves)
	sleep 1
	[ $(($(moves) - before)) -gt 5 ]
}
cut_small() { # bulk data goes in packets of less than two frames each
	sent() { cat "/sys/class/net/eth0/statistics/tx_$1"; }
	sleep 0.3
	bytes=$(sent bytes) packets=$(sent packets)
	sleep 0.5
	[ $((($(sent bytes) - bytes) / ($(sent packets) - packets + 1))) -lt 3000 ]
}
dropped() { # a queue of the underlay's or container's device drops under load
	sleep 1
	tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | awk '{ all += $1 } END { exit !(all > 0) }'
}
thinned() { # FAMILY TABLE: counters of a table of nftables count
	sleep 1
	nft list table "$@" 2>/dev/null | sed -n 's/.*packets \([0-9]*\).*/\1/p' | awk '{ all += $1 } END { exit !(all > 3) }'
}
controlled() { # CONTROL: the load's socket obeys it
	sleep 0.5
	carrier | grep -q " $1 "
}
wrapped() { cat "/sys/class/net/$(ip -o link show type vxlan | cut -d' ' -f2 | tr -d ':' | head -n 1)/statistics/tx_packets" 2>/dev/null || echo 0; }

# What injects.

moving() { # FILTER SECONDS: the process of a socket changes its CPU over and over
	setsid sh -c 'while :; do
		for cpu in 0 1; do
			for pid in $(ss -Htnp "$0" | grep -o "pid=[0-9]*" | cut -d= -f2 | sort -u); do
				taskset -apc "$cpu" "$pid"
			done
			sleep "$1"
		done
	done' "$@" >/dev/null 2>&1 &
}
# FILTER STOPPED RUNNING: the process that holds a socket of the port is stopped, over and over. The other
# sockets of it are those of the run's other networks. To find it takes as long as a pause: it is looked for
# anew when it is gone.
pausing() {
	setsid sh -c 'while :; do
		kill -0 $pids || pids=$(ss -Hantup "$0" | grep -o "pid=[0-9]*" | cut -d= -f2 | sort -u)
		if [ -z "$pids" ]; then
			sleep 0.1 # to look for it without a break is a load by itself
			continue
		fi
		kill -STOP $pids && sleep "$1"
		kill -CONT $pids
		sleep "$2"
	done' "$@" >/dev/null 2>&1 &
}
slow() { # DEVICE RATE: some packets have another queue, from which they come later than those behind them
	tc qdisc add dev "$1" root handle 1: htb default 1
	tc class add dev "$1" parent 1: classid 1:1 htb rate 40gbit burst 1m quantum 60000
	tc class add dev "$1" parent 1: classid 1:2 htb rate "$2" burst 64k quantum 60000
}
tunnel() { # OWN-ADDRESS OTHER-ADDRESS OTHER-HOST CONTAINER: one end of a VXLAN and a route into it
	ip link add tun0 mtu 1450 type vxlan id 77 remote "$3" dstport 4789 dev eth0
	ip addr add "$1/30" dev tun0
	ip link set tun0 up
	ip route replace "$4" via "$2" dev tun0
}
# ADDRESS ATTRIBUTE...: the route to an end has one more attribute, in addition to the congestion control
# that the lab gives it.
reroute() {
	to=$1; shift
	via=$(ip -o route get "$to" | grep -o 'via [^ ]*' || true)
	control=$(ip -o route show to match "$to" | grep -o 'congctl [^ ]*' | tail -n 1)
	case "$*" in *congctl*) control= ;; esac
	ip route replace "$to" $via ${via:+onlink} dev "$(toward "$to")" $control "$@"
}
detour() { # a route back to the client in another table, and a device that nothing comes from
	back="$(hop "$CLIENT") dev $(toward "$CLIENT")"
	ip link add odd0 type veth peer name odd1
	ip link set odd0 up
	ip link set odd1 up
	case $back in
	"$CLIENT "*) ip route add "$CLIENT" dev "${back##* }" table 100 ;;
	*) ip route add "$CLIENT" via $back table 100 ;;
	esac
}
mislead() { # what is marked uses that table; the main one shows the device
	ip rule add fwmark 1 lookup 100
	ip route add "$CLIENT" dev odd0
}
# holder is a process in another namespace; device, number and port are those of the VXLAN.
hide() {
	setsid unshare -n sleep 100000 >/dev/null 2>&1 &
	holder=
	until [ -n "$holder" ] && ! [ "/proc/$holder/ns/net" -ef /proc/self/ns/net ]; do
		sleep 0.05
		holder=$(pgrep -n -x sleep || true)
	done
	device=$(ip -o link show type vxlan | cut -d' ' -f2 | tr -d ':' | head -n 1)
	number=$(ip -o -d link show "$device" | grep -o 'vxlan id [0-9]* ' | cut -d' ' -f3)
	port=$(ip -o -d link show "$device" | grep -o 'dstport [0-9]*' | cut -d' ' -f2)
}
fill() { # PROTOCOL AND PORTS: the table of connections is full
	max=$(cat /proc/sys/net/netfilter/nf_conntrack_max)
	seq "$max" | awk '{ printf "-A -s 198.18.%d.%d -d 198.19.0.1 '"$1"' -t 3600 -u ASSURED\n", ($1 / 200) % 200, $1 % 200, 1024 + $1 / 40000 }' | conntrack -R - >/dev/null 2>&1 || true
	[ "$(cat /proc/sys/net/netfilter/nf_conntrack_count)" -ge "$max" ]
}
throttle() { # group is the control group of the server's container, in which a loop runs
	id=$(docker ps -q --no-trunc --filter name=h2-c1)
	[ -n "$id" ]
	group=$(find /sys/fs/cgroup/cpu -type d -name "$id")
	sh -c 'echo $$ >"$0/cgroup.procs"; exec timeout 0.6 sh -c "while :; do :; done"' "$group" || true
}
stray() { # an interface that no peer reaches
	ip link add stray0 type veth peer name stray1
	ip addr add 192.0.2.1/24 dev stray0
	ip link set stray0 up
	ip link set stray1 up
}
taken() { # PORT: another connection to what the client dials has the port of this host
	own=$(ip -o route get "$DIAL" | sed -n 's/.* src \([^ ]*\).*/\1/p')
	conntrack -I -p tcp -s "${CLIENT%.*}.$((${CLIENT##*.} + 1))" -d "$DIAL" --sport "$1" --dport "$PORT" -r "$DIAL" -q "$own" --reply-port-src "$PORT" --reply-port-dst "$1" --state ESTABLISHED -t 3600 -u SEEN_REPLY,ASSURED >/dev/null 2>&1
}
before() { # STATUS: flows from all ports of the client to what it dials are tracked, untranslated
	seq 32768 60999 | awk -v from="$CLIENT" -v to="$DIAL" -v port="$PORT" -v status="$1" '{
		printf "-A -s %s -d %s -p udp --sport %d --dport %d -t 1800%s\n", from, to, $1, port, status == "UNSET" ? "" : " -u " status
	}' | conntrack -R - >/dev/null 2>&1
}
echoes() {
	for protocol in TCP UDP; do
		setsid timeout 2 socat "$protocol-LISTEN:$PORT,fork,reuseaddr" EXEC:cat >/dev/null 2>&1 &
	done
	until [ "$(ss -Hltun "sport = :$PORT" | wc -l)" -gt 1 ]; do sleep 0.01; done
}
accepts() {
	setsid timeout 3 socat -u "TCP-LISTEN:$PORT,fork,reuseaddr" OPEN:/dev/null >/dev/null 2>&1 &
	until [ "$(ss -Hltn "sport = :$PORT" | wc -l)" -gt 0 ]; do sleep 0.01; done
}
