#!/bin/sh
# "bridge_slave bcast_flood off" on a port of a Linux bridge keeps broadcasts of the other ports from it, ARP among
# them, but not those of the bridge's own host. A container behind such a port answers its host's ping while no other container
# finds it, and a test from the host calls the network healthy. The manual, ip-link(8), has it control broadcast traffic on the
# port, whoever sends it.
#
# It needs root, for separate network namespaces.
set -eu
version=6.1.0-3
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download -q "iproute2=$version" > get.log 2>&1 || { cat get.log; exit 1; }
dpkg -x iproute2_*.deb root
cat > try <<'TRY'
ip=$1
$ip link add br0 type bridge
$ip addr add 10.8.0.1/24 dev br0
$ip link set br0 up
for n in 2 3; do
	unshare -n sleep 60 > /dev/null & eval "place$n=$!"
	eval "place=\$place$n"
	until [ "$(readlink /proc/$place/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
	$ip link add port$n type veth peer name eth0 netns $place
	$ip link set port$n master br0 up
	nsenter -t $place -n $ip addr add 10.8.0.$n/24 dev eth0
	nsenter -t $place -n $ip link set eth0 up
done
$ip link set port2 type bridge_slave bcast_flood off
ask() { who=$1; shift; "$@" ping -c 1 -W 1 10.8.0.2 > /dev/null 2>&1 && echo "from $who: answered" || echo "from $who: no answer"; }
ask "the other port" nsenter -t $place3 -n
ask "the bridge's host" env
$ip link set port2 type bridge_slave bcast_flood on
ask "the other port, with bcast_flood on" nsenter -t $place3 -n
kill $place2 $place3
TRY
got=$(unshare -n sh try "$folder/root/bin/ip")
want="from the other port: no answer
from the bridge's host: answered
from the other port, with bcast_flood on: answered"
echo "Linux $(uname -r), iproute2 $version:"
echo "$got"
test "$got" = "$want" || { echo "it was otherwise when this was written:"; echo "$want"; exit 1; }
