package probe

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tare/firewall"
)

// Of nftables.
const (
	nftGetSet        = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETSET
	nftNewSet        = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWSET
	nftGetElements   = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETSETELEM
	nftNewElements   = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWSETELEM
	setElementKeyEnd = 10 // NFTA_SET_ELEM_KEY_END
)

// mostElements is how many elements of a set a rule's text has; mostSets how many sets are read.
const (
	mostElements = 64
	mostSets     = 200
)

// set is a set of nftables or a map.
type set struct {
	family      byte
	table, name string
	keySize     int
	intervals   bool
	verdicts    bool
	elements    []element
}

// element is one value of a set, or the first and last of several.
type element struct {
	from, to []byte
	ends     bool // it only ends the interval before it
	gives    string
}

// nftSets reads the sets of a namespace, by family, table and name.
func (v *view) nftSets() (map[string]*set, error) {
	dumped, err := v.dump(unix.NETLINK_NETFILTER, nftGetSet, make([]byte, nfgenSize))
	if err != nil {
		return nil, err
	}
	sets := map[string]*set{}
	for m := range messages(dumped) {
		if m.kind == nftNewSet && len(sets) < mostSets && len(m.body) > 0 {
			s := parseSet(m.body)
			sets[family(m.body)+" "+s.table+" "+s.name] = s
		}
	}
	for _, s := range sets {
		request := append([]byte{s.family, 0, 0, 0}, attribute(unix.NFTA_SET_ELEM_LIST_TABLE, append([]byte(s.table), 0))...)
		request = append(request, attribute(unix.NFTA_SET_ELEM_LIST_SET, append([]byte(s.name), 0))...)
		if dumped, err = v.dump(unix.NETLINK_NETFILTER, nftGetElements, request); err != nil {
			return nil, fmt.Errorf("list the set %s: %w", s.name, err)
		}
		s.addElements(dumped)
	}
	return sets, nil
}

func parseSet(body []byte) *set {
	s := &set{family: body[0]}
	for kind, value := range attributes(body, nfgenSize) {
		switch kind {
		case unix.NFTA_SET_TABLE:
			s.table = word(value)
		case unix.NFTA_SET_NAME:
			s.name = word(value)
		case unix.NFTA_SET_FLAGS:
			s.intervals = big32(value)&unix.NFT_SET_INTERVAL != 0
		case unix.NFTA_SET_KEY_LEN:
			s.keySize = int(big32(value))
		case unix.NFTA_SET_DATA_TYPE:
			s.verdicts = big32(value) == unix.NFT_DATA_VERDICT
		}
	}
	return s
}

// addElements reads the answer to NFT_MSG_GETSETELEM.
func (s *set) addElements(dumped []byte) {
	for m := range messages(dumped) {
		if m.kind != nftNewElements {
			continue
		}
		for kind, list := range attributes(m.body, nfgenSize) {
			if kind != unix.NFTA_SET_ELEM_LIST_ELEMENTS {
				continue
			}
			for _, one := range attributes(list, 0) {
				s.elements = append(s.elements, s.element(nested(one)))
			}
		}
	}
	// The kernel lists them by a hash that differs each time: the text of a rule must not.
	slices.SortStableFunc(s.elements, func(a, b element) int { return bytes.Compare(a.from, b.from) })
	if s.intervals {
		s.join()
	}
}

func (s *set) element(a map[uint16][]byte) element {
	e := element{from: literal(a[unix.NFTA_SET_ELEM_KEY]), to: literal(a[setElementKeyEnd])}
	e.ends = big32(a[unix.NFTA_SET_ELEM_FLAGS])&unix.NFT_SET_ELEM_INTERVAL_END != 0
	data := a[unix.NFTA_SET_ELEM_DATA]
	switch given := literal(data); {
	case data == nil:
	case s.verdicts:
		e.gives = decided(nested(data)[unix.NFTA_DATA_VERDICT])
	case len(given) == 8 && s.family == unix.NFPROTO_IPV4: // an address and a port
		e.gives = fmt.Sprintf("%s:%d", format("ip daddr", given[:4], nil), big16(given[4:]))
	case len(given) == 4 || len(given) == 16:
		e.gives = format("ip daddr", given, nil)
	default:
		e.gives = format("", given, nil)
	}
	return e
}

// join gives each of the sorted elements that begins an interval its last value: the one before the next
// element. Those with an end of their parts have it already.
func (s *set) join() {
	var joined []element
	for n, e := range s.elements {
		if e.ends {
			continue
		}
		if e.to == nil && n+1 < len(s.elements) {
			e.to = before(s.elements[n+1].from)
		} else if e.to == nil {
			e.to = bytes.Repeat([]byte{0xff}, len(e.from))
		}
		joined = append(joined, e)
	}
	s.elements = joined
}

// before is the number before another.
func before(value []byte) []byte {
	less := bytes.Clone(value)
	for n := len(less) - 1; n >= 0; n-- {
		less[n]--
		if less[n] != 0xff {
			break
		}
	}
	return less
}

// match is the comparison of what registers hold with the elements, and what a map gives for each.
func (s *set) match(keys []operand, names map[uint32]string) firewall.Match {
	var m firewall.Match
	parts := make([]string, len(keys))
	for n, key := range keys {
		parts[n] = key.key
	}
	m.Key = strings.Join(parts, " . ")
	for _, e := range s.elements {
		at, values := 0, make([]string, len(keys))
		for n, key := range keys {
			last := min(at+key.size, len(e.from))
			if at > last {
				return firewall.Match{Key: "?", Values: []string{"@" + s.name}, Verdicts: m.Verdicts}
			}
			values[n] = format(key.key, e.from[at:last], names)
			if len(e.to) >= last && e.to != nil && !bytes.Equal(e.from[at:last], e.to[at:last]) {
				values[n] += "-" + format(key.key, e.to[at:last], names)
			}
			at += aligned(key.size)
		}
		m.Values = append(m.Values, strings.Join(values, " . "))
		m.Verdicts = append(m.Verdicts, e.gives)
	}
	if len(s.elements) == 0 {
		m.Values, m.Verdicts = []string{}, []string{}
	}
	return m
}
