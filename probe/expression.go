package probe

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/firewall"
)

// decoder reads the expressions of one rule: a program over registers
// (net/netfilter/nf_tables_core.c), of which each match is a value that was loaded and one that it
// is compared with.
type decoder struct {
	names   map[uint32]string // of devices
	sets    map[string]*set   // by "FAMILY TABLE NAME"
	family  string
	table   string
	network string          // "ip" or "ip6", as far as the rule knows
	slots   map[int]operand // registers of four bytes
	rule    firewall.Rule
}

// operand is what a register holds.
type operand struct {
	key     string // "ip daddr"; empty: what is in data
	size    int    // bytes
	mask    []byte
	changed []byte // the bits beside the mask, where they are set
	data    []byte
	chosen  []string // of a map: the values that it may give
}

// nested are the attributes of an expression or of another nest, by number.
func nested(data []byte) map[uint16][]byte {
	found := map[uint16][]byte{}
	for kind, value := range attributes(data, 0) {
		found[kind] = value
	}
	return found
}

// slot is where a register begins: each of the first four is 16 bytes (NFT_REG_1), those from
// NFT_REG32_00 on are four.
func slot(register []byte) int {
	n := int(big32(register))
	if n >= unix.NFT_REG32_00 {
		return n - unix.NFT_REG32_00
	}
	return 4 * (n - 1)
}

// add reads one expression.
func (d *decoder) add(name string, data []byte) {
	a := nested(data)
	switch name {
	case "immediate":
		if fate := verdict(data); fate != "" {
			d.act(fate)
		} else {
			d.load(a[unix.NFTA_IMMEDIATE_DREG], operand{data: literal(a[unix.NFTA_IMMEDIATE_DATA])})
		}
	case "payload":
		key, size := d.payload(a), int(big32(a[unix.NFTA_PAYLOAD_LEN]))
		d.loadOrSet(a[unix.NFTA_PAYLOAD_DREG], a[unix.NFTA_PAYLOAD_SREG], key, size)
	case "meta":
		key := metaKey(big32(a[unix.NFTA_META_KEY]))
		d.loadOrSet(a[unix.NFTA_META_DREG], a[unix.NFTA_META_SREG], key, metaSize(key))
	case "ct":
		key := "ct " + strconv.Itoa(int(big32(a[unix.NFTA_CT_KEY])))
		if big32(a[unix.NFTA_CT_KEY]) == unix.NFT_CT_STATE {
			key = stateKey
		}
		d.loadOrSet(a[unix.NFTA_CT_DREG], a[unix.NFTA_CT_SREG], key, 4)
	case "exthdr":
		d.header(a)
	case "bitwise":
		from := d.slots[slot(a[unix.NFTA_BITWISE_SREG])]
		from.mask, from.changed = literal(a[unix.NFTA_BITWISE_MASK]), literal(a[unix.NFTA_BITWISE_XOR])
		d.load(a[unix.NFTA_BITWISE_DREG], from)
	case "byteorder":
		d.load(a[unix.NFTA_BYTEORDER_DREG], d.slots[slot(a[unix.NFTA_BYTEORDER_SREG])])
	case "fib":
		const destination, kind = 2, 3 // NFTA_FIB_F_DADDR, NFT_FIB_RESULT_ADDRTYPE
		key := name
		if big32(a[unix.NFTA_FIB_FLAGS]) == destination && big32(a[unix.NFTA_FIB_RESULT]) == kind {
			key = "fib daddr type"
		}
		d.load(a[unix.NFTA_FIB_DREG], operand{key: key, size: 4})
	case "numgen", "hash", "rt", "socket", "osf", "tunnel", "xfrm", "symhash":
		d.load(register(a, name), operand{key: name, size: 4})
	case "cmp":
		d.compare(slot(a[unix.NFTA_CMP_SREG]), big32(a[unix.NFTA_CMP_OP]), literal(a[unix.NFTA_CMP_DATA]))
	case "range":
		d.span(a)
	case "lookup":
		d.lookup(a)
	case "limit", "quota", "connlimit":
		d.match(firewall.Match{Key: name, Values: []string{limitText(name, a)}})
	case "match":
		d.xtables(word(a[unix.NFTA_MATCH_NAME]), a[unix.NFTA_MATCH_INFO])
	case "target":
		d.act(xtTarget(word(a[unix.NFTA_TARGET_NAME]), big32(a[unix.NFTA_TARGET_REV]), a[unix.NFTA_TARGET_INFO]))
	default:
		d.act(d.statement(name, a))
	}
}

// register is where a loading expression puts its value.
func register(a map[uint16][]byte, name string) []byte {
	switch name {
	case "hash":
		return a[unix.NFTA_HASH_DREG]
	case "xfrm":
		return a[4] // NFTA_XFRM_DREG is the first, but of 64 bits before it
	}
	return a[1]
}

func (d *decoder) load(register []byte, value operand) {
	if len(register) > 0 {
		d.slots[slot(register)] = value
	}
}

// loadOrSet is a load of a packet's value, or where it names a source register a change of it.
func (d *decoder) loadOrSet(to, from []byte, key string, size int) {
	if len(from) == 0 {
		d.load(to, operand{key: key, size: size})
		return
	}
	if key == "meta l4proto" || key == "ip6 hoplimit" { // it is written with the byte beside it
		key = "ip ttl"
	}
	d.act(key + " set " + d.text(from, key))
}

