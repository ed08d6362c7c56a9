#!/bin/sh
# iperf3 that sends, and whose receiver is stopped by Ctrl-C, prints a rate that it never sent at. Its summary has all bytes
# until the end, and the time of the last interval that it had printed: with a client stopped 1.7 s after its start the server's
# row says 0.00-1.00 and the bytes of 1.7 s. The last interval is printed a second time. Below the client asks for 80 Mbit/s
# (-b). The client's own summary has the right time.
set -eu
version=3.12-1+deb12u2
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -r "$folder"' EXIT
server=
cd "$folder"
apt-get download -q "iperf3=$version" "libiperf0=$version" libsctp1 > get.log 2>&1 || { cat get.log; exit 1; }
for file in *.deb; do dpkg -x "$file" root; done
LD_LIBRARY_PATH=$(echo root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
./root/usr/bin/iperf3 -s -1 -B 127.0.0.1 -p "$port" > server.log 2>&1 &
server=$!
until ./root/usr/bin/iperf3 --version > /dev/null && ss -ltn | grep -q ":$port "; do sleep 0.1; done
timeout -s INT 1.7 ./root/usr/bin/iperf3 -c 127.0.0.1 -p "$port" -R -b 80M -t 20 > client.log 2>&1 || true
wait $server || true
server=
echo "iperf3 $version, a server that sends 80 Mbit/s, its client stopped after 1.7 s:"
grep -h 'bits/sec' server.log
grep 'bits/sec' server.log | awk '
	/sender/ { summary = $7; next }
	{ rows++; if ($3 == before) again = 1; before = $3; interval = $7 }
	END { exit !(again && summary > 1.3 * interval) }' ||
	{ echo "when this was written: an interval of 80 Mbit/s, twice, and a summary of 135 Mbit/s"; exit 1; }
