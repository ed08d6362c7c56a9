package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sysctls reads the settings of the namespace that decide whether and how fast
// packets pass.
func sysctls() Probe {
	return Probe{
		Name: "sysctls", Doc: "settings that decide whether and how fast packets pass", Scope: Namespace, Source: "/proc/sys/net",
		look: func(v *view) (map[string]any, error) {
			return readSysctls(filepath.Join(v.root, "proc/sys/net"), settings())
		},
	}
}

// settings are the names below /proc/sys/net, * for any device; some belong to the machine's
// first namespace alone.
func settings() []string {
	return []string{
		"core/rmem_default", "core/rmem_max", "core/wmem_default", "core/wmem_max",
		"core/netdev_budget", "core/netdev_budget_usecs", "core/netdev_max_backlog", "core/somaxconn", "core/default_qdisc",
		"ipv4/ip_forward", "ipv4/ip_local_port_range", "ipv4/ip_no_pmtu_disc", "ipv4/icmp_ratelimit",
		"ipv4/ip_local_reserved_ports", "ipv4/ip_default_ttl", "ipv4/ipfrag_high_thresh",
		"ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/tcp_congestion_control", "ipv4/tcp_mtu_probing", "ipv4/tcp_base_mss", "ipv4/tcp_max_syn_backlog",
		"ipv4/tcp_window_scaling", "ipv4/tcp_sack", "ipv4/tcp_dsack", "ipv4/tcp_timestamps", "ipv4/tcp_tw_reuse", "ipv4/tcp_syncookies",
		"ipv4/tcp_ecn", "ipv4/tcp_ecn_option", "ipv4/tcp_fastopen", "ipv4/tcp_limit_output_bytes", "ipv4/tcp_notsent_lowat",
		"ipv4/tcp_slow_start_after_idle", "ipv4/tcp_moderate_rcvbuf", "ipv4/tcp_adv_win_scale", "ipv4/tcp_shrink_window",
		"ipv4/tcp_autocorking", "ipv4/tcp_recovery", "ipv4/tcp_early_retrans", "ipv4/tcp_no_metrics_save", "ipv4/tcp_min_snd_mss",
		"ipv4/conf/*/rp_filter", "ipv4/conf/*/forwarding", "ipv4/conf/*/arp_ignore", "ipv4/conf/*/proxy_arp",
		"ipv6/conf/all/forwarding", "ipv6/conf/*/disable_ipv6", "ipv6/conf/*/hop_limit", "ipv6/ip6frag_high_thresh",
		"bridge/bridge-nf-call-iptables", "bridge/bridge-nf-call-ip6tables",
	}
}

// readSysctls reads settings below a folder. One that this kernel or namespace
// does not have, or whose device has just gone, is left out; none at all is an error.
func readSysctls(base string, patterns []string) (map[string]any, error) {
	var names []string
	for _, pattern := range patterns {
		if !strings.Contains(pattern, "*") {
			names = append(names, pattern)
			continue
		}
		found, err := fs.Glob(os.DirFS(base), pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	values := map[string]any{}
	var missing error
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(base, name))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			missing = err
		case err != nil:
			return nil, err
		default:
			values[name] = setting(text)
		}
	}
	if len(values) == 0 {
		return nil, missing
	}
	return values, nil
}

// setting is a number where it is one; several are words between single spaces.
func setting(text []byte) any {
	words := strings.Join(strings.Fields(string(text)), " ")
	if n, err := strconv.ParseInt(words, 10, 64); err == nil {
		return n
	}
	return words
}
