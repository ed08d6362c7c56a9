#!/bin/sh
# Segments that a network delivers twice are not in TcpExt.TCPDSACKRecvSegs. A receiver reports each second copy by a
# DSACK. The sender never sent those segments twice, so Linux (since 5.10) holds the reports for dubious: each is counted in
# TCPDSACKRecv and TCPDSACKIgnoredDubious, none in TCPDSACKRecvSegs, which by its name counts the segments. TCP_INFO's
# tcpi_dsack_dups has the segments nevertheless.
#
# It needs root, for separate network namespaces, and the kernel's nft_dup_ipv4.
set -eu
version=1.0.6-2+deb12u2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download -q "nftables=$version" "libnftables1=$version" libjansson4 libnftnl11 libedit2 > get.log 2>&1 || { cat get.log; exit 1; }
for file in *.deb; do dpkg -x "$file" root; done
LD_LIBRARY_PATH=$(echo "$folder"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH folder
cat > try.py <<'PY'
import os, socket, struct, subprocess
def to(pid, *words): subprocess.run(["nsenter", "-t", str(pid), "-n", *words], check=True)
nft = os.environ["folder"] + "/root/usr/sbin/nft"
place = subprocess.Popen(["unshare", "-n", "sleep", "600"])
while os.readlink("/proc/self/ns/net") == os.readlink(f"/proc/{place.pid}/ns/net"): pass
try:
    to(os.getpid(), "ip", "link", "add", "left", "type", "veth", "peer", "name", "right", "netns", str(place.pid))
    for pid, device, address in (os.getpid(), "left", "10.8.0.1/24"), (place.pid, "right", "10.8.0.2/24"):
        to(pid, "ip", "addr", "add", address, "dev", device)
        to(pid, "ip", "link", "set", device, "up")
    to(os.getpid(), nft, "table ip twice { chain out { type filter hook output priority 0; ip daddr 10.8.0.2 tcp dport 7 dup to 10.8.0.2 device left; }; }")
    server = subprocess.Popen(["nsenter", "-t", str(place.pid), "-n", "python3", "-c",
        "import socket; s = socket.create_server(('10.8.0.2', 7)); print('up', flush=True); c, _ = s.accept()\nwhile c.recv(65536): pass"], stdout=subprocess.PIPE)
    server.stdout.readline()
    client = socket.create_connection(("10.8.0.2", 7))
    for _ in range(200):
        client.sendall(b"x" * 20000)
    client.shutdown(socket.SHUT_WR)
    client.recv(1)
    info = client.getsockopt(socket.IPPROTO_TCP, 11, 256)
    rows = [line.split() for line in open("/proc/self/net/netstat") if line.startswith("TcpExt")]
    counters = dict(zip(rows[0], rows[1]))
    for name in "TCPDSACKRecv", "TCPDSACKRecvSegs", "TCPDSACKIgnoredDubious": print(name, counters[name])
    print("tcpi_total_retrans", struct.unpack_from("I", info, 100)[0])
    print("tcpi_dsack_dups", struct.unpack_from("I", info, 216)[0])
finally:
    place.kill()
PY
got=$(unshare -n python3 try.py)
echo "Linux $(uname -r), nft $version:"
echo "$got"
echo "$got" | awk '{ v[$1] = $2 } END { exit !(v["TCPDSACKRecvSegs"] + 0 < 10 && v["TCPDSACKIgnoredDubious"] > 20 && v["tcpi_dsack_dups"] > 20 && v["tcpi_total_retrans"] == 0) }' ||
	{ echo "when this was written: TCPDSACKRecvSegs 0, TCPDSACKIgnoredDubious and tcpi_dsack_dups some hundreds, without a retransmit"; exit 1; }
