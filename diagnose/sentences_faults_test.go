package diagnose

import (
	"maps"
	"slices"

	"tare/result"
)

type changedFault struct {
	of     string
	change func(e *Evidence)
}

// changedFaults are recorded examinations with something else in them.
func changedFaults() map[string]changedFault {
	all := changedTunnels()
	maps.Copy(all, changedCounters())
	maps.Copy(all, changedSettings())
	maps.Copy(all, changedTables())
	return all
}

// changedTunnels are clean tunnels in which something fails.
func changedTunnels() map[string]changedFault {
	const none = "no answer in time"
	return map[string]changedFault{
		"another VNI on h2": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			set(e, "h2", links, "vxlan0.vni", 43.0)
		}},
		"another port on h1": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			set(e, "h1", links, "vxlan0.port", 8472.0)
		}},
		"no entry on h1": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			for _, s := range e.States {
				if s.At == "h1" && s.Source == fdb {
					clear(s.Values)
				}
			}
			set(e, "h1", fdb, "02:42:0a:dc:09:01 dev vxlan0", "10.0.0.9 permanent") // of another host
		}},
		"stuck at the tunnel, as the server knows a wrong neighbour": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			e.Trials[0].Seen = []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "vxlan0", Out: true}}
			count(e, "h1", linkStats, "vxlan0.tx_dropped", 3)
			set(e, "h2/c1", neighbours, "10.220.4.2 dev eth0", "02:de:ad:00:00:01 permanent")
		}},
		"a port of a bridge that is pinned": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			set(e, "h1", fdb, "02:42:0a:dc:04:02 dev veth-c2", "permanent")
		}},
		"stuck at the tunnel": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			e.Trials[0].Seen = []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "vxlan0", Out: true}}
			set(e, "h1", fdb, "02:42:0a:dc:08:02 dev vxlan0", "reachable")
			count(e, "h1", linkStats, "vxlan0.tx_dropped", 3)
		}},
		"dead with all entries": {"clean-vxlan", func(e *Evidence) { fail(e, "tcp_rr", 1, none) }},
		"large datagrams lost":  {"clean-vxlan", func(e *Evidence) { fail(e, "udp_rr", 1400, none) }},
		"large segments lost at a narrow device": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1390, none)
			set(e, "h2", links, "eth0.mtu", 1480.0)
			set(e, "h1", links, "eth0.mtu", 1490.0)
		}},
		"larger than the network carries": {"clean-vxlan", func(e *Evidence) { fail(e, "udp_rr", 1450, none) }},
		"as large as the network carries": {"clean-vxlan", func(e *Evidence) { fail(e, "udp_rr", 1450-datagramHeaders, none) }},
		"a port of a bridge too narrow": {"clean-vxlan", func(e *Evidence) {
			fail(e, "udp_rr", 1400, none)
			set(e, "h1", links, "veth-c1.mtu", 1300.0)
			set(e, "h2", links, "veth-c9.mtu", 1200.0)
		}},
		"a stream stalls":         {"clean-vxlan", func(e *Evidence) { fail(e, "tcp_stream", 65536, none) }},
		"a message that is small": {"clean-vxlan", func(e *Evidence) { fail(e, "udp_rr", smallest, none) }},
		"a network that carries who knows what": {"clean-vxlan", func(e *Evidence) {
			fail(e, "udp_rr", 1400, none)
			e.Inner = 0
		}},
		"a wide enough underlay": {"clean-vxlan", func(e *Evidence) {
			fail(e, "udp_rr", 1400, none)
			set(e, "h2", links, "eth0.mtu", 1480.0)
		}},
		"as large as the network carries, and a narrow device": {"clean-vxlan", func(e *Evidence) {
			fail(e, "udp_rr", 1450-datagramHeaders, none)
			set(e, "h2", links, "veth-c1.mtu", 1400.0)
		}},
	}
}

