package diagnose

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// doc is the page that explains a cause.
func doc(id string) string { return "docs/causes.md#" + id }

// keys are those of a map, in order.
func keys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// sorted is a list in order.
func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// trialFailed is the evidence of the first trial that failed, and where its packets
// were lost; empty where all trials passed.
func (e *Evidence) trialFailed() result.Evidence {
	t, failed := e.failed()
	if !failed {
		return result.Evidence{}
	}
	evidence := said(t)
	if l := e.lost(t); l.known {
		evidence.Value = l.where()
	}
	return evidence
}

// devices are those of a place that saw packets of the trials, in this order; of a
// measured cell, those that carried its packets.
func (e *Evidence) devices(at string) []string {
	if e.Cell != nil {
		return e.carriers(at)
	}
	var found []string
	for _, t := range e.Trials {
		for _, s := range t.Seen {
			if s.At == at && !slices.Contains(found, s.Device) {
				found = append(found, s.Device)
			}
		}
	}
	return found
}

// owner is the place on the path that has an address; empty: none.
func (e *Evidence) owner(address string) string {
	for _, at := range e.Places {
		if e.deviceOf(at, address) != "" {
			return at
		}
	}
	return ""
}

// deviceOf is the device of a place that has an address; empty: none.
func (e *Evidence) deviceOf(at, address string) string {
	for prefix, device := range e.state(at, result.SourceAddresses) {
		if of, _, _ := strings.Cut(prefix, "/"); of == address {
			name, _ := device.(string)
			return name
		}
	}
	return ""
}

// route is how a place would send to an address: the destination and the text of its
// route with the longest prefix.
func (e *Evidence) route(at, address string) (to, way string, found bool) {
	addr, err := netip.ParseAddr(address)
	longest := -1
	for prefix, value := range e.state(at, result.SourceRoutes) {
		text, _ := value.(string)
		if prefix == "default" {
			prefix = "0.0.0.0/0"
		}
		p, errPrefix := netip.ParsePrefix(prefix)
		if err == nil && errPrefix == nil && p.Contains(addr) && p.Bits() > longest {
			longest, to, way, found = p.Bits(), prefix, text, true
		}
	}
	return to, way, found
}

// wordAfter is the word that follows another in a text; empty: none.
func wordAfter(text, word string) string {
	words := strings.Fields(text)
	if at := slices.Index(words, word); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return ""
}

// carrierShare is the least share of the packets of a place's busiest device from
// which a device carried the measured packets: others see a few ARP requests only.
const carrierShare = 0.2

// carriers are the devices of a place that carried the measured packets.
func (e *Evidence) carriers(at string) []string {
	carried, most := map[string]float64{}, 0.0
	for _, r := range e.Readings {
		for name, n := range r.Counts {
			device, counter, _ := strings.Cut(name, ".")
			if r.At == at && r.Source == linkStats && (counter == "rx_packets" || counter == "tx_packets") {
				carried[device] += n
				most = max(most, carried[device])
			}
		}
	}
	maps.DeleteFunc(carried, func(_ string, n float64) bool { return n < carrierShare*most })
	return keys(carried)
}
