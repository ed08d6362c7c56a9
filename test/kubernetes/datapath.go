package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// What carries packets between pods.
const (
	bridge  = "bridge"  // the CNI plugin bridge and routes, as the lab has them
	flannel = "flannel" // flanneld with VXLAN, and the plugin bridge in its subnets
)

const (
	conflist   = scratch + "/cni/net.d/10-tare.conflist" // as the lab names it
	subnetFile = scratch + "/flannel/subnet.env"
	configKey  = "/coreos.com/network/config" // below flanneld's default --etcd-prefix
)

// podRange is the range that has the addresses of all pods.
func (s settings) podRange() string {
	if s.Datapath == flannel {
		return "10.244.0.0/16"
	}
	return "10.100.0.0/14" // the lab gives its hosts 10.101.0.0/16 and so on
}

// nodeRange is the range of a node's pods.
func (s settings) nodeRange(number int) netip.Prefix {
	if s.Datapath == flannel {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(number), 0}), 24)
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + number), 0, 0}), 16)
}

// configureFlannel writes flannel's configuration into etcd.
func configureFlannel(ctx context.Context) error {
	config := fmt.Sprintf(`{"Network": %q, "SubnetLen": 24, "Backend": {"Type": "vxlan"}}`, settings{Datapath: flannel}.podRange())
	return command(ctx, "etcdctl", "--endpoints", storeURL(), "put", configKey, config)
}

// startDatapath has containerd give pods the network that was asked for. A node has a
// default route: without one its own packets to a service find no way before
// kube-proxy's rules see them.
func (n node) startDatapath(ctx context.Context) error {
	if err := command(ctx, "ip", "route", "add", "default", "dev", "eth0"); err != nil {
		return err
	}
	if n.Settings.Datapath == flannel {
		return n.startFlannel(ctx)
	}
	// A pod that asks a service may be answered by itself.
	list, err := os.ReadFile(conflist)
	if err != nil {
		return fmt.Errorf("read the lab's CNI configuration: %w: change conflist to how the lab names it", err)
	}
	const off, on = `"promiscMode": false`, `"hairpinMode": true`
	if !strings.Contains(string(list), off) {
		return fmt.Errorf("let a pod reach itself: %s has no %s: change it to how the lab writes it", conflist, off)
	}
	return replaceConflist(strings.Replace(string(list), off, on, 1))
}

// startFlannel starts flanneld and has containerd use its subnet. flanneld asks for
// the subnet that its file names, so each node's is known beforehand.
func (n node) startFlannel(ctx context.Context) error {
	flanneld, err := partPath("flanneld")
	if err != nil {
		return err
	}
	wanted := fmt.Sprintf("FLANNEL_SUBNET=%s/24\n", n.Settings.nodeRange(n.number).Addr().Next())
	if err := writeFile(subnetFile, []byte(wanted), 0o644); err != nil {
		return err
	}
	daemon, err := start("flanneld", flanneld, "--etcd-endpoints="+storeURL(), "--iface=eth0", "--ip-masq=true", "--subnet-file="+subnetFile)
	if err != nil {
		return err
	}
	var mtu string
	err = daemon.await(ctx, func() (err error) { mtu, err = leasedMTU(); return err })
	if err != nil {
		return err
	}
	return replaceConflist(fmt.Sprintf(flannelConflist, mtu, n.Settings.nodeRange(n.number)))
}

// replaceConflist replaces the lab's CNI configuration, which must exist, in one
// step: containerd reads it as soon as it changes.
func replaceConflist(list string) error {
	if _, err := os.Stat(conflist); err != nil {
		return fmt.Errorf("replace the lab's CNI configuration: %w: change conflist to how the lab names it", err)
	}
	if err := writeFile(conflist+".new", []byte(list), 0o644); err != nil {
		return err
	}
	return os.Rename(conflist+".new", conflist)
}

// flannelConflist is what flannel's CNI plugin makes of a subnet file with the
// settings in flannel's manifest for Kubernetes, with MTU and subnet to be filled in.
const flannelConflist = `{
  "cniVersion": "1.0.0",
  "name": "cbr0",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "isDefaultGateway": true,
      "ipMasq": false,
      "hairpinMode": true,
      "mtu": %s,
      "ipam": {"type": "host-local", "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "10.244.0.0/16"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}`

// leasedMTU is the MTU of pods. It fails until flanneld has written its file.
func leasedMTU() (string, error) {
	text, err := os.ReadFile(subnetFile)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if mtu, found := strings.CutPrefix(line, "FLANNEL_MTU="); found {
			return strings.TrimSpace(mtu), nil
		}
	}
	return "", fmt.Errorf("read %s: it has no MTU yet", subnetFile)
}

// partPath is the path of another part that tare's repository builds.
func partPath(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find %s: %w: make parts", name, err)
	}
	return path, nil
}