// text is what a register holds, as a value of a key.
func (d *decoder) text(register []byte, key string) string {
	if len(register) == 0 {
		return ""
	}
	o := d.slots[slot(register)]
	switch {
	case o.chosen != nil:
		return "{ " + strings.Join(o.chosen, ", ") + " }"
	case o.data == nil:
		for n := range min(len(o.mask), len(o.changed)) {
			if o.mask[n] == 0 {
				o.data = append(o.data, o.changed[n])
			}
		}
	}
	if o.data == nil {
		return "?"
	}
	return format(key, o.data, d.names)
}

func (d *decoder) match(m firewall.Match) { d.rule.Matches = append(d.rule.Matches, m) }

func (d *decoder) act(text string) {
	if text != "" {
		d.rule.Acts = append(d.rule.Acts, text)
	}
}

// compare is "ip daddr = 10.102.0.2", "tcp dport = 0-1023", "ct state = { new, related }".
func (d *decoder) compare(at int, op uint32, value []byte) {
	o := d.slots[at]
	if o.key == "" {
		d.match(firewall.Match{Key: "?", Values: []string{"?"}})
		return
	}
	m := firewall.Match{Key: o.key, Not: op == unix.NFT_CMP_NEQ, Values: []string{format(o.key, value, d.names)}}
	number, most := bigNumber(value), uint64(1)<<(8*min(len(value), 7))-1
	switch {
	case o.key == stateKey && o.mask != nil:
		m.Values, m.Not = states(number32(o.mask)), op == unix.NFT_CMP_EQ
	case op == unix.NFT_CMP_LT:
		m.Values = []string{fmt.Sprintf("0-%d", max(number, 1)-1)}
	case op == unix.NFT_CMP_LTE:
		m.Values = []string{fmt.Sprintf("0-%d", number)}
	case op == unix.NFT_CMP_GT:
		m.Values = []string{fmt.Sprintf("%d-%d", number+1, most)}
	case op == unix.NFT_CMP_GTE:
		m.Values = []string{fmt.Sprintf("%d-%d", number, most)}
	case o.mask != nil && isAddress(o.key):
		m.Values = []string{prefixOf(o.key, value, ones(o.mask))}
	case o.mask != nil:
		m.Key = fmt.Sprintf("%s & 0x%x", o.key, bigNumber(o.mask))
	}
	switch m.Values[0] {
	case "ipv4", "ip":
		d.network = "ip"
	case "ipv6", "ip6":
		d.network = "ip6"
	}
	d.match(m)
}

// span is a match of a range.
func (d *decoder) span(a map[uint16][]byte) {
	o := d.slots[slot(a[unix.NFTA_RANGE_SREG])]
	from, to := literal(a[unix.NFTA_RANGE_FROM_DATA]), literal(a[unix.NFTA_RANGE_TO_DATA])
	d.match(firewall.Match{
		Key: o.key, Not: big32(a[unix.NFTA_RANGE_OP]) == unix.NFT_RANGE_NEQ,
		Values: []string{format(o.key, from, d.names) + "-" + format(o.key, to, d.names)},
	})
}

// lookup is a match of a set, or takes from a map a verdict or a value.
func (d *decoder) lookup(a map[uint16][]byte) {
	name := word(a[unix.NFTA_LOOKUP_SET])
	s, at := d.sets[d.family+" "+d.table+" "+name], slot(a[unix.NFTA_LOOKUP_SREG])
	if s == nil || len(s.elements) > mostElements {
		d.match(firewall.Match{Key: "?", Values: []string{"@" + name}})
		return
	}
	var keys []operand
	for size := 0; size < s.keySize; {
		o, known := d.slots[at+size/4]
		if !known || o.size == 0 {
			o = operand{key: "?", size: s.keySize - size}
		}
		if s.keySize <= 16 && size == 0 && o.size > s.keySize {
			o.size = s.keySize
		}
		keys, size = append(keys, o), size+aligned(o.size)
	}
	m := s.match(keys, d.names)
	switch {
	case a[unix.NFTA_LOOKUP_DREG] != nil && s.verdicts:
		d.match(m)
		if strings.HasPrefix(name, "__") {
			name = ""
		}
		if name != "" {
			d.rule.Acts = append(d.rule.Acts, "map "+name)
		}
	case a[unix.NFTA_LOOKUP_DREG] != nil:
		chosen := m.Verdicts
		m.Verdicts = nil
		if keys[0].key != "numgen" && keys[0].key != "hash" {
			d.match(m)
		}
		d.load(a[unix.NFTA_LOOKUP_DREG], operand{chosen: chosen})
	default:
		m.Not, m.Verdicts = big32(a[unix.NFTA_LOOKUP_FLAGS])&unix.NFT_LOOKUP_F_INV != 0, nil
		d.match(m)
	}
}

// literal is the value of a nest of data.
func literal(data []byte) []byte { return nested(data)[unix.NFTA_DATA_VALUE] }

// bigNumber is a number of the network's byte order, of at most eight bytes.
func bigNumber(value []byte) uint64 {
	var wide [8]byte
	if len(value) > len(wide) {
		value = value[len(value)-len(wide):]
	}
	copy(wide[len(wide)-len(value):], value)
	return binary.BigEndian.Uint64(wide[:])
}
