package diagnose

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"tare/result"
)

// conntrackStale finds flows of UDP that are tracked since before a rule translated them, or led them
// elsewhere: they go on as they began.
func conntrackStale() Rule {
	return Rule{
		ID: "conntrack-stale", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			t, failed := result.First(e.Trials, func(t result.Trial) bool { return t.Workload == "udp_rr" && t.Error != "" })
			if !failed || !e.smallPass("tcp_rr") || e.owner(e.Dial) == e.Server {
				return nil
			}
			at, to, led, flows := "", "", "", e.tried("udp_rr") // those of the trials are no evidence
			for _, place := range e.Places {
				for _, name := range keys(e.state(place, untranslated)) {
					dialled, target, _ := strings.Cut(name, " led to ")
					addr, _, err := net.SplitHostPort(dialled)
					if n := e.number(place, untranslated, name); err == nil && addr == e.Dial && n > flows && e.outdated(t, place, target) {
						at, to, led, flows = place, dialled, target, n
					}
				}
			}
			if at == "" {
				return nil
			}
			name, before := "flows to "+to+" without translation", "a rule translated them: they go on untranslated"
			if led != "" {
				name, before = "flows to "+to+" that are led to "+led, "the rules changed: they go on to "+led
			}
			port := to[strings.LastIndexByte(to, ':')+1:]
			return []result.Finding{{
				Cause:      fmt.Sprintf("%s tracks %.0f flows of UDP to %s since before %s", at, flows, to, before),
				Evidence:   []result.Evidence{seen(name, flows, at, untranslated), errorOf(t)},
				Remedy:     remedy(at, "conntrack -D -p udp "+familyFlag(e.Dial)+"--orig-dst "+e.Dial+" --dport "+port),
				Confidence: 0.93,
			}}
		},
	}
}

// outdated reports whether flows are tracked otherwise than the rules of a place would lead new ones: led
// to another target, or, where that is empty, to none.
func (e *Evidence) outdated(t result.Trial, at, target string) bool {
	rules := e.destinations(t, at)
	for _, s := range rules {
		verb, _, _ := strings.Cut(s.Act, " ")
		if target != "" && (verb != "dnat" || slices.Contains(addressesOf(s.Act), plain(target))) {
			return false
		}
	}
	return len(rules) > 0
}

// smallPass reports whether a small message passed each time that it was tried.
func (e *Evidence) smallPass(workload string) bool {
	tried := false
	for _, t := range e.Trials {
		if t.Workload == workload && t.Size <= smallest {
			if tried = true; t.Error != "" {
				return false
			}
		}
	}
	return tried
}

// tried is how many trials of a workload there were, each of which is one flow.
func (e *Evidence) tried(workload string) (n float64) {
	for _, t := range e.Trials {
		if t.Workload == workload {
			n++
		}
	}
	return n
}

// familyFlag is what a command needs to mean an address of IPv6.
func familyFlag(addr string) string {
	if strings.Contains(addr, ":") {
		return "-f ipv6 "
	}
	return ""
}
