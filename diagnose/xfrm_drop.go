package diagnose

import (
	"fmt"
	"net/netip"
	"strings"

	"tare/result"
)

// xfrmDrop finds policies of IPsec that drop the packets of a path: they block them, or
// ask for an encryption for which there is no state.
func xfrmDrop() Rule {
	return Rule{
		ID: "xfrm-drop", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			counts := e.sums(at, xfrmStat)
			if _, failed := e.failed(); !failed || len(counts) == 0 {
				return nil
			}
			var found []result.Finding
			for _, counter := range keys(counts) {
				found = append(found, e.ipsecDrops(at, counter, counts[counter]))
			}
			return found
		}),
	}
}

// ipsecDrops is the finding of what a counter of IPsec counted.
func (e *Evidence) ipsecDrops(at, counter string, n float64) result.Finding {
	f := result.Finding{
		Cause:      fmt.Sprintf("IPsec of %s drops packets (%s)", at, counter),
		Evidence:   []result.Evidence{seen(counter, n, at, xfrmStat), e.trialFailed()},
		Remedy:     remedy(at, "ip xfrm policy"),
		Fix:        "and ip xfrm state: delete what nobody uses, or start the program again that negotiates the keys",
		Confidence: 0.9,
	}
	for _, policy := range keys(e.state(at, xfrmPolicies)) {
		action := e.word(at, xfrmPolicies, policy)
		direction := policy[strings.LastIndex(policy, " ")+1:]
		blocks := strings.HasSuffix(counter, "PolBlock")
		outward := strings.HasPrefix(counter, "XfrmOut")
		if outward != (direction == "out") || blocks != (action == "block") || !e.selects(policy) {
			continue
		}
		why := "asks for an encryption for which there is no state"
		if blocks {
			why = "blocks them"
		}
		f.Cause = fmt.Sprintf("IPsec of %s drops packets: its policy %s %s", at, policy, why)
		f.Evidence = append(f.Evidence, seen("policy "+policy, action, at, xfrmPolicies))
		f.Remedy, f.Fix, f.Confidence = remedy(at, "ip xfrm policy delete "+policy), "", 0.97
		break
	}
	return f
}

// selects reports whether a policy is for packets between the hosts or the ends, one way
// or the other.
func (e *Evidence) selects(policy string) bool {
	words := strings.Fields(policy)
	from, errFrom := netip.ParsePrefix(words[1])
	to, errTo := netip.ParsePrefix(words[3])
	if errFrom != nil || errTo != nil {
		return false
	}
	holds := func(p netip.Prefix, place string) bool {
		for _, a := range e.Addresses {
			if a.At == place && p.Contains(a.Prefix.Addr()) {
				return true
			}
		}
		return false
	}
	for _, ends := range [][2]string{{e.Client, e.Server}, {hostOf(e.Client), hostOf(e.Server)}} {
		if holds(from, ends[0]) && holds(to, ends[1]) || holds(from, ends[1]) && holds(to, ends[0]) {
			return true
		}
	}
	return false
}
