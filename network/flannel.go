package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/lab"
)

const (
	etcdPort      = 2379
	etcdData      = lab.Scratch + "/etcd"
	flannelKey    = "/coreos.com/network/config" // below flanneld's own --etcd-prefix
	flannelSubnet = lab.Scratch + "/flannel/subnet.env"
	flannelBits   = 22 // of a host's subnet: 63 hosts of 1000 containers in a /16

	flannelWait = 15 * time.Second // how long the hosts may take to reach each other
	flannelStep = 20 * time.Millisecond

	flannelKnock = 250 * time.Millisecond // how long one try takes at most
)

// flannelNetwork is the network of all containers, by the default of flannel's
// manifest for Kubernetes.
func flannelNetwork() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, 0, 0}), 16)
}

// flannelConflist is what flannel's CNI plugin makes of the list in flannel's
// manifest for Kubernetes (kube-flannel.yml, cni-conf.json).
const flannelConflist = `{
  "cniVersion": "1.0.0",
  "name": "cbr0",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "hairpinMode": true,
      "isDefaultGateway": true,
      "mtu": {{.MTU}},
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "{{.Subnet}}", "gateway": "{{.Gateway}}"}]],
        "routes": [{"dst": "{{.Network}}"}]
      }
    }
  ]
}`

// flannelBackend is the part of flannel's config that sets its networks apart.
type flannelBackend struct {
	Type          string
	DirectRouting bool `json:",omitempty"`
}

// flannelConfig is what etcd holds for flanneld.
type flannelConfig struct {
	Network   string
	SubnetLen int
	Backend   flannelBackend
}

func flannelNeeds() []Need {
	return []Need{
		root(), part("flanneld", "--version"),
		program("etcd", "etcd-server", "--version"), program("etcdctl", "etcd-client"),
		program("iptables", "iptables", "--version"), cniPlugins("bridge", "host-local"),
	}
}

// setUpFlannel starts etcd on the first host and flanneld on each, has CNI
// hang the containers on a bridge in the subnet that flanneld got, and waits
// until every host reaches every other through flannel.
func setUpFlannel(cluster *lab.Cluster, setup *Setup, backend flannelBackend) error {
	store, err := startStore(cluster.Hosts[0], backend)
	if err != nil {
		return err
	}
	leases := make([]flannelLease, len(cluster.Hosts)) // by host
	err = allHosts(cluster, func(h *lab.Host) error {
		lease, err := startFlanneld(h, store, setup.Params[ipMasq] == "on")
		leases[h.Number-1] = lease
		return err
	})
	if err != nil {
		return err
	}
	err = allHosts(cluster, func(h *lab.Host) error {
		list, err := leases[h.Number-1].conflist()
		if err != nil {
			return err
		}
		return setUpConflist(h, setup, list)
	})
	if err != nil {
		return err
	}
	if err := setup.populate(cluster, func(c *lab.Container) error { return attachByCNI(c, setup) }); err != nil {
		return err
	}
	return allHosts(cluster, func(h *lab.Host) error { return reachThrough(h, leases) })
}

// startStore starts etcd, tells it flannel's config and gives its address.
func startStore(h *lab.Host, backend flannelBackend) (string, error) {
	etcd, err := Program("etcd")
	if err != nil {
		return "", err
	}
	etcdctl, err := Program("etcdctl")
	if err != nil {
		return "", err
	}
	if err := mountStore(h); err != nil {
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
		Ready: func() error { return knock(address) },
	})
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(flannelConfig{Network: flannelNetwork().String(), SubnetLen: flannelBits, Backend: backend})
	if err != nil {
		return "", fmt.Errorf("describe flannel's network: %w", err)
	}
	_, err = h.Run(etcdctl, "--endpoints", store, "put", flannelKey, string(config))
	return store, err
}

