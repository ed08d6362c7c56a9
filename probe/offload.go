package probe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// offloads reads what each device takes off the CPU.
func offloads() Probe {
	return Probe{
		Name: "offloads", Doc: "segmentation, checksum and merging of each device", Scope: Namespace, Source: "ethtool -k",
		look: func(v *view) (map[string]any, error) {
			family, err := v.genericFamily("ethtool")
			if err != nil {
				return nil, err
			}
			dumped, err := v.dump(unix.NETLINK_GENERIC, family, []byte{unix.ETHTOOL_MSG_FEATURES_GET, 1, 0, 0})
			if err != nil {
				return nil, err
			}
			return parseFeatures(dumped, wantedFeatures()), nil
		},
	}
}

// wantedFeatures are those that decide how large packets stay, and who sums
// them.
func wantedFeatures() []string {
	return []string{
		"tx-tcp-segmentation", "tx-generic-segmentation", "tx-udp-segmentation", "rx-gro", "rx-gro-list", "rx-gro-hw", "rx-lro",
		"tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation", "tx-gre-segmentation", "tx-ipxip4-segmentation",
		"tx-checksum-ip-generic", "tx-checksum-ipv4", "rx-checksum", "tx-scatter-gather", "rx-udp-gro-forwarding",
	}
}

const genericSize = 4 // struct genlmsghdr

// genericFamily finds the number of a family of generic netlink.
func (v *view) genericFamily(name string) (uint16, error) {
	request := []byte{unix.CTRL_CMD_GETFAMILY, 1, 0, 0}
	request = append(request, attribute(unix.CTRL_ATTR_FAMILY_NAME, append([]byte(name), 0))...)
	answer, err := v.exchange(unix.NETLINK_GENERIC, unix.GENL_ID_CTRL, 0, request)
	if err != nil {
		return 0, err
	}
	for m := range messages(answer) {
		for kind, value := range attributes(m.body, genericSize) {
			if kind == unix.CTRL_ATTR_FAMILY_ID && len(value) >= 2 {
				return binary.NativeEndian.Uint16(value), nil
			}
		}
	}
	return 0, fmt.Errorf("find netlink family %s: %w", name, unix.EOPNOTSUPP)
}

// parseFeatures reads the answer to ETHTOOL_MSG_FEATURES_GET (Linux 5.6): which
// of the wanted features are on, "eth0.rx-gro". One that a device does not name
// is off.
func parseFeatures(dumped []byte, wanted []string) map[string]any {
	values := map[string]any{}
	for m := range messages(dumped) {
		if len(m.body) < genericSize || m.body[0] != unix.ETHTOOL_MSG_FEATURES_GET_REPLY {
			continue
		}
		device, active := "", []string(nil)
		for kind, value := range attributes(m.body, genericSize) {
			switch kind {
			case unix.ETHTOOL_A_FEATURES_HEADER:
				for kind, name := range attributes(value, 0) {
					if kind == unix.ETHTOOL_A_HEADER_DEV_NAME {
						device = word(name)
					}
				}
			case unix.ETHTOOL_A_FEATURES_ACTIVE:
				active = bitNames(value)
			}
		}
		for _, feature := range wanted {
			if device != "" {
				values[device+"."+feature] = slices.Contains(active, feature)
			}
		}
	}
	return values
}

// bitNames are the names of the bits that are set in a verbose bit set.
func bitNames(set []byte) []string {
	var names []string
	for kind, bits := range attributes(set, 0) {
		if kind != unix.ETHTOOL_A_BITSET_BITS {
			continue
		}
		for _, bit := range attributes(bits, 0) {
			for kind, name := range attributes(bit, 0) {
				if kind == unix.ETHTOOL_A_BITSET_BIT_NAME {
					names = append(names, word(name))
				}
			}
		}
	}
	return names
}
