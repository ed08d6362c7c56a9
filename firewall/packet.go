package firewall

import (
	"maps"
	"net/netip"
	"strconv"
	"strings"
)

// Answer is whether a rule holds for a packet.
type Answer int

// The answers, the least first.
const (
	Never Answer = iota
	Perhaps
	Always
)

// Packet is what is known of packets that go the same way, by the key of a match: "ip daddr",
// "th dport", "iifname". What is not known may be anything.
type Packet map[string]Field

// Field is what the packets have at one place.
type Field struct {
	Values []string // each has one of them; a range is a number within
	Also   []string // and some may have one of these
}

// Of is a field of one value, or of several.
func Of(values ...string) Field { return Field{Values: values} }

// ledTo is the packet after a rule gave it another destination, as chains of the same hook see it that
// come later: "10.102.0.2:80", or one of "{ 10.102.0.2:80, 10.102.0.3:80 }".
func (p Packet) ledTo(targets string) Packet {
	led := maps.Clone(p)
	delete(led, "fib daddr type")
	var addresses []string
	for _, one := range strings.Split(strings.Trim(targets, "{ }"), ", ") {
		to, err := netip.ParseAddr(one)
		if with, errPort := netip.ParseAddrPort(one); errPort == nil {
			to, err = with.Addr(), nil
			delete(led, "th dport") // no longer that of the packet
		}
		if err != nil { // a range, or what is not known
			delete(led, "th dport")
			addresses = nil
			break
		}
		addresses = append(addresses, to.String())
	}
	for _, key := range []string{"ip daddr", "ip6 daddr"} {
		if _, has := p[key]; has {
			led[key] = Of(addresses...)
		}
	}
	return led
}

// matches is whether a match holds; element is that of the value of a map with verdicts.
func (p Packet) matches(m Match) Answer {
	best := Never
	for n := range m.Values {
		best = max(best, p.fits(m, n))
	}
	if m.Not {
		best = Always - best
	}
	return best
}

// fits is whether the packet has the n-th value of a match at all of its keys.
func (p Packet) fits(m Match, n int) Answer {
	keys, values := strings.Split(m.Key, withNext), strings.Split(m.Values[n], withNext)
	least := Always
	for at, key := range keys {
		if at >= len(values) {
			return Perhaps
		}
		least = min(least, p.has(key, values[at]))
	}
	return least
}

// has is whether the packet has a value at a key.
func (p Packet) has(key, value string) Answer {
	key, mask, masked := strings.Cut(key, " & ")
	field, known := p[key]
	if !known || len(field.Values) == 0 {
		return Perhaps
	}
	most, least := Never, Always
	for _, is := range field.Values {
		if masked {
			is = and(is, mask)
		}
		answer := within(is, value)
		most, least = max(most, answer), min(least, answer)
	}
	for _, is := range field.Also {
		if within(is, value) != Never {
			most = max(most, Perhaps)
		}
	}
	if least == Always {
		return Always
	}
	return min(most, Perhaps)
}

// within is whether a packet's value is one that a rule names.
func within(is, named string) Answer {
	if is == named || named == "*" {
		return Always
	}
	if prefix, err := netip.ParsePrefix(named); err == nil {
		address, err := netip.ParseAddr(is)
		return sure(err == nil && prefix.Contains(address.Unmap()))
	}
	if start, open := strings.CutSuffix(named, "*"); open {
		return sure(strings.HasPrefix(is, start))
	}
	if first, last, ranged := strings.Cut(named, "-"); ranged {
		from, err1 := netip.ParseAddr(first)
		to, err2 := netip.ParseAddr(last)
		if address, err := netip.ParseAddr(is); err1 == nil && err2 == nil && err == nil {
			return sure(from.Compare(address) <= 0 && address.Compare(to) <= 0)
		}
	}
	low, high, number := span(is)
	first, last, numbers := span(named)
	switch {
	case !number || !numbers || high < first || last < low:
		return Never
	case first <= low && high <= last:
		return Always
	}
	return Perhaps
}

func sure(holds bool) Answer {
	if holds {
		return Always
	}
	return Never
}

// span reads a number, or the first and last of several.
func span(text string) (low, high uint64, ok bool) {
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		last = first
	}
	low, err1 := strconv.ParseUint(first, 0, 64)
	high, err2 := strconv.ParseUint(last, 0, 64)
	return low, high, err1 == nil && err2 == nil
}

// and applies a mask to a number; what is none stays.
func and(text, mask string) string {
	low, high, number := span(text)
	bits, _, masks := span(mask)
	if !number || !masks || low != high {
		return text
	}
	return strconv.FormatUint(low&bits, 10)
}
