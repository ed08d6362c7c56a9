package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// shaperDrop finds a queueing discipline that limits a rate and drops what exceeds
// it.
func shaperDrop() Rule {
	return Rule{
		ID: "shaper-drop", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			dropping := e.dropping(at)
			for _, device := range keys(dropping) {
				kind := dropping[device]
				if e.Link && (kind == "tbf" || kind == "netem") && e.ofUnderlay(at, device) {
					continue // the lab's own --link
				}
				name := device + "." + kind + ".dropped"
				if kind == "ingress" || kind == "clsact" {
					continue // it has no queue: its filters drop
				}
				cause := fmt.Sprintf("the %s on %s in %s drops packets", kind, device, at)
				if direct, known := e.state(at, shapers)[device+"."+kind+".direct"]; known && result.Number(direct) == 0 {
					cause += ": it has no queue for those without a class (direct_qlen 0)"
				}
				found = append(found, result.Finding{
					Cause: cause,
					Evidence: []result.Evidence{
						seen(name, e.counted(at, qdiscs, name), at, qdiscs),
						seen(device+"."+kind+".overlimits", e.counted(at, qdiscs, device+"."+kind+".overlimits"), at, qdiscs),
					},
					Remedy:     remedy(at, fmt.Sprintf("tc qdisc del dev %s root", device)),
					Confidence: 0.95,
				})
			}
			return found
		}),
	}
}

// dropping are the devices of a place whose queueing discipline dropped packets, and
// its kind. The kernel's default disciplines are not shapers: by their drops TCP
// finds the path's rate.
func (e *Evidence) dropping(at string) map[string]string {
	found := map[string]string{}
	for _, r := range e.Readings {
		if r.At != at || r.Source != qdiscs {
			continue
		}
		for name, n := range r.Counts {
			words := strings.Split(name, ".")
			if len(words) < 3 || words[len(words)-1] != "dropped" || n <= 0 {
				continue
			}
			kind := words[len(words)-2]
			if !slices.Contains([]string{"pfifo_fast", "fq_codel", "fq", "mq", "noqueue"}, kind) {
				found[strings.Join(words[:len(words)-2], ".")] = kind
			}
		}
	}
	return found
}
