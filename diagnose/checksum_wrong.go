package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// checksumWrong finds packets that arrive with a wrong checksum, which the kernel drops: the sender's
// device was to fill it in, and did so wrongly.
func checksumWrong() Rule {
	return Rule{
		ID: "checksum-wrong", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			if _, failed := e.failed(); !failed {
				return nil
			}
			for _, of := range []struct{ source, name string }{
				{snmp, "Udp.InCsumErrors"}, {snmp, "Tcp.InCsumErrors"}, {snmp, "Icmp.InCsumErrors"}, {netstat, "IpExt.InCsumErrors"}, {snmp6, "Udp6InCsumErrors"}, {snmp6, "Icmp6InCsumErrors"},
			} {
				if wrong := e.counted(at, of.source, of.name); wrong > 0 {
					return []result.Finding{e.wrongChecksums(at, seen(of.name, wrong, at, of.source), wrong)}
				}
			}
			return nil
		}),
	}
}

// wrongChecksums is the finding of packets with wrong checksums that arrived at a place.
func (e *Evidence) wrongChecksums(at string, counter result.Evidence, wrong float64) result.Finding {
	sender, device := e.senderTo(at)
	f := result.Finding{
		Cause:      fmt.Sprintf("%.0f packets arrived at %s with a wrong checksum, and were dropped: %s sends them so by %s", wrong, at, sender, device),
		Evidence:   []result.Evidence{counter, e.trialFailed()},
		Remedy:     remedy(sender, "ethtool -K "+device+" tx-checksum-ip-generic off"),
		Fix:        "the CPU fills it in then, instead of the device",
		Confidence: 0.95,
	}
	const feature = ".tx-checksum-ip-generic"
	for _, d := range e.devices(sender) {
		if e.state(sender, offloads)[d+feature] == false { // the CPU fills it in now
			f.Evidence = append(f.Evidence, seen(d+feature, false, sender, offloads))
			f.Remedy, f.Fix = remedy(sender, "ethtool -K "+d+" tx on"), "and see what changes its packets: nft list ruleset"
		}
	}
	return f
}

// senderTo is who sends a place the packets of the path that it receives itself, and by which device:
// the other host where a tunnel ends at the place, else the other end.
func (e *Evidence) senderTo(at string) (sender, device string) {
	sender = e.Client
	if at == e.Client || at == hostOf(e.Client) && at != e.Server {
		sender = e.Server
	}
	if at == hostOf(at) && sender != hostOf(sender) {
		sender = hostOf(sender)
	}
	device = "eth0"
	for _, name := range e.names(sender, links, ".kind") {
		if kind := e.word(sender, links, name+".kind"); slices.Contains([]string{"vxlan", "geneve"}, kind) && slices.Contains(e.devices(sender), name) {
			device = name
		}
	}
	return sender, device
}
