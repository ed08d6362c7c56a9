package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// native32 is a number as an attribute has it.
func native32(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

// replies joins answers of one kind.
func replies(kind uint16, bodies ...[]byte) (dumped []byte) {
	for _, body := range bodies {
		dumped = append(dumped, attributeless(kind, 0, body)...)
	}
	return dumped
}

// A rule of a cloud's plugin sends what a second interface's container sends to a table of
// its own (aws/amazon-vpc-cni-k8s#75).
func TestParsePolicies(t *testing.T) {
	header := func(family, to, from, table, action byte, flags uint32) []byte {
		return append([]byte{family, to, from, 0, table, 0, 0, action}, native32(flags)...)
	}
	address := func(text string) []byte { return netip.MustParseAddr(text).AsSlice() }
	got := parsePolicies(replies(unix.RTM_NEWRULE,
		slices.Concat(header(unix.AF_INET, 0, 32, 77, 1, 0), attribute(rulePriority, native32(512)), attribute(ruleFrom, address("10.102.0.2")), attribute(ruleTable, native32(77))),
		slices.Concat(header(unix.AF_INET, 16, 16, 0, 8, 0), attribute(ruleTo, address("10.102.0.0")), attribute(ruleFrom, address("10.101.0.0"))),
		slices.Concat(header(unix.AF_INET6, 0, 0, 0, 1, ruleInverted), attribute(ruleMark, native32(0xca6c)), attribute(ruleTable, native32(51820))),
		slices.Concat(header(unix.AF_INET, 0, 0, 254, 1, 0), attribute(ruleShortest, native32(0))),
		slices.Concat(header(unix.AF_INET, 0, 0, 0, 7, 0), attribute(ruleProtocol, []byte{unix.IPPROTO_TCP}), attribute(rulePort, []byte{0x5a, 0x14, 0x5a, 0x14}), attribute(ruleIn, []byte("br0\x00"))),
	))
	var texts []string
	for _, p := range got {
		texts = append(texts, fmt.Sprintf("%d %s", p.Priority, p))
	}
	want := []string{
		"512 from 10.102.0.2/32 lookup 77", "0 from 10.101.0.0/16 to 10.102.0.0/16 prohibit", "0 not from all fwmark 0xca6c lookup 51820",
		"0 from all lookup main suppress_prefixlength 0", "0 from all iif br0 ipproto tcp dport 5210 unreachable",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}

func TestParseRouteOfSeveralHops(t *testing.T) {
	hop := func(device uint32, via string) []byte {
		gateway := attribute(unix.RTA_GATEWAY, netip.MustParseAddr(via).AsSlice())
		return append(append(binary.NativeEndian.AppendUint16(nil, uint16(8+len(gateway))), 0, 0), append(native32(device), gateway...)...)
	}
	metrics := append(attribute(unix.RTAX_MTU, native32(600)), attribute(unix.RTAX_LOCK, native32(1<<unix.RTAX_MTU))...)
	body := slices.Concat([]byte{unix.AF_INET, 16, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, 0, unix.RTN_UNICAST}, native32(0),
		attribute(unix.RTA_DST, []byte{10, 102, 0, 0}), attribute(unix.RTA_MULTIPATH, append(hop(3, "10.0.0.2"), hop(3, "10.0.0.9")...)), attribute(unix.RTA_METRICS, metrics))
	got, err := parseRoutes(replies(unix.RTM_NEWROUTE, body), map[uint32]string{3: "eth0"})
	if want := "10.102.0.0/16 mtu lock 600 nexthop via 10.0.0.2 dev eth0 nexthop via 10.0.0.9 dev eth0"; err != nil || len(got) != 1 || got[0].String() != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

// A policy that IPsec left behind (moby#30766), and one that blocks.
func TestParseXfrm(t *testing.T) {
	policy := func(direction, action byte) []byte {
		body := make([]byte, xfrmInfoSize)
		copy(body, []byte{10, 102, 0, 0})
		copy(body[16:], []byte{10, 101, 0, 0})
		binary.NativeEndian.PutUint16(body[40:], unix.AF_INET)
		body[42], body[43], body[xfrmDirection], body[xfrmAction] = 16, 16, direction, action
		return body
	}
	has(t, parseXfrmPolicies(replies(xfrmNewPolicy, policy(1, 0), policy(2, 1), policy(3, 0))), map[string]any{
		"src 10.101.0.0/16 dst 10.102.0.0/16 dir out": "allow", "src 10.101.0.0/16 dst 10.102.0.0/16 dir fwd": "block",
	})
	counted, err := parseXfrmStat([]byte("XfrmInError             \t0\nXfrmOutNoStates         \t5\n"))
	if err != nil || len(counted) != 1 || counted["XfrmOutNoStates"] != 5 {
		t.Errorf("%v, %v, want the one that is not zero", counted, err)
	}
	if _, err := parseXfrmStat([]byte("XfrmInError\n")); err == nil {
		t.Error("a line without a number is read")
	}
}

// A filter that a removed plugin left behind leads packets elsewhere (cilium#17292); a
// program counts nothing.
func TestParseFilters(t *testing.T) {
	message := func(kind string, handle uint32, options []byte) []byte {
		header := slices.Concat(make([]byte, 4), native32(3), native32(handle), native32(tcIngress), native32(1<<16|0x0008))
		return slices.Concat(header, attribute(tcaKind, append([]byte(kind), 0)), attribute(tcaOptions, options))
	}
	stats := attribute(4, attribute(tcaStatsBasic, append(make([]byte, 8), native32(240)...)))
	act := func(kind string, given []byte) []byte {
		return attribute(1, slices.Concat(attribute(1, append([]byte(kind), 0)), attribute(2, attribute(2, given)), stats))
	}
	redirect := slices.Concat(make([]byte, 20), native32(1), native32(4))
	drop := slices.Concat(make([]byte, 8), native32(2), make([]byte, 8))
	got := parseFilters(replies(unix.RTM_NEWTFILTER,
		message("u32", 0x800<<20, nil),
		message("u32", 0x800<<20|0x800, attribute(7, act("mirred", redirect))),
		message("flower", 1, attribute(3, act("gact", drop))),
		message("bpf", 1, attribute(8, native32(1))),
	), map[uint32]string{3: "eth0", 4: "stray0"}, "ingress")
	want := []filter{
		{name: "eth0 ingress protocol ip pref 1 handle 800::800 u32", fate: "redirect stray0", packets: 240},
		{name: "eth0 ingress protocol ip pref 1 handle 0x1 flower", fate: "drop", packets: 240},
		{name: "eth0 ingress protocol ip pref 1 handle 0x1 bpf", fate: "program"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func FuzzParseRouting(f *testing.F) {
	f.Add(netlink(f, "routes"))
	f.Add(netlink(f, "qdiscs"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, p := range parsePolicies(data) {
			_ = p.String()
		}
		parseXfrmPolicies(data)
		parseFilters(data, map[uint32]string{2: "eth0", 3: "veth-c1"}, "ingress")
	})
}
