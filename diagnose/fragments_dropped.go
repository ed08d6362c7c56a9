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
			if by, narrow := e.narrowed(); narrow {
				f.Cause, f.Remedy, f.Fix, f.Confidence = f.Cause+"; "+by.Cause, by.Remedy, "then nothing is cut", 0.96
				f.Evidence = append(f.Evidence, by.Evidence...)
				return []result.Finding{f}
			}
			if e.widen(&f) {
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

// widen completes a finding where the devices of the ends take larger packets than the network
// carries, and reports whether they do: what a bridge has between them cuts nothing.
func (e *Evidence) widen(f *result.Finding) (wide bool) {
	for _, end := range []string{e.Client, e.Server} {
		mtu := e.number(end, links, "eth0.mtu")
		if end == hostOf(end) || e.Inner == 0 || int(mtu) <= e.Inner {
			continue
		}
		f.Cause += fmt.Sprintf("; eth0 in %s has MTU %.0f, the network carries %d", end, mtu, e.Inner)
		f.Evidence = append(f.Evidence, seen("eth0.mtu", mtu, end, links))
		lower := remedy(end, fmt.Sprintf("ip link set dev eth0 mtu %d", e.Inner))
		if f.Remedy == nil {
			f.Remedy, f.Fix, f.Confidence = lower, "", 0.95
		} else {
			f.Remedy.Then = append(f.Remedy.Then, lower.Steps()...)
		}
		wide = true
	}
	return wide
}

// most is the evidence of a counter at that of some places where it grew most; empty: at none.
func (e *Evidence) most(counter string, places []string) result.Evidence {
	at := slices.MaxFunc(places, func(a, b string) int { return int(e.counted(a, snmp, counter) - e.counted(b, snmp, counter)) })
	if n := e.counted(at, snmp, counter); n > 0 {
		return seen(counter, n, at, snmp)
	}
	return result.Evidence{}
}
