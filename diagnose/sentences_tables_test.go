package diagnose

import (
	"slices"

	"tare/result"
)

// changedTables are clean paths with other tables of the kernel, counters of IPv6, and shapers.
func changedTables() map[string]changedFault {
	const none = "no answer in time"
	return map[string]changedFault{
		"no source port to masquerade with (cilium#23604)": {"clean-nat", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			count(e, "h1", tracked, "insert_failed", 2)
			count(e, "h1", tracked, "drop", 2)
		}},
		"an entry that lost a race, and nothing fails": {"clean-nat", func(e *Evidence) { count(e, "h1", tracked, "insert_failed", 1) }},
		"flows of UDP from before the port was published (moby#8795)": {"clean-nat", func(e *Evidence) {
			for n := range e.Trials {
				if e.Trials[n].Workload == "udp_rr" {
					e.Trials[n].Error = "connection refused"
				}
			}
			wall(e, "h2", "ip tare prerouting prerouting accept", "meta l4proto = udp; th dport = 5210 -> dnat to 10.102.0.2:5210")
			set(e, "h2", untranslated, "10.0.0.2:5210", 28232.0)
			set(e, "h1", untranslated, "10.0.0.2:5210", 2.0)
			set(e, "h2", untranslated, "10.0.0.2:53", 100.0)
			e.Trials[0].Error = ""
		}},
		"no ports left for a client (cilium#23604)": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, "connect: cannot assign requested address")
			set(e, "h1/c1", sysctls, portRange, "40000 40003")
			set(e, "h1/c1", connections, "10.102.0.2:5210", 4.0)
		}},
		"no ports left for a relay (moby#47537)": {"clean-nat", func(e *Evidence) {
			fail(e, "tcp_rr", 1, "connection reset by peer")
			fail(e, "tcp_rr", 1, "the peer closed the connection")
			set(e, "h2", sysctls, portRange, "40000 40009")
			set(e, "h2", connections, "10.102.0.2:5210", 10.0)
			set(e, "h2", connections, "192.0.2.7:80", 10.0)
		}},
		"no ports left, where sockets are not seen": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, "connect: cannot assign requested address")
			set(e, "h1/c1", sysctls, portRange, "")
		}},
		"all ports but three are reserved": {"clean-route", func(e *Evidence) {
			set(e, "h1/c1", sysctls, portRange, "32768 60999")
			set(e, "h1/c1", sysctls, "ipv4/ip_local_reserved_ports", "80,32768-60996")
			set(e, "h1/c1", connections, "10.102.0.2:5210", 3.0)
		}},
		"some ports left": {"clean-route", func(e *Evidence) {
			set(e, "h1/c1", sysctls, portRange, "40000 40009")
			set(e, "h1/c1", connections, "10.102.0.2:5210", 9.0)
		}},
		"no room for neighbours (kops#4533)": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			count(e, "", arpCache, "table_fulls", 464)
			set(e, "", "/proc/sys/net/ipv4/neigh/default", "gc_thresh3", 1024.0)
		}},
		"no room for neighbours of IPv6": {"clean-route", func(e *Evidence) {
			count(e, "", ndiscCache, "table_fulls", 3)
			set(e, "", "/proc/sys/net/ipv6/neigh/default", "gc_thresh3", 1024.0)
		}},
		"wrong checksums of a tunnel (flannel#1279)": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			count(e, "h2", snmp, "Udp.InCsumErrors", 115)
		}},
		"wrong checksums where the CPU fills them in": {"clean-vxlan", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			count(e, "h1/c1", snmp, "Tcp.InCsumErrors", 3)
			set(e, "h2/c1", offloads, "eth0.tx-checksum-ip-generic", false)
		}},
		"a wrong checksum on a path that passes": {"clean-vxlan", func(e *Evidence) { count(e, "h2", snmp, "Udp.InCsumErrors", 1) }},
		"IPv6 is not forwarded (moby#43466)": {"clean-route", func(e *Evidence) {
			fail(e, "tcp_rr", 1, none)
			count(e, "h1", snmp6, "Ip6InAddrErrors", 5)
			set(e, "h1", sysctls, "ipv6/conf/all/forwarding", 0.0)
		}},
		"IPv6 is not forwarded, and nobody asks for it": {"clean-route", func(e *Evidence) { set(e, "h1", sysctls, "ipv6/conf/all/forwarding", 0.0) }},
		"a bucket with a burst of minutes (kubernetes#90838)": {"clean-route", func(e *Evidence) {
			set(e, "h2", shapers, "veth-c1.tbf.rate", 10e6)
			set(e, "h2", shapers, "veth-c1.tbf.burst", 256e6)
		}},
		"a class that limits": {"clean-route", func(e *Evidence) { set(e, "h1", shapers, "eth0.htb.rate", 2e9) }},
		"shapers that limit nothing": {"clean-route", func(e *Evidence) {
			set(e, "h2", shapers, "veth-c1.tbf.rate", 100e9)
			set(e, "h2", shapers, "veth-c9.tbf.rate", 1e6)
		}},
		"a shaper that the link was asked to have": {"clean-route", func(e *Evidence) {
			e.Link = true
			set(e, "h1", shapers, "eth0.tbf.rate", 1e9)
		}},
		"an htb without a queue (kubernetes#25092)": {"shaper-drop", func(e *Evidence) {
			count(e, "h2", qdiscs, "veth-c1.htb.dropped", 6)
			set(e, "h2", shapers, "veth-c1.htb.direct", 0.0)
		}},
		"small segments by a rule": {"clean-route", func(e *Evidence) {
			segments(e, 548, 1500)
			count(e, "h2", rules, "ip mangle FORWARD 4 TCPMSS", 6)
		}},
		"small segments, for which nothing is known": {"clean-route", func(e *Evidence) { segments(e, 1148, 1500) }},
		"small segments by a small window (tcp_bound_to_half_wnd)": {"clean-route", func(e *Evidence) {
			segments(e, 768, 1500)
			set(e, "h2/c1", sysctls, "ipv4/tcp_rmem", "4096 4096 4096")
		}},
		"segments as large as a small MTU allows": {"clean-route", func(e *Evidence) { segments(e, 1228, 1280) }},
		"a sender that looks for the MTU": {"clean-route", func(e *Evidence) {
			segments(e, 1012, 1500)
			set(e, "h1/c1", sysctls, "ipv4/tcp_mtu_probing", 2.0)
		}},
		"datagrams that come twice (kubernetes#25793)": {"clean-route", func(e *Evidence) {
			train := slices.IndexFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName })
			e.Trials[train].Counters = map[string]float64{"datagrams": 700, "duplicates": 700}
			count(e, "h2", rules, "ip twice pre 3 dup", 1400)
		}},
		"segments that come twice": {"clean-route", func(e *Evidence) {
			count(e, "h1/c1", netstat, "TcpExt.TCPDSACKRecvSegs", 900_000)
			count(e, "h1/c1", snmp, "Tcp.OutSegs", 1000)
		}},
		// nftables 1.0.6 (dup to), Linux 6.18
		"segments that come twice, of a sender that sent them once": {"clean-route", func(e *Evidence) {
			count(e, "h1/c1", netstat, "TcpExt.TCPDSACKIgnoredDubious", 12225)
			count(e, "h1/c1", snmp, "Tcp.InSegs", 24157)
		}},
		"replies that come twice": {"clean-route", func(e *Evidence) {
			count(e, "h2/c1", netstat, "TcpExt.TCPDSACKIgnoredDubious", 5809)
			count(e, "h2/c1", netstat, "TcpExt.TCPOrigDataSent", 5809)
			count(e, "h2/c1", snmp, "Tcp.InSegs", 411605) // those of a stream, too
		}},
		"a few segments that came twice": {"clean-route", func(e *Evidence) {
			count(e, "h1/c1", netstat, "TcpExt.TCPDSACKIgnoredDubious", 90)
			count(e, "h1/c1", snmp, "Tcp.InSegs", 24157)
		}},
		"segments that came late": {"clean-route", func(e *Evidence) {
			count(e, "h1/c1", netstat, "TcpExt.TCPDSACKRecvSegs", 90)
			count(e, "h1/c1", snmp, "Tcp.RetransSegs", 90)
			count(e, "h1/c1", snmp, "Tcp.OutSegs", 1000)
		}},
	}
}

// segments gives the stream of the trials what TCP_INFO says of its segments.
func segments(e *Evidence, mss, mtu float64) {
	for n := range e.Trials {
		if e.Trials[n].Workload == "tcp_stream" {
			e.Trials[n].Counters = map[string]float64{"mss": mss, "path_mtu": mtu}
		}
	}
}
