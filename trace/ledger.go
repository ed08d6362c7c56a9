package trace

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"
)

// Loss is how packets were lost. Counters of the kernel may
// report the same packets; here each packet is counted once.
type Loss struct {
	Reason   string // the kernel's, as NETFILTER_DROP (enum skb_drop_reason)
	At       string // "h1/c1"
	Device   string // that it was on; empty: none
	Function string // of the kernel that freed it
	Mine     bool   // of the workload, by its port
}

// Harmless reports whether nothing was lost that an end waits for: duplicates,
// and data that was not read before its socket was closed.
func (l Loss) Harmless() bool {
	switch l.Reason {
	case "QUEUE_PURGE", "TCP_OLD_DATA", "TCP_OLD_SEQUENCE", "TCP_OLD_ACK", "SOCKET_CLOSE", "TCP_CLOSE", "TCP_ABORT_ON_DATA":
		return true
	}
	return false
}

// lossKey is a key of the map losses.
type lossKey struct {
	Location             uint64
	Reason, Network, Dev uint32
	Mine                 uint32
}

func (t *Tracer) readLosses() (map[Loss]uint64, error) {
	lost := map[Loss]uint64{}
	var key lossKey
	var packets uint64
	entries := t.path.Maps["losses"].Iterate()
	for entries.Next(&key, &packets) {
		network := t.networks[key.Network]
		lost[Loss{
			Reason: t.reason(key.Reason), At: network.At, Device: network.Devices[key.Dev].Name,
			Function: t.symbols.of(key.Location), Mine: key.Mine == 1,
		}] += packets
	}
	return lost, entries.Err()
}

// reason names a drop reason. Those above 16 bits are a subsystem's own
// (include/net/dropreason.h).
func (t *Tracer) reason(number uint32) string {
	if name, known := t.reasons[number]; known {
		return name
	}
	return fmt.Sprintf("reason %d of subsystem %d", number&0xffff, number>>16)
}

// dropReasons are the reasons that the running kernel knows: their numbers move
// between versions.
func dropReasons() (map[uint32]string, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("read BTF: %w", err)
	}
	var reasons *btf.Enum
	if err := spec.TypeByName("skb_drop_reason", &reasons); err != nil {
		return nil, fmt.Errorf("read names of drop reasons: %w", err)
	}
	names := map[uint32]string{}
	for _, value := range reasons.Values {
		names[uint32(value.Value)] = strings.TrimPrefix(strings.TrimPrefix(value.Name, "SKB_"), "DROP_REASON_")
	}
	return names, nil
}
