package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// someConnectionsFail finds a path on which some connections pass and others do not: they are led
// elsewhere.
func someConnectionsFail() Rule {
	return Rule{
		ID: "some-connections-fail", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			of := e.small("tcp", 0)
			t, _ := result.First(e.Trials, func(t result.Trial) bool { return t.Workload == "tcp_rr" && t.Error != "" && t.IP == 0 && !e.late(t) })
			if t.Error == "" || t.Size > smallest || of.passed == 0 || of.failed < 2 || len(e.outOfPorts()) > 0 {
				return nil
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("%d of %d connections from %s to %s fail", of.failed, of.passed+of.failed, e.Client, e.Dial),
				Evidence:   []result.Evidence{errorOf(t), seen("connections that passed", of.passed, "", trials)},
				Confidence: 0.6,
			}
			host, command, comment := e.look(t)
			f.Fix = e.run(host, command) + "  # " + comment
			e.led(&f)
			return []result.Finding{f}
		},
	}
}

// led adds where the connections that fail are led: to an address that is no end of the path and
// does not answer ARP.
func (e *Evidence) led(f *result.Finding) {
	for _, at := range e.Places {
		for _, name := range e.unanswered(at) {
			address, device, _ := strings.Cut(name, " dev ")
			if e.owner(address) != "" {
				continue
			}
			f.Cause += fmt.Sprintf(": %s leads them to %s, which does not answer on %s", at, address, device)
			f.Evidence = append(f.Evidence, seen(name, e.word(at, neighbours, name), at, neighbours))
			f.Fix = e.run(at, asOne("nft -a list ruleset | grep -n "+address+"; ip route | grep "+address)) +
				"  # delete the rule or the next hop that leads to " + address + ", or start what has that address"
			f.Confidence = 0.92
			return
		}
	}
}
