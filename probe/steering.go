package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// steering reads which CPUs each queue's packets are handed to.
func steering() Probe {
	return Probe{
		Name: "steering", Doc: "CPUs that receive (RPS) and send (XPS) each queue's packets", Scope: Namespace, Source: "/sys/class/net/*/queues",
		look: func(v *view) (map[string]any, error) {
			values := map[string]any{}
			for _, file := range []string{"rx-*/rps_cpus", "tx-*/xps_cpus"} {
				found, err := filepath.Glob(filepath.Join(v.root, "sys/class/net/*/queues", file))
				if err != nil {
					return nil, err
				}
				for _, path := range found {
					text, err := os.ReadFile(path)
					if err != nil {
						continue // a device with one queue has no XPS, and returns an error
					}
					queue := filepath.Dir(path)
					device := filepath.Base(filepath.Dir(filepath.Dir(queue)))
					values[device+"."+filepath.Base(queue)+"."+filepath.Base(path)] = mask(string(text))
				}
			}
			return values, nil
		},
	}
}

// mask is a CPU mask without its leading zeros: "0" where no CPU is chosen.
func mask(text string) string {
	short := strings.TrimLeft(strings.TrimSpace(text), "0,")
	if short == "" {
		return "0"
	}
	return short
}

// legacyTables names the tables of the older iptables, which nft does not show.
func legacyTables() Probe {
	return Probe{
		Name: "legacy_tables", Doc: "tables of iptables-legacy", Scope: Namespace, Source: "/proc/net/ip_tables_names",
		look: func(v *view) (map[string]any, error) {
			data, err := v.read("proc/thread-self/net/ip_tables_names")
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil // the kernel has none
			}
			if err != nil {
				return nil, err
			}
			values := map[string]any{}
			for _, table := range strings.Fields(string(data)) {
				values[table] = true
			}
			return values, nil
		},
	}
}
