// Command flanneld is flannel's daemon over flannel's own packages: the backends
// vxlan, host-gw and udp, etcd as the store, rules by iptables or nftables. It
// has no backends of clouds, whose modules are large or not available, and has
// those of flanneld's flags that a lab needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw" // backends register themselves
	_ "github.com/flannel-io/flannel/pkg/backend/udp"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet"
	"github.com/flannel-io/flannel/pkg/subnet/etcd"
	"github.com/flannel-io/flannel/pkg/trafficmngr"
	"github.com/flannel-io/flannel/pkg/trafficmngr/iptables"
	"github.com/flannel-io/flannel/pkg/trafficmngr/nftables"
)

const (
	configRetry = 100 * time.Millisecond // flanneld's own second would only delay a lab
	resync      = 5                      // s; flanneld's default for its rules
	renewMargin = 60                     // min; flanneld's default
)

// options are the flags.
type options struct {
	endpoints, prefix, device, subnetFile string
	masquerade, version                   bool
}

func main() {
	var o options
	flag.StringVar(&o.endpoints, "etcd-endpoints", "http://127.0.0.1:2379", "a comma list of etcd's addresses")
	flag.StringVar(&o.prefix, "etcd-prefix", "/coreos.com/network", "where etcd holds the network's config")
	flag.StringVar(&o.device, "iface", "eth0", "the interface between hosts")
	flag.StringVar(&o.subnetFile, "subnet-file", "/run/flannel/subnet.env", "where subnet and MTU are written; a subnet in it is asked for again")
	flag.BoolVar(&o.masquerade, "ip-masq", false, "masquerade what leaves the network")
	flag.BoolVar(&o.version, "version", false, "print flannel's version")
	flag.Parse()
	if o.version {
		fmt.Println(version())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "flanneld:", err)
		os.Exit(1)
	}
}

// version is that of the flannel packages in this binary.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/flannel-io/flannel" {
			return module.Version
		}
	}
	return "unknown"
}

// run is flanneld's life: config, interface, backend, rules, subnet file, and
// then the backend until the end.
func run(ctx context.Context, o options) error {
	store := &etcd.EtcdConfig{Endpoints: strings.Split(o.endpoints, ","), Prefix: o.prefix}
	previous, previous6 := leased(o.subnetFile)
	manager, err := etcd.NewLocalManager(ctx, store, previous, previous6, renewMargin)
	if err != nil {
		return fmt.Errorf("open etcd: %w", err)
	}
	config, err := configOf(ctx, manager)
	if err != nil {
		return err
	}
	stack, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	device, err := ipmatch.LookupExtIface(o.device, "", "", stack, ipmatch.PublicIPOpts{})
	if err != nil {
		return fmt.Errorf("find interface %s: %w", o.device, err)
	}
	kind, err := backend.NewManager(ctx, manager, device).GetBackend(config.BackendType)
	if err != nil {
		return fmt.Errorf("make backend: %w", err)
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	network, err := kind.RegisterNetwork(ctx, &wait, config)
	if err != nil {
		return fmt.Errorf("register network: %w", err)
	}
	if err := addRules(ctx, config, network, o.masquerade, previous, previous6); err != nil {
		return err
	}
	lease := network.Lease()
	if err := manager.HandleSubnetFile(o.subnetFile, config, o.masquerade, lease.Subnet, lease.IPv6Subnet, network.MTU()); err != nil {
		return fmt.Errorf("write subnet file: %w", err)
	}
	wait.Go(func() { network.Run(ctx) })
	return manager.CompleteLease(ctx, lease, &wait)
}

// configOf waits until the store holds the network's config.
func configOf(ctx context.Context, manager subnet.Manager) (*subnet.Config, error) {
	for {
		config, err := manager.GetNetworkConfig(ctx)
		if err == nil {
			return config, nil
		}
		fmt.Fprintln(os.Stderr, "flanneld: read config:", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(configRetry):
		}
	}
}

// addRules lets the network's packets be forwarded, and masquerades what leaves it
// if asked to, by iptables or nftables as the config wants.
func addRules(ctx context.Context, config *subnet.Config, network backend.Network, masquerade bool, previous ip.IP4Net, previous6 ip.IP6Net) error {
	var rules trafficmngr.TrafficManager = &iptables.IPTablesManager{}
	if config.EnableNFTables {
		rules = &nftables.NFTablesManager{}
	}
	if err := rules.Init(ctx); err != nil {
		return fmt.Errorf("open rules: %w", err)
	}
	if masquerade {
		err := rules.SetupAndEnsureMasqRules(ctx, config.Network, previous, config.Network,
			config.IPv6Network, previous6, config.IPv6Network, network.Lease(), resync, false)
		if err != nil {
			return fmt.Errorf("add rules that masquerade: %w", err)
		}
	}
	rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, resync)
	return nil
}

// leased are the subnets that the file names, or none.
func leased(file string) (four ip.IP4Net, six ip.IP6Net) {
	text, err := os.ReadFile(file)
	if err != nil {
		return four, six // the first start: any subnet will do
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		_, subnet, err := net.ParseCIDR(value)
		switch {
		case err != nil:
		case name == "FLANNEL_SUBNET" && subnet.IP.To4() != nil:
			four = ip.FromIPNet(subnet)
		case name == "FLANNEL_IPV6_SUBNET":
			six = ip.FromIP6Net(subnet)
		}
	}
	return four, six
}
