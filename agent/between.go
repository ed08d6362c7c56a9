package agent

import (
	"fmt"
	"net"
	"net/netip"
	"time"
)

// endpoint is what one end of a run between machines knows of itself and of the other.
type endpoint struct {
	Version string         `json:"version,omitempty"` // of tare
	Boot    string         `json:"boot,omitempty"`    // probe.BootID of its machine
	Clock   time.Time      `json:"clock"`             // when the run was about to begin
	Own     netip.AddrPort `json:"own"`               // its address of the connection that asked for the run
	Other   netip.AddrPort `json:"other"`             // and the other end's, as it sees it
	MTU     int            `json:"mtu,omitempty"`     // bytes, of the interface with its address; 0: unknown, or the loopback
}

// slowClock is by how much two clocks may differ. What is measured needs no common clock;
// who compares a result with a log of the other machine does.
const slowClock = 100 * time.Millisecond

// between says what is unlike at the two ends of a run, or changes what passes between
// them. The far end's clock was read after the near end's showed asked.
func between(near, far endpoint, asked time.Time) (warnings []string) {
	say := func(format string, values ...any) { warnings = append(warnings, fmt.Sprintf(format, values...)) }
	if far.Version != near.Version {
		say("versions-differ: the server is tare %s and the sender tare %s: use the same version at both ends", far.Version, near.Version)
	}
	behind, ahead := asked.Sub(far.Clock), far.Clock.Sub(near.Clock)
	switch {
	case far.Boot == near.Boot || far.Clock.IsZero():
	case behind > slowClock:
		say("clocks-differ: the server's clock is %v behind the sender's, which gives the times of this result: synchronise them (NTP)", behind.Round(time.Millisecond))
	case ahead > slowClock:
		say("clocks-differ: the server's clock is %v ahead of the sender's, which gives the times of this result: synchronise them (NTP)", ahead.Round(time.Millisecond))
	}
	if far.Other.IsValid() && far.Other != near.Own {
		say("source-nat: the server sees %v, not the sender's %v: a NAT on the way is part of what was measured", far.Other, near.Own)
	}
	if asked := unzoned(near.Other); far.Own.IsValid() && far.Own != asked {
		say("destination-nat: %v is %v at the server: a NAT, a load balancer or a published port on the way is part of what was measured", asked, far.Own)
	}
	return warnings
}

// smallPackets says where packets were smaller than the interface of the end that sent
// the data allows.
func (o Outcome) smallPackets(near, far endpoint, reverse bool) []string {
	if reverse {
		return smaller(far, near, int(o.Server.Counters["path_mtu"]))
	}
	return smaller(near, far, int(o.Client.Counters["path_mtu"]))
}

// smaller says where packets are smaller than the sender's interface allows. path is the
// MTU of the path as its kernel found it, in bytes; 0: it found none.
func smaller(from, to endpoint, path int) (warnings []string) {
	most := path
	if most == 0 || to.MTU > 0 && to.MTU < most {
		most = to.MTU
	}
	if 0 < most && most < from.MTU {
		warnings = append(warnings, fmt.Sprintf(
			"path-mtu: packets of %d bytes at most pass, where the interface of %v allows %d: a tunnel or a link on the way has a smaller MTU", most, from.Own.Addr(), from.MTU))
	}
	return warnings
}

// mtuOf is the MTU of the interface that has an address; 0: unknown, or the loopback.
func mtuOf(own netip.Addr) int {
	all, err := net.Interfaces()
	if err != nil {
		return 0
	}
	for _, one := range all {
		if one.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, err := one.Addrs()
		if err != nil {
			continue // it is gone
		}
		for _, a := range addresses {
			if network, ok := a.(*net.IPNet); ok {
				if addr, ok := netip.AddrFromSlice(network.IP); ok && addr.Unmap() == own.WithZone("") {
					return one.MTU
				}
			}
		}
	}
	return 0
}

// addressOf is an address of a connection of the runtime's.
func addressOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return unzoned(tcp.AddrPort())
}

// unzoned is an address as the other end of a connection writes it.
func unzoned(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}
