#!/bin/sh
# A route to a nexthop object can't be removed by what "ip route" shows of it. It is listed with the gateway and the
# device of the object ("10.9.0.0/24 nhid 7 via 10.8.0.2 dev left"), and "ip route del 10.9.0.0/24 via 10.8.0.2 dev left",
# that line without "nhid 7", answers "No such process". With nhid it is removed.
# It needs root, for a separate network namespace.
set -eu
version=6.1.0-3
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download -q "iproute2=$version" > get.log 2>&1 || { cat get.log; exit 1; }
dpkg -x iproute2_*.deb root
cat > try <<'TRY'
ip=$1
$ip link add name left type veth peer name right
$ip addr add 10.8.0.1/24 dev left
$ip link set left up; $ip link set right up
$ip nexthop add id 7 via 10.8.0.2 dev left
$ip route add 10.9.0.0/24 nhid 7
echo "listed: $($ip route show 10.9.0.0/24)"
echo "by gateway and device: $($ip route del 10.9.0.0/24 via 10.8.0.2 dev left 2>&1)"
echo "by nhid: $($ip route del 10.9.0.0/24 nhid 7 2>&1)"
echo "left: $($ip route show 10.9.0.0/24)"
TRY
got=$(unshare -n sh try "$folder/root/bin/ip" | sed 's/ *$//')
want='listed: 10.9.0.0/24 nhid 7 via 10.8.0.2 dev left
by gateway and device: RTNETLINK answers: No such process
by nhid:
left:'
echo "iproute2 $version, Linux $(uname -r):"
echo "$got"
test "$got" = "$want" || { echo "it was otherwise when this was written:"; echo "$want"; exit 1; }
