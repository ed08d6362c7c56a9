package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/network"
	"tare/probe"
	"tare/workload"
)

// ethernetMTU is that of Ethernet, in bytes.
const ethernetMTU = 1500

// How long an address is tried, and for how long messages are exchanged there.
const (
	trialWait  = 2 * time.Second
	shortTrial = 2 * time.Millisecond
)

// find finds an address at which one place reaches another on a network, by trying: no
// table of routes shows what a firewall, an overlay or a NAT does on the way. The run's token
// makes sure that it is this place that answers, and not another with the same address. With an
// error the ends have the address that was tried first.
func (e *Endpoints) find(ctx context.Context, r route, on string, seen map[string]probe.Inventory) (ends network.Ends, control string, err error) {
	server, client, err := e.pair(ctx, on, r.from, r.to)
	if err != nil {
		return ends, "", err
	}
	from, to := seen[Label(on, r.from)], seen[Label(on, r.to)]
	bind, addrs := netip.Addr{}, candidates(from, to) // invalid: where it is reached
	switch {
	case r.port > 0:
		if own := candidates(probe.Inventory{}, to); len(own) > 0 {
			bind, addrs = own[0], r.at
		}
	case r.from == r.to:
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	var tried []string
	var first network.Ends
	for n, dial := range addrs {
		at := dial
		if bind.IsValid() {
			at = bind
		}
		ends := network.Ends{Client: r.from, Server: r.to, Bind: at, Dial: dial, Port: r.port}
		port := trialPort(ends)
		control, err := exchange(ctx, server, client, catalog.RoundTrips, "", shortTrial, netip.AddrPortFrom(at, port), netip.AddrPortFrom(dial, port))
		if err == nil {
			return ends, control, nil
		}
		if ctx.Err() != nil {
			return ends, "", ctx.Err()
		}
		if n == 0 {
			first = ends
		}
		tried = append(tried, fmt.Sprintf("%s: %v", dial, err))
	}
	return first, "", fmt.Errorf("%s does not reach %s (%s) at any of its addresses: %s", Label(on, r.from), Label(on, r.to), r.path, cmp.Or(strings.Join(tried, "; "), "it has none"))
}

// pair are the agents of two places on a network.
func (e *Endpoints) pair(ctx context.Context, on, from, to string) (server, client *agent.Handle, err error) {
	if server, err = e.Agent(ctx, on+"."+to, "server"); err != nil {
		return nil, nil, err
	}
	client, err = e.Agent(ctx, on+"."+from, "client")
	return server, client, err
}

// exchange lets one end send to the other during some time, and gives the congestion control that
// it did so by: routes choose one too. cc is the one that sockets ask for; empty: none.
func exchange(ctx context.Context, server, client *agent.Handle, name, cc string, during time.Duration, bind, dial netip.AddrPort) (control string, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialWait)
	defer cancel()
	kind, _ := workload.Find(name)
	run := workload.Run{Mode: kind.Modes[0], Flows: 1, Size: kind.Size.Default, Duration: during, CC: cc}
	if run.Token, err = workload.NewToken(); err != nil {
		return "", err
	}
	out, err := agent.Measure(ctx, server, client, kind.Name, run, bind.String(), dial.String())
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer")
	}
	return out.CC(), err
}

// candidates are the addresses of a place, those first that share a subnet with the other.
func candidates(from, to probe.Inventory) []netip.Addr {
	var near []netip.Prefix
	for _, l := range from.Links {
		near = append(near, l.Addresses...)
	}
	var sharing, others []netip.Addr
	for _, l := range to.Links {
		for _, p := range l.Addresses {
			if !l.Up || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast() {
				continue
			}
			shared := slices.ContainsFunc(near, func(n netip.Prefix) bool { return n.Contains(p.Addr()) && n.Addr() != p.Addr() })
			if shared {
				sharing = append(sharing, p.Addr())
			} else {
				others = append(others, p.Addr())
			}
		}
	}
	return append(sharing, others...)
}

// mtuOf is the MTU of the interface to which a path leads, in bytes; without one that of
// Ethernet.
func mtuOf(ends network.Ends, seen map[string]probe.Inventory) int {
	for _, l := range seen[ends.Server].Links {
		if slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == ends.Dial }) {
			return l.MTU
		}
	}
	return ethernetMTU
}
