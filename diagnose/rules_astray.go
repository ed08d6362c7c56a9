package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// rulesAstray are the rules of routing that lead packets of a flow astray, in their order: the one
// of a way, and those that do the same to it, or to other protocols, once that is gone.
func (e *Evidence) rulesAstray(w way, f flow) []result.Policy {
	all := []result.Policy{w.by}
	f.any = true
	for _, p := range e.policies(w.At, f.to.Is6()) {
		if p == w.by || p.Kind == "nop" || !e.matches(w.At, p, f) {
			continue
		}
		next := way{result.Route{At: w.At, Kind: p.Kind}, p}
		if p.Kind == "" {
			r, found := e.inTable(w.At, f.to, p.Table, p.Shortest)
			if !found || r.Kind == "throw" {
				continue
			}
			next.Route = r
		}
		switch {
		case next.chosen() && e.astray(next, f.to):
			all = append(all, p)
		case p.Rest == "":
			return all // what comes later is not asked
		}
	}
	return all
}

// rulesSaySo names rules of routing.
func (e *Evidence) rulesSaySo(all []result.Policy) string {
	var named []string
	for _, p := range all {
		named = append(named, fmt.Sprintf("%d (%s)", p.Priority, p))
	}
	if len(named) == 1 {
		return "its rule " + named[0] + " says so"
	}
	return "its rules " + strings.Join(named, ", ") + " say so"
}

// withoutRules is the command that deletes rules of routing.
func withoutRules(family string, all []result.Policy) string {
	var commands []string
	for _, p := range all {
		commands = append(commands, fmt.Sprintf("%s rule del %s priority %d", family, strings.Replace(p.String(), "from all ", "", 1), p.Priority))
	}
	return strings.Join(commands, " && ")
}

// losesOf reports whether it is packets of a protocol that are lost: of the trial that failed first, or,
// asked for any, of some trial. One that was not tried is lost where nothing passes.
func (e *Evidence) losesOf(protocol string, any bool) bool {
	t, _ := e.failed()
	if strings.HasPrefix(t.Workload, protocol) || !any {
		return strings.HasPrefix(t.Workload, protocol)
	}
	tried, passes := false, false
	for _, t := range e.Trials {
		of := strings.HasPrefix(t.Workload, protocol)
		if of && t.Error != "" {
			return true
		}
		tried, passes = tried || of, passes || t.Error == ""
	}
	return !tried && !passes && len(e.Trials) > 1
}
