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
			base := filepath.Join(v.root, "proc/sys/net")
			values, err := readSysctls(base, settings())
			if err != nil {
				return nil, err
			}
			for _, name := range []string{"rp_filter", "forwarding", "arp_ignore", "proxy_arp"} {
				found, err := filepath.Glob(filepath.Join(base, "ipv4/conf/*", name))
				if err != nil {
					return nil, err
				}
				for _, path := range found {
					device := filepath.Base(filepath.Dir(path))
					if text, err := os.ReadFile(path); err == nil { // else the device has just gone
						values["ipv4/conf/"+device+"/"+name] = setting(text)
					}
				}
			}
			return values, nil
		},
	}
}

// settings are the names below /proc/sys/net; some belong to the machine's
// first namespace alone.
func settings() []string {
	return []string{
		"core/rmem_default", "core/rmem_max", "core/wmem_default", "core/wmem_max",
		"core/netdev_budget", "core/netdev_budget_usecs", "core/netdev_max_backlog", "core/somaxconn", "core/default_qdisc",
		"ipv4/ip_forward", "ipv4/ip_local_port_range", "ipv4/ip_no_pmtu_disc", "ipv4/icmp_ratelimit",
		"ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/tcp_congestion_control", "ipv4/tcp_mtu_probing", "ipv4/tcp_max_syn_backlog",
		"ipv4/tcp_window_scaling", "ipv4/tcp_sack", "ipv4/tcp_timestamps", "ipv4/tcp_tw_reuse", "ipv4/tcp_syncookies",
		"bridge/bridge-nf-call-iptables",
	}
}

// readSysctls reads settings below a folder. One that this kernel or namespace
// does not have is left out; none at all is an error.
func readSysctls(base string, names []string) (map[string]any, error) {
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
