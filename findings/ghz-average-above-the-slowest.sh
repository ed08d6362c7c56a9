#!/bin/sh
# ghz's "average" is of all calls, and "slowest", "fastest" and the percentiles beside it are of those that succeeded.
# Where some calls end at their deadline the average is above the slowest call. "rps" counts failed calls, too. Nothing
# in the text or the JSON says so.
# Below each second call asks for an answer after 500 ms and has a deadline of 200 ms: the others take a few ms.
set -eu
version=v0.121.0
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; chmod -R u+w "$folder"; rm -r "$folder"' EXIT
server=
cd "$folder"
for tool in github.com/bojand/ghz/cmd/ghz@$version fortio.org/fortio@v1.63.9; do
	GOBIN=$folder go install "$tool" > get.log 2>&1 || { cat get.log; exit 1; }
done
./fortio server -grpc-port 127.0.0.1:0 -http-port disabled -tcp-port disabled -udp-port disabled -redirect-port disabled > server.log 2>&1 &
server=$!
port() { sed -n 's|.*127\.0\.0\.1:\([1-9][0-9]*\).*|\1|p' server.log | head -n 1; }
until [ -n "$(port)" ]; do sleep 0.1; done
./ghz --insecure --call fgrpc.PingServer/Ping -n 40 -c 1 --timeout 200ms \
	-d '[{"delayNanos": 500000000}, {"delayNanos": 0}]' "127.0.0.1:$(port)" > run.log 2>&1 || { cat run.log; exit 1; }
echo "ghz $version, each second of 40 calls failed:"
grep -E 'Average:|Slowest:|Fastest:|Requests/sec:|responses' run.log
awk '/Average:/ { average = $2 } /Slowest:/ { slowest = $2 } /\[OK\]/ { good = $2 } END { exit !(good > 10 && good < 30 && average > slowest && average > 80) }' run.log ||
	{ echo "when this was written: 20 of 40 OK, an average of 100 ms, and a slowest call of less"; exit 1; }
