package report

import (
	"cmp"
	"slices"

	"tare/result"
)

// absence is why networks are missing from a table.
type absence struct {
	networks []string
	loads    []string // the workloads that lack them
	reason   string   // "failed: no route to host"
}

// absences lists the rows that hold no number, those with one reason together.
func absences(w words, rows []row, headlines []string) []absence {
	var list []absence
	for _, r := range rows {
		if r.measured(headlines) {
			continue
		}
		var own []absence
		for _, c := range r.cells {
			if c == nil {
				continue
			}
			reason := w.reasonOf(c)
			if at := slices.IndexFunc(own, func(a absence) bool { return a.reason == reason }); at >= 0 {
				own[at].loads = append(own[at].loads, c.Workload)
			} else {
				own = append(own, absence{[]string{r.name()}, []string{c.Workload}, reason})
			}
		}
		for _, a := range own {
			at := slices.IndexFunc(list, func(b absence) bool {
				return a.reason == b.reason && slices.Equal(a.loads, b.loads)
			})
			if at >= 0 {
				list[at].networks = append(list[at].networks, a.networks...)
			} else {
				list = append(list, a)
			}
		}
	}
	return list
}

// reasonOf is why a cell has no number.
func (w words) reasonOf(c *result.Cell) string {
	status, reason := w.state(c.Status), result.Plain(c.Reason)
	if c.Status == result.StatusOK {
		status = w.say("nothing_measured")
		if len(c.Samples) > 0 { // a median needs twenty in each window
			reason = w.say("too_few_events")
		}
	}
	reason = cmp.Or(reason, w.say("no_reason"))
	return w.of(status, reason)
}

// text is the absence as a line.
func (a absence) text(w words, loads int) string {
	names := w.list(a.networks)
	if len(a.loads) < loads {
		names += w.aside(w.list(a.loads))
	}
	return names + " " + a.reason
}
