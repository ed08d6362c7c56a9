#!/bin/sh
# autocannon times answers from earlier requests once a server has ended a connection, as nginx does after
# keepalive_requests: with an answer that says "Connection: close". It connects again without clearing its queue of
# requests under way, so that each answer of the new connection is matched with a request of the old one;
# each connection that ends adds to the lag. Nothing is reported: no error, no time-out, no mismatch, and the
# rate is right. By Little's law, rate x mean latency is what was under way, which can't be more than the
# connections that autocannon was given.
#
# Below, the same server and ten connections: without a limit about as much is under way as there are
# connections, with one of 100 requests several times as much, and the more the longer the run is.
set -eu
version=8.0.0
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -r "$folder"' EXIT
server=
cd "$folder"
npm install --silent --no-audit --no-fund autocannon@$version > npm.log 2>&1 || { cat npm.log; exit 1; }
cat > server.js <<'JS'
const http = require('http')
const most = Number(process.argv[2])
const s = http.createServer((req, res) => {
	const n = req.socket.served = (req.socket.served || 0) + 1
	if (n === most) res.setHeader('Connection', 'close') // Node ends the connection after this answer
	res.end('ok')
})
s.listen(0, '127.0.0.1', () => console.log(s.address().port))
JS
under_way() { # LIMIT SECONDS
	node server.js "$1" > port &
	server=$!
	until [ -s port ]; do sleep 0.1; done
	node_modules/.bin/autocannon --json -c 10 -d "$2" "http://127.0.0.1:$(cat port)" > run.json 2> run.log
	kill $server
	: > port
	node -e '
		const r = JSON.parse(require("fs").readFileSync("run.json"))
		const requests = r["2xx"], rate = requests / r.duration
		console.log(Math.round(rate * r.latency.mean / 1000), r.errors, r.timeouts, r.mismatches, r.non2xx)'
}
: > port
free=$(under_way 0 2)
short=$(under_way 100 2)
long=$(under_way 100 6)
echo "autocannon $version, 10 connections: requests under way by Little's law, then errors, time-outs, mismatches and answers that are no 2xx"
echo "no limit, 2 s: $free"
echo "100 requests a connection, 2 s: $short"
echo "100 requests a connection, 6 s: $long"
set -- $free $short $long
[ "$1" -le 12 ] && [ "$6" -gt 30 ] && [ "${11}" -gt "$6" ] && [ "$7$8$9${10}" = 0000 ] ||
	{ echo "when this was written: fewer than 10, then more than 30, then more than that, without an error"; exit 1; }