// changedCounters are clean paths with other counters.
func changedCounters() map[string]changedFault {
	return map[string]changedFault{
		"datagrams lost": {"clean-route", func(e *Evidence) {
			e.Trials = slices.DeleteFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName })
			for _, loss := range []float64{0.05, 0.07, 0.061} {
				e.Trials = append(e.Trials, result.Trial{Workload: trainName, Size: 64, Metrics: map[string]float64{"loss": loss}})
			}
		}},
		"a published port that is refused": {"clean-nat", func(e *Evidence) { fail(e, "tcp_rr", 1, "connection refused") }},
		"refused as often as a rule counted": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, "connection refused")
			e.Trials = e.Trials[:1]
			e.Trials[0].Seen = []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "veth-c1"}}
			count(e, "h1", rules, "ip filter FORWARD 9 reject", 2)
			count(e, "h1", snmp, "Tcp.OutRsts", 2)
			set(e, "h1", rules, "ip filter FORWARD.hook", "forward")
			set(e, "h1", rules, "ip filter FORWARD.rules", 1.0)
			set(e, "h1", rules, "ip filter FORWARD.handles", "9")
			set(e, "h1", rules, "ip filter FORWARD 9", "meta l4proto = tcp -> counter; reject")
		}},
		"refused by a rule that does not count": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, "connection refused")
			e.Trials = e.Trials[:1]
			e.Trials[0].Seen = []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "veth-c1"}}
			count(e, "h1", snmp, "Tcp.OutRsts", 2)
			set(e, "h1", rules, "ip filter FORWARD.hook", "forward")
			set(e, "h1", rules, "ip filter FORWARD.rules", 1.0)
			set(e, "h1", rules, "ip filter FORWARD.handles", "9")
			set(e, "h1", rules, "ip filter FORWARD 9", "meta l4proto = tcp -> reject")
		}},
		"refused by nobody": {"clean-route", func(e *Evidence) { fail(e, "tcp_rr", 1, "connection refused") }},
		"throttled by half": {"clean-route", func(e *Evidence) {
			e.Readings = append(e.Readings, result.Reading{At: "h2/c1", Source: cpuStat, Counts: map[string]float64{"periods": 20, "throttled": 10}})
		}},
		"throttled once": {"clean-route", func(e *Evidence) {
			e.Readings = append(e.Readings, result.Reading{At: "h2/c1", Source: cpuStat, Counts: map[string]float64{"periods": 100, "throttled": 1}})
		}},
		"a table that refused some": {"clean-nat", func(e *Evidence) {
			set(e, "h1", conntrack, "nf_conntrack_count", 900.0)
			set(e, "h1", conntrack, "nf_conntrack_max", 1000.0)
			count(e, "h1", tracked, "drop", 4)
			count(e, "h1", tracked, "early_drop", 3)
		}},
		"a table nearly full": {"clean-nat", func(e *Evidence) {
			set(e, "h1", conntrack, "nf_conntrack_count", 900.0)
			set(e, "h1", conntrack, "nf_conntrack_max", 1000.0)
		}},
		"throttled in one of 1000": {"clean-route", func(e *Evidence) {
			e.Readings = append(e.Readings, result.Reading{At: "h2/c1", Source: cpuStat, Counts: map[string]float64{"periods": 1000, "throttled": 1}})
		}},
		"a table as full as may be": {"clean-nat", func(e *Evidence) {
			set(e, "h1", conntrack, "nf_conntrack_count", fullTable*1000)
			set(e, "h1", conntrack, "nf_conntrack_max", 1000.0)
		}},
		"trains that lose as little as counts": {"clean-route", func(e *Evidence) {
			e.Trials = slices.DeleteFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName })
			for range leastTrains {
				e.Trials = append(e.Trials, result.Trial{Workload: trainName, Size: 64, Metrics: map[string]float64{"loss": trainLoss}})
			}
		}},
	}
}

