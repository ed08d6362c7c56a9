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
		wrongMAC(), neighbourFailed(), routeMissing(), forwardReject(), serviceUnserved(), hairpinOff(), portClosed(), forwardDrop(),
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

// Join merges the findings of several paths with the same cause and fix into one.
func Join(found []result.Finding) []result.Finding {
	joined := []result.Finding{}
	for _, f := range found {
		at := slices.IndexFunc(joined, func(j result.Finding) bool { return j.ID == f.ID && j.Cause == f.Cause && j.Fix == f.Fix })
		if at < 0 {
			joined = append(joined, f)
			continue
		}
		joined[at].Paths = append(joined[at].Paths, f.Paths...)
		joined[at].Confidence = max(joined[at].Confidence, f.Confidence)
	}
	Rank(joined)
	return joined
}
