#!/bin/sh
# The engine of the Docker 29 line starts no container on runc 1.1, with settings that are all defaults, on a
# kernel that has time namespaces. It asks the kernel (/proc/self/ns/time) and not the runtime: each container's
# specification has a namespace of type "time", of which runc knows since 1.2. "runc features", by which a runtime
# says what it supports, is not asked. The words of runc are empty between: namespace "" does not exist. Engines
# and runtimes come from different packages (Debian 12: runc 1.1.5). Since 29.5; the feature "time-namespaces" of
# daemon.json turns it off. Other runtimes had the same (youki#3538, kata-containers#13080, sysbox#1011).
#
# It needs root, a kernel since 5.6 with time namespaces, and Debian 12's archive. All runs in namespaces for mounts,
# network and processes, which end with it.
set -eu
if [ "${1-}" != inside ]; then
	script=$(readlink -f "$0")
	folder=$(mktemp -d)
	group=finding-$$
	leave() {
		find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true
		chmod -R u+w "$folder" && rm -r "$folder"
	}
	trap leave EXIT
	cd "$folder"
	CGO_ENABLED=0 GOBIN=$folder/bin GOPATH=$(go env GOPATH) go install -trimpath -tags exclude_graphdriver_btrfs github.com/moby/moby/v2/cmd/dockerd@v2.0.0-beta.24
	apt-get -o APT::Sandbox::User=root download -qq containerd=1.6.20~ds1-1+deb12u3 runc=1.1.5+ds1-1+deb12u1 busybox-static
	for package in *.deb; do dpkg -x "$package" root; done
	mkdir -p image/bin && cp root/bin/busybox image/bin/true
	tar -C image -cf image.tar .
	unshare --mount --net --pid --fork --kill-child --mount-proc sh "$script" inside "$folder" "$group"
	exit
fi
folder=$2 group=$3
PATH=$folder/bin:$folder/root/usr/sbin:$folder/root/usr/bin:$PATH
mount -t tmpfs tmpfs /run
mkdir /run/f
mount -t tmpfs tmpfs /var/lib
ip link set lo up
printf 'version = 2\nroot = "/run/f/c"\nstate = "/run/f/s"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\naddress = "/run/f/c.sock"\n' > /run/f/c.toml
containerd --config /run/f/c.toml > /run/f/c.log 2>&1 &
until [ -S /run/f/c.sock ]; do sleep 0.1; done
ask() { curl -s --unix-socket /run/f/d.sock "$@"; }
started() { # DAEMON.JSON: how a container starts with it
	echo "$1" > /run/f/daemon.json
	dockerd --config-file /run/f/daemon.json --containerd /run/f/c.sock --data-root /run/f/data --exec-root /run/f/exec --pidfile /run/f/d.pid \
		--host unix:///run/f/d.sock --bridge none --iptables=false --ip6tables=false --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$group" > /run/f/d.log 2>&1 &
	daemon=$!
	for try in $(seq 100); do [ "$(ask http://d/_ping)" = OK ] && break; sleep 0.1; done
	ask -o /dev/null -X POST -H 'Content-Type: application/x-tar' --data-binary "@$folder/image.tar" 'http://d/images/create?fromSrc=-&repo=finding'
	ask -o /dev/null -X POST -H 'Content-Type: application/json' -d '{"Image": "finding", "Cmd": ["/bin/true"], "HostConfig": {"NetworkMode": "none"}}' "http://d/containers/create?name=one"
	ask -w '%{http_code} ' -X POST http://d/containers/one/start
	ask -o /dev/null -X DELETE 'http://d/containers/one?force=1'
	kill $daemon
	wait $daemon 2>/dev/null || true
}
runc=$(runc --version | head -1)
default=$(started '{}' | tr '\n' ' ')
without=$(started '{"features": {"time-namespaces": false}}')
echo "dockerd of moby v2.0.0-beta.24, $runc"
echo "with defaults: $default"
echo "with the feature turned off: $without"
case $default in *namespace*time*'does not exist'*' 500 ') ;; *) bad=1 ;; esac
[ "$without" = "204 " ] || bad=1
[ -z "${bad-}" ] || { echo 'when this was written: status 500, as a namespace of type time does not exist, then 204'; exit 1; }