// changedSettings are faults with other settings beside them.
func changedSettings() map[string]changedFault {
	return map[string]changedFault{
		"more connections refused": {"listen-overflow", func(e *Evidence) { set(e, "h2/c1", sysctls, "core/somaxconn", 3000.0) }},
		"as one asked":             {"offload-off", func(e *Evidence) { e.NIC = "frames" }},
		"a shaper of the link":     {"shaper-drop", func(e *Evidence) { e.Link = true }},
		"a device that is down and has no address": {"link-down", func(e *Evidence) {
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h2" })
		}},
		"beside a device that nobody configured": {"link-down", func(e *Evidence) {
			set(e, "h2", links, "gre0.up", false)
			set(e, "h2", links, "gre0.kind", "gre")
		}},
		"rules that could not be read":     {"docker-chain-missing", func(e *Evidence) { e.Unread = []result.Unread{{Source: rules}} }},
		"another source could not be read": {"docker-chain-missing", func(e *Evidence) { e.Unread = []result.Unread{{Source: qdiscs}} }},
		"the host answers for all":         {"wrong-mac", func(e *Evidence) { set(e, "h1/c1", neighbours, "10.101.0.3 dev eth0", "02:42:0a:65:00:01 permanent") }},
		"forwarding off by another name": {"forwarding-off", func(e *Evidence) {
			for _, s := range e.States {
				if s.At == "h1" && s.Source == sysctls {
					delete(s.Values, "ipv4/ip_forward")
				}
			}
		}},
		"rules that are not passed": {"many-rules", func(e *Evidence) { e.Readings = nil }},
		"rules that the run made":   {"many-rules", func(e *Evidence) { e.Rules = 1_000_000 }},
		"rules for what comes in": {"many-rules", func(e *Evidence) {
			set(e, "h2/c1", rules, "ip z in.rules", 5000.0)
			set(e, "h2/c1", rules, "ip z in.hook", "input")
			count(e, "h2/c1", snmp, "Ip.InDelivers", 10)
			set(e, "h1/c1", rules, "ip z out.rules", 5000.0)
			set(e, "h1/c1", rules, "ip z out.hook", "output")
			count(e, "h1/c1", snmp, "Ip.OutRequests", 10)
		}},
		"on a bridge": {"many-rules", func(e *Evidence) { set(e, "h1", sysctls, "bridge/bridge-nf-call-iptables", 1.0) }},
		"more without a route": {"route-missing", func(e *Evidence) {
			count(e, "h2", snmp, "Ip.OutNoRoutes", 5)
		}},
		"more refused, and a rule that dropped nothing": {"forward-reject", func(e *Evidence) {
			count(e, "h1", snmp, "Tcp.OutRsts", 2)
			count(e, "h1", rules, "ip filter FORWARD 9 drop", 0)
		}},
		"packets cut": {"mtu-mismatch", func(e *Evidence) {
			count(e, "h1/c1", snmp, "Ip.FragCreates", 7)
			count(e, "h1/c1", snmp, "Ip.FragFails", 2)
		}},
		"a network without a length": {"mtu-mismatch", func(e *Evidence) { e.Inner = 0 }},
		"as many rules as count":     {"many-rules", func(e *Evidence) { set(e, "h1", rules, "ip z f.rules", float64(ruleLimit)) }},
		"rules for what does not come": {"many-rules", func(e *Evidence) {
			e.Readings = nil
			set(e, "h2/c1", rules, "ip z in.rules", 5000.0)
			set(e, "h2/c1", rules, "ip z in.hook", "input")
			set(e, "h1/c1", rules, "ip z out.rules", 5000.0)
			set(e, "h1/c1", rules, "ip z out.hook", "output")
			set(e, "h1", sysctls, "bridge/bridge-nf-call-iptables", 1.0)
		}},
		"a queue as long as it may be": {"listen-overflow", func(e *Evidence) {
			set(e, "h2/c1", listening, "0.0.0.0:7777.queue", 1.0)
			set(e, "h2/c1", listening, "0.0.0.0:7777.backlog", 1.0)
		}},
		"a discipline of a link": {"shaper-drop", func(e *Evidence) {
			e.Link = true
			count(e, "h1", qdiscs, "eth0.ingress.dropped", 3)
			count(e, "h1", qdiscs, "eth0.netem.dropped", 0)
			count(e, "h2", qdiscs, "eth0.netem.dropped", 4)
			count(e, "h1", qdiscs, "eth0.fq_codel.dropped", 5)
		}},
		"of a dead lab":  {"rp-filter", func(e *Evidence) { e.Lab = "" }},
		"in one of two":  {"rp-filter", func(e *Evidence) { e.Prefix = "vxlan." }},
		"of another end": {"wrong-mac", func(e *Evidence) { set(e, "h1/c1", neighbours, "10.101.0.3 dev eth0", "02:42:0a:65:00:03 permanent") }},
	}
}

// set changes a value of a state.
func set(e *Evidence, at, source, name string, value any) {
	for _, s := range e.States {
		if s.At == at && s.Source == source {
			s.Values[name] = value
			return
		}
	}
	e.States = append(e.States, result.State{At: at, Source: source, Values: map[string]any{name: value}})
}

// count adds to a counter.
func count(e *Evidence, at, source, name string, by float64) {
	e.Readings = append(e.Readings, result.Reading{At: at, Source: source, Counts: map[string]float64{name: by}})
}

// fail lets a trial of a size be the first that fails, and all of that size fail.
func fail(e *Evidence, workload string, size int, text string) {
	first := result.Trial{Workload: workload, Size: size, Error: text, Seen: e.Trials[0].Seen}
	e.Trials = append([]result.Trial{first}, slices.DeleteFunc(e.Trials, func(t result.Trial) bool {
		return size <= smallest && t.Workload != trainName && t.Size <= smallest
	})...)
}
