package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// fragmentsDropped finds a path that loses datagrams which travel in fragments.
func fragmentsDropped() Rule {
	return Rule{
		ID: "fragments-dropped", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			t, failed := e.failed()
			if !failed || !t.Cut || t.Failure() != result.Silent || e.all(0).failed > 0 {
				return nil
			}
			far := []string{hostOf(e.Server), e.Server}
			f := result.Finding{
				Cause:      fmt.Sprintf("datagrams of %d bytes, which travel in fragments, are lost between %s and %s, those of one packet pass: %s", t.Size, e.Client, e.Server, e.lost(t).where()),
				Evidence:   []result.Evidence{errorOf(t), e.most("Ip.FragCreates", e.Places), e.most("Ip.ReasmReqds", far), e.most("Ip.ReasmFails", far)},
				Confidence: 0.8,
			}
			at, command, comment := e.look(t)
			f.Fix = e.run(at, command) + "  # " + comment
			if at, device, mtu := e.cutter(); at != "" {
				f.Cause += fmt.Sprintf("; %s cuts the tunnel's packets: %s has MTU %d and they need %d", at, device, mtu, e.MTU)
				f.Evidence = append(f.Evidence, seen(device+".mtu", mtu, at, links))
				f.Remedy, f.Fix, f.Confidence = remedy(at, fmt.Sprintf("ip link set dev %s mtu %d", device, e.MTU)), "on each host, so that nothing is cut", 0.95
				return []result.Finding{f}
			}
			suspects := e.verdicts(false)
			if n := slices.IndexFunc(suspects, func(m met) bool { return m.counted > 0 && !m.rejects() }); n >= 0 {
				by := suspects[n].finding(e, "drops them")
				f.Cause, f.Remedy, f.Fix, f.Confidence = f.Cause+"; "+by.Cause, by.Remedy, by.Fix, 0.95
				f.Evidence = append(f.Evidence, by.Evidence...)
			}
			return []result.Finding{f}
		},
	}
}

// most is the evidence of a counter at that of some places where it grew most; empty: at none.
func (e *Evidence) most(counter string, places []string) result.Evidence {
	at := slices.MaxFunc(places, func(a, b string) int { return int(e.counted(a, snmp, counter) - e.counted(b, snmp, counter)) })
	if n := e.counted(at, snmp, counter); n > 0 {
		return seen(counter, n, at, snmp)
	}
	return result.Evidence{}
}

// cutter is the host that cuts the packets of a tunnel, as its interface is too narrow for them; empty: none does.
func (e *Evidence) cutter() (at, device string, mtu int) {
	for _, place := range e.Places {
		for _, d := range e.devices(place) {
			mtu := int(e.number(place, links, d+".mtu"))
			if e.ofUnderlay(place, d) && mtu > 0 && mtu < e.MTU && e.Inner < e.MTU && e.counted(place, snmp, "Ip.FragCreates") > 0 {
				return place, d, mtu
			}
		}
	}
	return "", "", 0
}
