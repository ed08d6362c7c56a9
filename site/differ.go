package site

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"tare/network"
	"tare/probe"
	"tare/result"
)

// compare says what the two hosts of a site do not have in common: a figure between them is of
// both.
func (e *Endpoints) compare(ctx context.Context, places []result.Place, between network.Ends, seen map[string]probe.Inventory) ([]string, error) {
	one, there := placeOf(places, "h1")
	other, both := placeOf(places, "h2")
	if !there || !both || one.Boot == other.Boot {
		return nil, nil
	}
	h1, h2 := host{one.Environment, toward(between.Dial, seen["h1"]), nil}, host{other.Environment, toward(between.Dial, seen["h2"]), nil}
	for at, h := range map[string]*host{"h1": &h1, "h2": &h2} {
		counted, err := Examined{e}.States(ctx, []string{hostCluster + "." + at})
		if err != nil {
			return nil, fmt.Errorf("read the settings of %s: %w", at, err)
		}
		h.states = counted.States
	}
	return differences(h1, h2), nil
}

func placeOf(places []result.Place, name string) (result.Place, bool) {
	return result.First(places, func(p result.Place) bool { return p.Name == name })
}

// host is what hosts are compared by: on is the interface toward the other.
type host struct {
	env    result.Environment
	on     probe.Link
	states []result.State
}

// differences are what two hosts do not have in common, of what is known of both.
func differences(one, other host) (all []string) {
	what := func(name, a, b string) {
		if a != b && a != "" && b != "" {
			all = append(all, fmt.Sprintf("h1 and h2 differ: %s %s and %s", name, a, b))
		}
	}
	what("kernel", one.env.Kernel, other.env.Kernel)
	what("CPU", one.env.CPUModel, other.env.CPUModel)
	what("CPUs", strconv.Itoa(one.env.CPUs), strconv.Itoa(other.env.CPUs))
	what("hypervisor", one.env.Virtualisation, other.env.Virtualisation)
	what("clock source", one.env.Clocksource, other.env.Clocksource)
	what("MTU of the way to the other", number(one.on.MTU), number(other.on.MTU))
	what("driver of the interface", one.on.Driver, other.on.Driver)
	what("rate of the interface in bit/s", number(one.on.Rate), number(other.on.Rate))
	what("queues of the interface", number(one.on.Queues), number(other.on.Queues))
	settings := one.settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		what(name, settings[name], other.settings()[name])
	}
	return all
}

// settings are those of the interface, without its name, and of the host's TCP and UDP. The
// congestion control is compared where it is used.
func (h host) settings() map[string]string {
	known := map[string]string{}
	for _, s := range h.states {
		for name, value := range s.Values {
			name, ofInterface := strings.CutPrefix(name, h.on.Name+".")
			socket := strings.HasPrefix(name, "core/") || strings.HasPrefix(name, "ipv4/tcp_")
			ofInterface = ofInterface && (s.Source == "ethtool -k" || s.Source == "/sys/class/net/*/queues" || name == "qdisc")
			if ofInterface || socket && name != "ipv4/tcp_congestion_control" {
				known[name] = fmt.Sprint(value)
			}
		}
	}
	return known
}

// number is a number that is known; empty: it is 0.
func number[T int | float64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

// toward is the interface in whose subnet an address is; none: a gateway is on the way.
func toward(addr netip.Addr, seen probe.Inventory) probe.Link {
	on, _ := result.First(seen.Links, func(l probe.Link) bool {
		return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(addr) })
	})
	return on
}

// linkRate is what the interfaces of both hosts toward each other can carry, in bit/s; 0: it is
// not known.
func linkRate(between network.Ends, seen map[string]probe.Inventory) float64 {
	return min(toward(between.Dial, seen["h1"]).Rate, toward(between.Dial, seen["h2"]).Rate)
}