// mountStore gives etcd a ramfs, on which files have holes: on a tmpfs, where
// space can be allocated beforehand, its two empty logs take 128 MB of memory.
func mountStore(h *lab.Host) error {
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

// knock tells whether something listens at the address, from the calling
// thread's namespace.
func knock(address string) error {
	conn, err := net.DialTimeout("tcp4", address, flannelKnock)
	if err != nil {
		return err
	}
	return conn.Close()
}

// startFlanneld starts the daemon and gives the subnet that it got. Its subnet
// file names one beforehand, which flanneld then asks for, so that two labs are
// alike.
func startFlanneld(h *lab.Host, store string, masquerade bool) (flannelLease, error) {
	flanneld, err := Program("flanneld")
	if err != nil {
		return flannelLease{}, err
	}
	subnet := flannelNetwork().Addr().As4()
	subnet[2] = byte(h.Number << 2)
	subnet[3] = 1
	asked := fmt.Sprintf("FLANNEL_SUBNET=%s/%d\n", netip.AddrFrom4(subnet), flannelBits)
	if err := h.WriteFile(flannelSubnet, []byte(asked), 0o644); err != nil {
		return flannelLease{}, err
	}
	var lease flannelLease
	_, err = h.StartDaemon(lab.Daemon{
		Name: "flanneld",
		Argv: []string{
			flanneld, "--etcd-endpoints=" + store, "--iface=" + lab.Device,
			"--ip-masq=" + strconv.FormatBool(masquerade), "--subnet-file=" + flannelSubnet,
		},
		Ready: func() error {
			text, err := os.ReadFile(flannelSubnet)
			if err != nil {
				return err
			}
			if lease, err = parseLease(string(text)); err != nil {
				return err
			}
			return flannelRulesStand(h, masquerade)
		},
	})
	return lease, err
}

// flannelLease is what flanneld writes into its subnet file.
type flannelLease struct {
	gateway netip.Prefix // the first address of the subnet, for the bridge
	mtu     int          // of the containers, bytes
}

// parseLease reads a subnet file; it fails while flanneld has not written it.
func parseLease(text string) (flannelLease, error) {
	var lease flannelLease
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		var err error
		switch name {
		case "FLANNEL_SUBNET":
			lease.gateway, err = netip.ParsePrefix(value)
		case "FLANNEL_MTU":
			lease.mtu, err = strconv.Atoi(value)
		}
		if err != nil {
			return flannelLease{}, fmt.Errorf("read flannel's subnet file: %s: %w", name, err)
		}
	}
	if !lease.gateway.IsValid() || !lease.gateway.Addr().Is4() || lease.mtu <= 0 {
		return flannelLease{}, errors.New("read flannel's subnet file: it names no IPv4 subnet with an MTU yet")
	}
	return lease, nil
}

// conflist hangs containers on a bridge as flannel's CNI plugin has it done,
// less the masquerade, which is flanneld's or nobody's.
func (f flannelLease) conflist() (conflist, error) {
	text, err := fillConflist(flannelConflist, map[string]any{
		"MTU": f.mtu, "Subnet": f.gateway.Masked(), "Gateway": f.gateway.Addr(), "Network": flannelNetwork(),
	})
	if err != nil {
		return conflist{}, err
	}
	return readConflist(text)
}

// reachThrough waits until a host reaches the bridges of all others: flanneld
// lays the way to a host when it hears of its lease.
func reachThrough(h *lab.Host, leases []flannelLease) error {
	return h.Inside(func() error {
		for n, lease := range leases {
			if n == h.Number-1 {
				continue
			}
			bridge := netip.AddrPortFrom(lease.gateway.Addr(), Port).String()
			for deadline := time.Now().Add(flannelWait); ; time.Sleep(flannelStep) {
				err := knock(bridge)
				if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
					break // nobody listens there, and the host says so
				}
				if time.Now().After(deadline) {
					return fmt.Errorf("reach the bridge of h%d from %s through flannel: %w: tare lab exec shows %s/flanneld.log", n+1, h.Name, err, lab.Scratch)
				}
			}
		}
		return nil
	})
}
