package probe

import (
	"path/filepath"
)

// conntrack counts what the connection table refused or lost.
func conntrack() Probe {
	return statTable(Probe{
		Name: "conntrack", Doc: "connections that could not be tracked", Scope: Namespace, Source: "/proc/net/stat/nf_conntrack",
	}, "proc/thread-self/net/stat/nf_conntrack")
}

// conntrackTable reads how full the connection table is.
func conntrackTable() Probe {
	return Probe{
		Name: "conntrack_table", Doc: "how many connections are tracked, and how many may be", Scope: Namespace, Source: "/proc/sys/net/netfilter",
		look: func(v *view) (map[string]any, error) {
			return readSysctls(filepath.Join(v.root, "proc/sys/net/netfilter"),
				[]string{
					"nf_conntrack_count", "nf_conntrack_max", "nf_conntrack_buckets", "nf_conntrack_tcp_loose",
					"nf_conntrack_tcp_timeout_established", "nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream",
				})
		},
	}
}
