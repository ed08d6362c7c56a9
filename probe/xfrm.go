package probe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// xfrmStat counts the packets that IPsec's policies and states dropped.
func xfrmStat() Probe {
	return Probe{
		Name: "xfrm_stat", Doc: "packets that IPsec's policies and states dropped", Scope: Namespace, Source: "/proc/net/xfrm_stat",
		count: parsed("proc/thread-self/net/xfrm_stat", parseXfrmStat),
	}
}

// parseXfrmStat reads lines of a name and a number.
func parseXfrmStat(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	for line := range bytes.Lines(data) {
		words := bytes.Fields(line)
		if len(words) != 2 {
			return nil, fmt.Errorf("parse counters of xfrm: line %q has not a name and a number", line)
		}
		value, err := parseCounter(words[1])
		if err != nil {
			return nil, fmt.Errorf("parse counters of xfrm: %s: %w", words[0], err)
		}
		if value != 0 {
			counters[string(words[0])] = float64(value)
		}
	}
	return counters, nil
}

// xfrmPolicies lists the policies of IPsec.
func xfrmPolicies() Probe {
	return Probe{
		Name: "xfrm_policies", Doc: "which packets IPsec's policies block or transform", Scope: Namespace, Source: "ip xfrm policy",
		look: func(v *view) (map[string]any, error) {
			dumped, err := v.dump(unix.NETLINK_XFRM, xfrmGetPolicy, nil)
			if err != nil {
				return nil, err
			}
			return parseXfrmPolicies(dumped), nil
		},
	}
}

// The messages of IPsec (include/uapi/linux/xfrm.h), and where struct
// xfrm_userpolicy_info has what is read: a selector, limits, use, priority, index,
// direction and action.
const (
	xfrmNewPolicy    = 0x13
	xfrmGetPolicy    = 0x15
	xfrmSelectorSize = 56
	xfrmDirection    = 160
	xfrmAction       = 161
	xfrmInfoSize     = 168
)

// parseXfrmPolicies reads the answer to XFRM_MSG_GETPOLICY: "src 10.101.0.0/16 dst
// 10.102.0.0/16 dir out", as iproute2 selects it, is "allow" or "block". Policies of
// sockets are left out.
func parseXfrmPolicies(dumped []byte) map[string]any {
	values := map[string]any{}
	for m := range messages(dumped) {
		if m.kind != xfrmNewPolicy || len(m.body) < xfrmInfoSize || m.body[xfrmDirection] > 2 {
			continue
		}
		action := "allow"
		if m.body[xfrmAction] == 1 {
			action = "block"
		}
		values[xfrmSelector(m.body)+" dir "+[]string{"in", "out", "fwd"}[m.body[xfrmDirection]]] = action
	}
	return values
}

// xfrmSelector writes struct xfrm_selector: addresses of 16 bytes, ports and masks,
// family, lengths, protocol.
func xfrmSelector(body []byte) string {
	size := 4
	if family := binary.NativeEndian.Uint16(body[40:]); family != unix.AF_INET {
		size = 16
	}
	address := func(at int, bits byte) string {
		a, _ := netip.AddrFromSlice(body[at : at+size])
		return netip.PrefixFrom(a, int(bits)).String()
	}
	text := "src " + address(16, body[43]) + " dst " + address(0, body[42])
	if protocol := body[44]; protocol != 0 {
		text += " proto " + protocolName(body[44:45])
	}
	for _, port := range []struct {
		name string
		at   int
	}{{"sport", 36}, {"dport", 32}} {
		if body[port.at+2]|body[port.at+3] != 0 {
			text += " " + port.name + " " + strconv.Itoa(int(body[port.at])<<8|int(body[port.at+1]))
		}
	}
	return text
}
