// Package diagnose names causes: each rule examines what was measured and what the
// kernel reports of the places on the path, and gives a finding where this evidence
// supports it. The package runs nothing.
package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tare/result"
)

// Rule recognises one cause. Its section in docs/causes.md gives the cause, the
// evidence and the fix in general.
type Rule struct {
	ID string
	// Match gives a finding for each instance that the evidence supports. Find fills
	// in the ID, the severity (from Grave) and, from a remedy, the fix's command; the
	// fix of a finding with a remedy is only the comment that follows the command.
	Match func(e *Evidence) []result.Finding
	Grave bool // packets are lost or refused; else they are only slow
	Dead  bool // it is tried only where not even small messages pass
	Last  bool // it is tried only where no grave rule found anything
	// Models: its shares are computed from what was counted. Those of other rules are
	// differences between cells that were measured.
	Models bool
	// Apart: what it takes is none of the network's, but in what the network was measured to add.
	Apart bool
	// Limit is the largest share that the rule's findings can have, as other cells of the
	// same result show; nil, or not known: they have no limit.
	Limit func(e *Evidence) (most float64, known bool)
}

// All lists the rules for a path. Of findings of equal confidence that of the first
// rule comes first: rules that explain a loss by its own counter precede those that
// explain it by a setting.
func All() []Rule {
	return []Rule{
		linkDown(), tableUnused(), addressMissing(), rpFilter(), forwardingOff(), dockerChainMissing(), overlayStaleVXLAN(), bgpWrongInterface(),
		wrongMAC(), neighbourFailed(), routeMissing(), forwardReject(), serviceUnserved(), hairpinOff(), portClosed(), dockerRawDrop(), forwardDrop(),
		wrongTranslation(), ttlExpired(),
		neighbourTableFull(), snatPorts(), conntrackStale(), replyBridged(), portsUsedUp(), checksumWrong(),
		conntrackFull(), listenOverflow(), someConnectionsFail(), mtuBlackHole(), fragmentsDropped(), idleLost(), mtuMismatch(), congestionControl(),
		shaperDrop(),
		rateLimit(),
		randomLoss(), udpReceiveBuffer(), cfsThrottled(), offloadOff(), manyRules(),
		bridgePort(), macvlanMode(), routeDiverted(), nextHopDead(), xfrmDrop(), tcFilter(),
		shaperRate(), smallMSS(), packetsTwice(),
		lostUnexplained(),
	}
}

// Costs lists the rules for a measured cell: those that explain slowness, and the
// faults by which packets still pass, but fewer or more slowly.
func Costs() []Rule {
	return []Rule{
		dockerChainMissing(), neighbourCost(), passengerCost(), rulesCost(), userlandProxy(), natCost(), tunnelSegmentation(), encapsulationCost(), manyRules(), offloadOff(), shaperDrop(), rateLimit(), randomLoss(), udpReceiveBuffer(), cfsThrottled(),
		tcFilter(),
		steeredOntoApplication(), softirqOneCore(), softirqCollapse(), tcpReceiveWindow(), sendBuffer(), applicationLimited(),
		coreMigration(), reordering(), sizeRank(), listenOverflow(), conntrackFull(),
		shaperRate(), smallMSS(), packetsTwice(), labChanged(), rungCost(),
	}
}

// Making lists the rules for cells that create containers.
func Making() []Rule { return []Rule{lifecycleDiskLimited()} }

// Traced lists the rules for what the tracer recorded of a cell.
func Traced() []Rule { return []Rule{lockContention()} }

// Machine lists the rules for the machine on which the cells were measured.
func Machine() []Rule { return []Rule{noisyNeighbour()} }

// Find gives the findings of all rules for one path, the worst first. A clean
// path has none, and the list is never nil.
func Find(e *Evidence) []result.Finding { return find(e, All()) }

func find(e *Evidence, list []Rule) []result.Finding {
	found := []result.Finding{}
	graves := 0
	for _, rule := range list {
		if rule.Dead && !e.dead() || rule.Last && graves > 0 {
			continue
		}
		for _, f := range rule.Match(e) {
			f.ID, f.Severity = rule.ID, result.SeverityWarning
			if rule.Grave {
				f.Severity = result.SeverityError
				graves++
			}
			if f.Remedy != nil {
				f.Fix = strings.TrimSuffix(e.typed(f.Remedy)+"  # "+f.Fix, "  # ")
				f.Remedy.At = e.Prefix + f.Remedy.At
				for n := range f.Remedy.Then {
					f.Remedy.Then[n].At = e.Prefix + f.Remedy.Then[n].At
				}
			}
			f.Evidence = slices.DeleteFunc(f.Evidence, func(e result.Evidence) bool { return e.Name == "" })
			f.Confidence = math.Round(f.Confidence*100) / 100
			if rule.Limit != nil && f.Share > 0 {
				if most, known := rule.Limit(e); known {
					limit(&f, most)
				}
			}
			found = append(found, f)
		}
	}
	Rank(found)
	return found
}

// Rank sorts findings, the worst first: errors before warnings, then by the
// share that they explain, then by confidence. A share that is not known comes after all
// that are.
func Rank(found []result.Finding) {
	slices.SortStableFunc(found, func(a, b result.Finding) int {
		if a.Severity != b.Severity {
			return cmp.Compare(a.Severity, b.Severity) // "error" before "warning"
		}
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Confidence, a.Confidence))
	})
}

// Join merges the findings of several paths that one fix mends: those with the same cause and fix, and
// those whose remedies begin with the same step, whatever each path counted or remembers. lab is its
// name; empty: it has none.
func Join(lab string, found []result.Finding) []result.Finding {
	joined := []result.Finding{}
	for _, f := range found {
		at := slices.IndexFunc(joined, func(j result.Finding) bool { return mendsBoth(j, f) })
		if at < 0 {
			joined = append(joined, f)
			continue
		}
		j := &joined[at]
		j.Paths = append(j.Paths, f.Paths...)
		j.Confidence = max(j.Confidence, f.Confidence)
		if f.Remedy != nil {
			widenRemedy(lab, j, f)
		}
	}
	Rank(joined)
	return joined
}

// mendsBoth reports whether one fix mends two findings.
func mendsBoth(j, f result.Finding) bool {
	if j.Remedy != nil && f.Remedy != nil {
		return j.ID == f.ID && j.Remedy.Steps()[0] == f.Remedy.Steps()[0]
	}
	return j.ID == f.ID && j.Cause == f.Cause && j.Fix == f.Fix
}

// widenRemedy adds to a finding's remedy the steps that only another path needs. The sentence is that
// of the path that needs more.
func widenRemedy(lab string, j *result.Finding, f result.Finding) {
	steps := j.Remedy.Steps()
	if len(f.Remedy.Then) >= len(steps) {
		j.Cause, j.Evidence = f.Cause, f.Evidence
	}
	whole := result.Remedy{At: j.Remedy.At, Command: j.Remedy.Command, Then: slices.Clone(j.Remedy.Then)}
	for _, step := range f.Remedy.Steps() {
		if !slices.Contains(steps, step) {
			whole.Then = append(whole.Then, step)
		}
	}
	if len(whole.Then) > len(j.Remedy.Then) {
		before, text := (&Evidence{Lab: lab}).typed(j.Remedy), (&Evidence{Lab: lab}).typed(&whole)
		j.Fix = text + strings.TrimPrefix(j.Fix, before)
		j.Remedy = &whole
	}
}
