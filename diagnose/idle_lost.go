package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// idleLost finds a path that forgets a connection which rests.
func idleLost() Rule {
	return Rule{
		ID: "idle-lost", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			at := slices.IndexFunc(e.Trials, func(t result.Trial) bool { return t.Idle > 0 && t.Error != "" })
			if at < 0 || e.all(0).failed > 0 {
				return nil
			}
			t := e.Trials[at]
			protocol, limits := "TCP", []string{"nf_conntrack_tcp_timeout_established"}
			if t.Workload == "udp_rr" {
				protocol, limits = "UDP", []string{"nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream"}
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("a connection over %s from %s to %s that rests for %g s carries nothing more, and new ones pass", protocol, e.Client, e.Server, t.Idle),
				Evidence:   []result.Evidence{errorOf(t)},
				Confidence: 0.8,
			}
			place, command, comment := e.look(t)
			f.Fix = e.run(place, command) + "  # " + comment
			for _, at := range e.Places {
				for _, limit := range limits {
					if seconds := e.number(at, conntrack, limit); seconds > 0 && seconds <= t.Idle && f.Remedy == nil {
						f.Cause += fmt.Sprintf("; %s forgets it after %g s", at, seconds)
						f.Evidence = append(f.Evidence, seen(limit, seconds, at, conntrack))
						f.Remedy, f.Fix = remedy(at, fmt.Sprintf("sysctl -w net.netfilter.%s=%d", limit, usualTimeout(limit))), "or keepalives more often"
						f.Confidence = 0.95
					}
				}
			}
			return []result.Finding{f}
		},
	}
}

// usualTimeout is the kernel's default of a timeout, in s.
func usualTimeout(name string) int {
	switch name {
	case "nf_conntrack_tcp_timeout_established":
		return 432000
	case "nf_conntrack_udp_timeout_stream":
		return 120
	}
	return 30
}
