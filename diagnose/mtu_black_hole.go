package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"tare/result"
)

// Bytes of headers around a message of a trial: IPv4 with TCP and its
// timestamps, or with UDP.
const (
	segmentHeaders  = 20 + 20 + 12
	datagramHeaders = 20 + 8
)

// mtuBlackHole finds a path that passes small packets and drops large ones without
// an ICMP message to the sender (RFC 2923).
func mtuBlackHole() Rule {
	return Rule{
		ID: "mtu-black-hole", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			t, lost := e.largeLost()
			if !lost {
				return nil
			}
			packet := t.Size + segmentHeaders
			if t.Workload == "udp_rr" {
				packet = t.Size + datagramHeaders
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("packets of %d bytes are lost between %s and %s, small ones pass", packet, e.Client, e.Server),
				Evidence:   []result.Evidence{errorOf(t), e.trialFailed()},
				Remedy:     remedy(e.Client, fmt.Sprintf("ip link set dev eth0 mtu %d", least(e.Inner, packet)-leastRoom)),
				Confidence: 0.9,
			}
			if at, device, mtu, need := e.narrow(packet); device != "" {
				command, bridge := fmt.Sprintf("ip link set dev %s mtu %d", device, need), ""
				if port := e.narrowPort(at, device, mtu); port != "" {
					device, bridge = port, fmt.Sprintf(", and %s, which has that of its narrowest port, too", device)
					command = fmt.Sprintf("ip link set dev %s mtu %d && %s", port, need, command)
				}
				f.Cause += fmt.Sprintf(": %s in %s has MTU %d, the path needs %d%s", device, at, mtu, need, bridge)
				f.Evidence = append(f.Evidence, seen(device+".mtu", mtu, at, links))
				f.Remedy = remedy(at, command)
				f.Confidence = 0.96
				e.widenAll(&f)
			} else if e.Inner > 0 && packet > e.Inner {
				f.Cause += fmt.Sprintf(": the network carries %d", e.Inner)
				f.Remedy = remedy(e.Client, fmt.Sprintf("ip link set dev %s mtu %d", e.sends(t), e.Inner))
				f.Confidence = 0.95
			} else {
				f.Fix = "and allow ICMP \"fragmentation needed\" along the path"
			}
			return []result.Finding{f}
		},
	}
}

// sends is the client's device by which a trial's packets leave.
func (e *Evidence) sends(t result.Trial) string {
	first, _ := result.First(t.Seen, func(s result.Sighting) bool { return s.At == e.Client && s.Out && !s.Reply })
	return cmp.Or(first.Device, "eth0")
}

// widenAll adds to a finding's remedy whatever else lets only small packets pass: the other end of a
// link, and what senders remember of it.
func (e *Evidence) widenAll(f *result.Finding) {
	all, narrow := e.narrowed()
	if !narrow {
		return
	}
	for _, step := range all.Remedy.Steps() {
		if !slices.Contains(f.Remedy.Steps(), step) {
			f.Remedy.Then = append(f.Remedy.Then, step)
		}
	}
}

// largeLost is the first large message that was lost, if none of its size passed and the small
// ones between them did.
func (e *Evidence) largeLost() (large result.Trial, lost bool) {
	large, failed := e.failed()
	if !failed || large.Size <= smallest || large.Cut || large.Idle > 0 || large.Workload == trainName || large.Workload == "tcp_stream" { // a stream's message is not one packet
		return large, false
	}
	shown := []result.Failure{result.Silent, result.TooLarge, result.Unknown}
	return large, slices.Contains(shown, large.Failure()) && e.all(0).failed == 0
}

// leastRoom is by how many bytes a sender's MTU is lowered where the path's MTU is
// unknown: room for the headers of any tunnel.
const leastRoom = 100

// least is the smaller of two lengths, of which the first may be unknown.
func least(inner, packet int) int {
	if inner > 0 {
		return min(inner, packet)
	}
	return packet
}

// narrow finds the device on the path whose MTU is most below what a packet needs,
// and the MTU that it would need; an empty device: all MTUs suffice.
func (e *Evidence) narrow(packet int) (at, device string, mtu, need int) {
	for _, place := range e.Places {
		for _, d := range e.names(place, links, ".mtu") {
			if !e.onWay(place, d) {
				continue
			}
			has, wants := int(e.number(place, links, d+".mtu")), packet
			switch {
			case e.ofUnderlay(place, d):
				wants = min(e.MTU, packet+e.MTU-e.Inner)
			case e.Inner < e.MTU: // a tunnel has no room for more
				wants = least(e.Inner, packet)
			}
			if has < wants && (device == "" || wants-has > need-mtu) {
				at, device, mtu, need = place, d, has, wants
			}
		}
	}
	if device != "" && packet <= e.Inner {
		need = e.Inner
		if e.ofUnderlay(at, device) {
			need = e.MTU
		}
	}
	return at, device, mtu, need
}

// narrowPort is the port from which a bridge has its MTU: one on the way that is as narrow; empty:
// it is no bridge, or its ports are wider.
func (e *Evidence) narrowPort(at, bridge string, mtu int) string {
	for _, port := range e.names(at, links, ".master") {
		if e.word(at, links, port+".master") == bridge && int(e.number(at, links, port+".mtu")) == mtu {
			return port
		}
	}
	return ""
}

// onWay reports whether packets of the trials pass a device, or the bridge that it
// is a port of.
func (e *Evidence) onWay(at, device string) bool {
	return slices.ContainsFunc(e.devices(at), func(d string) bool { return d == device || e.word(at, links, d+".master") == device })
}

// ofUnderlay reports whether a device is a host's interface to the other hosts.
func (e *Evidence) ofUnderlay(at, device string) bool { return at == hostOf(at) && device == "eth0" }
