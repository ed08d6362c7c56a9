// Package flannel drives flannel: etcd on the first host of a lab, and flanneld
// on each.
package flannel

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tare/engine"
	"tare/lab"
)

const (
	subnetFile = lab.Scratch + "/flannel/subnet.env"
	subnetBits = 22 // of a host's subnet: 63 hosts of 1000 containers in a /16

	reachWait = time.Minute // how long the hosts may take to reach each other
	reachStep = 20 * time.Millisecond

	dialTimeout = 250 * time.Millisecond

	discard = 9 // the port that reachability is tested with (RFC 863)
)

// Network is the network of all containers, as in flannel's manifest for
// Kubernetes.
func Network() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, 0, 0}), 16)
}

// Needs lists the programs of flannel.
func Needs() []engine.Need {
	return []engine.Need{
		engine.NeedRoot(), engine.NeedPart("flanneld", "--version"),
		engine.NeedProgram("etcd", "etcd-server", "--version"), engine.NeedProgram("etcdctl", "etcd-client"),
		engine.NeedProgram("iptables", "iptables", "--version"),
	}
}

// Start starts flanneld on a host, with the address of etcd that StartStore
// returned, and returns the host's lease.
//
// flanneld asks for the subnet that its subnet file names, so the file names one
// beforehand: that way two labs are alike.
func Start(h *lab.Host, store string, rules Rules) (Lease, error) {
	flanneld, err := engine.Program("flanneld")
	if err != nil {
		return Lease{}, err
	}
	subnet := Network().Addr().As4()
	subnet[2] = byte(h.Number << 2)
	subnet[3] = 1
	gateway := netip.PrefixFrom(netip.AddrFrom4(subnet), subnetBits)
	wanted := fmt.Sprintf("FLANNEL_SUBNET=%s\n", gateway)
	if h.At().Is6() {
		wanted += fmt.Sprintf("FLANNEL_IPV6_SUBNET=%s\n", lab.IPv6PrefixOf(gateway))
	}
	if err := h.WriteFile(subnetFile, []byte(wanted), 0o644); err != nil {
		return Lease{}, err
	}
	var lease Lease
	_, err = h.StartDaemon(lab.Daemon{
		Name: "flanneld",
		Argv: []string{
			flanneld, "--etcd-endpoints=" + store, "--iface=" + lab.Device,
			"--ip-masq=" + strconv.FormatBool(rules.Masquerade), "--subnet-file=" + subnetFile,
		},
		Ready: func() error {
			text, err := os.ReadFile(subnetFile)
			if err != nil {
				return err
			}
			if lease, err = parseLease(string(text)); err != nil {
				return err
			}
			if want := lab.IPv6PrefixOf(lease.Gateway); h.At().Is6() && lease.Gateway6 != want {
				return fmt.Errorf("flanneld has the subnet %s of IPv6, want %s", lease.Gateway6, want)
			}
			return rules.added(h)
		},
	})
	return lease, err
}

// Lease is what flanneld writes into its subnet file.
type Lease struct {
	Gateway  netip.Prefix // the first address of the host's subnet, for its bridge
	Gateway6 netip.Prefix // the same of IPv6; invalid: there is none
	MTU      int          // of the containers, bytes
}

// parseLease reads a subnet file. It fails until flanneld has written it.
func parseLease(text string) (Lease, error) {
	var lease Lease
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		var err error
		switch name {
		case "FLANNEL_SUBNET":
			lease.Gateway, err = netip.ParsePrefix(value)
		case "FLANNEL_IPV6_SUBNET":
			lease.Gateway6, err = netip.ParsePrefix(value)
		case "FLANNEL_MTU":
			lease.MTU, err = strconv.Atoi(value)
		}
		if err != nil {
			return Lease{}, fmt.Errorf("read flannel's subnet file: %s: %w", name, err)
		}
	}
	if !lease.Gateway.IsValid() || !lease.Gateway.Addr().Is4() || lease.MTU <= 0 {
		return Lease{}, errors.New("read flannel's subnet file: it names no IPv4 subnet with an MTU yet")
	}
	return lease, nil
}

// Await waits until a host reaches the bridges of all others, whose leases are
// listed by host: flanneld configures the path to a host when it learns of that
// host's lease.
func Await(h *lab.Host, leases []Lease) error {
	return h.Inside(func() error {
		for n, lease := range leases {
			if n == h.Number-1 {
				continue
			}
			for _, bridge := range h.Both(lease.Gateway.Addr()) {
				if err := await(netip.AddrPortFrom(bridge, discard).String()); err != nil {
					return fmt.Errorf("reach the bridge of h%d from %s through flannel: %w: tare lab exec shows %s/flanneld.log", n+1, h.Name, err, lab.Scratch)
				}
			}
		}
		return nil
	})
}

// await waits until a host answers at an address. A refusal is an answer, too.
func await(address string) error {
	for deadline := time.Now().Add(reachWait); ; time.Sleep(reachStep) {
		err := dial(address)
		if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// dial connects to an address from the calling thread's namespace.
func dial(address string) error {
	conn, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return err
	}
	return conn.Close()
}
