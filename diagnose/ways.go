package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tare/result"
)

// atEach is the Match of a rule that examines each place on the path by itself.
func atEach(match func(e *Evidence, at string) []result.Finding) func(*Evidence) []result.Finding {
	return func(e *Evidence) []result.Finding {
		var found []result.Finding
		for _, at := range e.Places {
			found = append(found, match(e, at)...)
		}
		return found
	}
}

// keys are those of a map, in order.
func keys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// trialFailed is the evidence of the first trial that failed, and where its packets
// were lost; empty where all trials passed.
func (e *Evidence) trialFailed() result.Evidence {
	t, failed := e.failed()
	if !failed {
		return result.Evidence{}
	}
	evidence := errorOf(t)
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
	for _, a := range e.Addresses {
		if a.At == at && a.Prefix.Addr().String() == address {
			return a.Device
		}
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
