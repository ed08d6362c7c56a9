package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// nearRate is how far below a shaper's rate a stream counts as limited by it.
const nearRate = 0.5

// shaperRate finds a queueing discipline that limits a rate and drops nothing yet: its burst hides it
// from what is short.
func shaperRate() Rule {
	return Rule{
		ID: "shaper-rate",
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			dropping := e.dropping(at)
			for _, name := range e.names(at, shapers, ".rate") {
				device, kind, _ := cutLast(name)
				rate, streamed := e.number(at, shapers, name+".rate"), e.streamed()
				own := e.Link && e.ofUnderlay(at, device) // the lab's own --link
				if own || dropping[device] == kind || !e.onWay(at, device) || streamed > 0 && streamed < nearRate*rate {
					continue
				}
				f := result.Finding{
					Cause:      fmt.Sprintf("the %s on %s in %s passes no more than %s", kind, device, at, bitRate(rate)),
					Evidence:   []result.Evidence{seen(name+".rate", rate, at, shapers)},
					Remedy:     remedy(at, fmt.Sprintf("tc qdisc del dev %s root", device)),
					Confidence: 0.93,
				}
				if burst := e.number(at, shapers, name+".burst"); burst > 0 {
					f.Cause += fmt.Sprintf(", once its burst of %.3g MB is used up", burst/1e6)
					f.Evidence = append(f.Evidence, seen(name+".burst", burst, at, shapers))
				}
				if streamed > 0 {
					f.Evidence = append(f.Evidence, seen("throughput of tcp_stream", streamed, "", trials))
				}
				found = append(found, f)
			}
			return found
		}),
	}
}

// cutLast cuts a name at its last point.
func cutLast(name string) (before, after string, found bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return name, "", false
	}
	return name[:at], name[at+1:], true
}

// streamed is how much a stream carried, in bit/s; 0: none was sent, or it failed.
func (e *Evidence) streamed() float64 {
	if e.Cell != nil {
		if e.Cell.Workload != "tcp_stream" {
			return 0
		}
		return e.headline()
	}
	t, _ := result.First(e.Trials, func(t result.Trial) bool { return t.Workload == "tcp_stream" && t.Error == "" })
	return t.Metrics["throughput"]
}

// bitRate writes a rate for people.
func bitRate(rate float64) string {
	if rate >= 1e9 {
		return fmt.Sprintf("%.3g Gbit/s", rate/1e9)
	}
	return fmt.Sprintf("%.3g Mbit/s", rate/1e6)
}
