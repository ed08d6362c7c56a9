package flannel

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

const (
	etcdPort  = 2379
	etcdData  = lab.Scratch + "/etcd"
	configKey = "/coreos.com/network/config" // below flanneld's default --etcd-prefix
)

// Backend is the part of flannel's configuration that chooses how packets travel
// between hosts.
type Backend struct {
	Type          string // "host-gw", "vxlan" or "udp"
	DirectRouting bool   `json:",omitempty"` // of vxlan: no VXLAN between hosts of one subnet
}

// config is flannel's configuration, as etcd holds it.
type config struct {
	Network       string
	SubnetLen     int
	EnableIPv6    bool   `json:",omitempty"`
	IPv6Network   string `json:",omitempty"`
	IPv6SubnetLen int    `json:",omitempty"`

	EnableNFTables bool `json:",omitempty"`
	Backend        Backend
}

// Rules are those that flanneld adds.
type Rules struct {
	Masquerade bool // what leaves the containers' network has its host's address
	NFTables   bool // they are in tables of flannel's own; else iptables adds them
}

// StartStore starts etcd on a host, writes flannel's configuration into it and
// returns its URL.
func StartStore(h *lab.Host, backend Backend, rules Rules) (store string, err error) {
	etcd, err := engine.Program("etcd")
	if err != nil {
		return "", err
	}
	etcdctl, err := engine.Program("etcdctl")
	if err != nil {
		return "", err
	}
	if err := mountData(h); err != nil {
		return "", err
	}
	address := netip.AddrPortFrom(h.Addr, etcdPort).String()
	store, peer := "http://"+address, "http://127.0.0.1:2380"
	_, err = h.StartDaemon(lab.Daemon{
		Name: "etcd",
		Argv: []string{
			etcd, "--name", h.Short, "--data-dir", etcdData,
			"--listen-client-urls", store, "--advertise-client-urls", store,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", h.Short + "=" + peer,
		},
		Ready: func() error { return dial(address) },
	})
	if err != nil {
		return "", err
	}
	settings := config{Network: Network().String(), SubnetLen: subnetBits, EnableNFTables: rules.NFTables, Backend: backend}
	if h.At().Is6() {
		own := netip.PrefixFrom(Network().Addr(), subnetBits)
		settings.EnableIPv6, settings.IPv6Network, settings.IPv6SubnetLen = true, lab.IPv6PrefixOf(Network()).String(), lab.IPv6PrefixOf(own).Bits()
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return "", fmt.Errorf("write flannel's configuration: %w", err)
	}
	_, err = h.Run(etcdctl, "--endpoints", store, "put", configKey, string(text))
	return store, err
}

// mountData gives etcd a ramfs, whose files can have holes. A tmpfs allocates
// space when asked to, so there etcd's two empty logs would take 128 MB of
// memory.
func mountData(h *lab.Host) error {
	return h.Inside(func() error {
		err := os.MkdirAll(etcdData, 0o700)
		if err == nil {
			err = unix.Mount("ramfs", etcdData, "ramfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=700")
		}
		if err != nil {
			return fmt.Errorf("mount %s in %s: %w", etcdData, h.Name, err)
		}
		return nil
	})
}
