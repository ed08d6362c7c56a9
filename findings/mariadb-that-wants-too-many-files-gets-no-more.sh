#!/bin/sh
# MariaDB raises its limit of open files to what its connections and table caches want. If that is more than the hard limit,
# it does not take the hard limit: it keeps the soft one, 1024 in most shells, and leaves an order for 1,200 connections as it
# is. What the caches want is 2 x table_open_cache x its instances: 32,000 by default. Smaller caches therefore give it MORE
# files. At the limit it logs "Error in accept: Too many open files" once, and further clients are neither greeted nor
# refused: "Too many connections" never comes.
#
# Below, the same server with a soft limit of 1024 and a hard one of 8192, as an ordinary user: with the default caches,
# and with a cache of 64 tables. What counts is the soft limit of the running process.
set -eu
version=1:10.11.19-0+deb12u1
folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; wait; rm -r "$folder"' EXIT
cd "$folder"
apt-get download -q "mariadb-server-core=$version" libaio1 liblz4-1 libnuma1 libpcre2-8-0 liburing2 > get.log 2>&1 || { cat get.log; exit 1; }
for file in *.deb; do dpkg -x "$file" root; done
LD_LIBRARY_PATH=$(echo "$folder"/root/usr/lib/*-linux-gnu):$(echo "$folder"/root/lib/*-linux-gnu)
export LD_LIBRARY_PATH
chmod 755 "$folder"
files() { # FLAGS: the soft limit of a server with them
	rm -rf data
	mkdir data
	chown 65534 data
	setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nofile=1024:8192 \
		root/usr/sbin/mariadbd --no-defaults --skip-grant-tables --skip-networking --lc-messages-dir="$folder/root/usr/share/mysql" \
		--datadir="$folder/data" --socket="$folder/data/socket" --pid-file="$folder/data/pid" --max-connections=1200 "$@" > log 2>&1 &
	server=$!
	tries=0
	until [ -S data/socket ]; do
		sleep 0.1
		tries=$((tries + 1))
		[ $tries -lt 300 ] || { cat log >&2; exit 1; }
	done
	awk '/^Max open files/ { print $4 }' "/proc/$server/limits"
	kill $server
	wait $server || true
}
default=$(files)
small=$(files --table-open-cache=64 --table-open-cache-instances=1)
echo "MariaDB $version, soft limit 1024, hard limit 8192, 1200 connections: open files with default caches $default, with small ones $small"
[ "$default" = 1024 ] && [ "$small" -gt 5000 ] || { echo "when this was written: 1024, and more than 5000"; exit 1; }
