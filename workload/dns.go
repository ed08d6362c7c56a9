package workload

import (
	"fmt"
	"net/netip"

	"tare/traffic"
	"tare/traffic/dns"
)

// dnsQueries is queries for one address, over UDP.
func dnsQueries() Workload {
	return Workload{
		ServedBy: []Server{unbound()},
		Send:     sending(Run.dns, dns.Call, resolved),
	}
}

// What is asked for: a name that the DNS never has (RFC 6761), and an address for
// documentation (RFC 5737).
const (
	dnsZone = "tare.test."
	dnsName = "server." + dnsZone
)

func dnsAddress() netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, 1}) }

// dns is the run as the engine knows it.
func (r Run) dns() (dns.Options, error) {
	return dns.Options{Window: r.window(), Mode: dns.Mode(r.Mode), Flows: r.Flows, Name: dnsName, Address: dnsAddress()}, nil
}

// resolved is the client's tally.
func resolved(run Run, done traffic.Transactions) Tally {
	t := fetched(run, done)
	t.Counters = map[string]float64{"lost": float64(done.Lost)}
	if done.Lost > 0 {
		t.Metrics["loss"] = float64(done.Lost) / float64(done.Lost+done.Count)
		t.Warnings = append(t.Warnings, fmt.Sprintf("lost-queries: %d queries had no response within %v", done.Lost, dns.Timeout))
	}
	return t
}
