// Package diagnose names causes: each rule looks at what was measured and at
// what the kernel said of the places on the way, and gives a finding where that
// supports it. It takes evidence and runs nothing.
package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tare/result"
)

// Rule knows one cause.
type Rule struct {
	ID    string
	Cause string // in general
	Fix   string // in general
	Doc   string // the page that explains it
	// Match gives a finding for each instance that the evidence supports. It
	// need not fill in the ID, and leaves the severity to Grave. Beside a remedy,
	// its fix is what remains to be said.
	Match func(e *Evidence) []result.Finding
	Grave bool // packets are lost or refused; else they are slow
	Last  bool // it speaks only where no grave one does
}

// All lists the rules. Of findings of equal confidence the first rule's stands
// first: what explains a loss by its own counter comes before what explains it
// by a setting.
func All() []Rule {
	return []Rule{
		linkDown(), rpFilter(), forwardingOff(), dockerChainMissing(), overlayStaleVXLAN(), bgpWrongInterface(),
		wrongMAC(), neighbourFailed(), routeMissing(), forwardReject(), portClosed(), forwardDrop(),
		conntrackFull(), listenOverflow(), mtuBlackHole(), mtuMismatch(), congestionControl(),
		shaperDrop(), randomLoss(), udpReceiveBuffer(), cfsThrottled(), offloadOff(), manyRules(),
		lostUnexplained(),
	}
}

// Costs lists the rules that look at what was measured: what is slow, beside
// the faults that counters and settings show and those that slow down what
// still passes.
func Costs() []Rule {
	return []Rule{
		dockerChainMissing(), userlandProxy(), natCost(), encapsulationCost(), manyRules(), offloadOff(), shaperDrop(), randomLoss(), udpReceiveBuffer(), cfsThrottled(),
		steeredOntoApplication(), softirqOneCore(), softirqCollapse(), tcpReceiveWindow(), sendBuffer(), applicationLimited(),
		coreMigration(), reordering(), sizeRank(), listenOverflow(), conntrackFull(),
	}
}

// Making lists the rules that look at how containers were made.
func Making() []Rule { return []Rule{lifecycleDiskLimited()} }

// Traced lists the rules that look at what the tracer saw of a cell.
func Traced() []Rule { return []Rule{lockContention()} }

// Machine lists the rules that look at the machine on which all was measured.
func Machine() []Rule { return []Rule{noisyNeighbour()} }

// Find gives the findings of all rules for one path, the worst first. A clean
// path has none, and the list is never nil.
func Find(e *Evidence) []result.Finding { return find(e, All()) }

func find(e *Evidence, list []Rule) []result.Finding {
	found := []result.Finding{}
	graves := 0
	for _, rule := range list {
		if rule.Last && graves > 0 {
			continue
		}
		for _, f := range rule.Match(e) {
			f.ID, f.Severity = rule.ID, result.SeverityWarning
			if rule.Grave {
				f.Severity = result.SeverityError
				graves++
			}
			if f.Remedy != nil {
				f.Fix = strings.TrimSuffix(e.run(f.Remedy.At, asOne(f.Remedy.Command))+"  # "+f.Fix, "  # ")
				f.Remedy.At = e.Prefix + f.Remedy.At
			}
			f.Evidence = slices.DeleteFunc(f.Evidence, func(e result.Evidence) bool { return e.Name == "" })
			f.Confidence = math.Round(f.Confidence*100) / 100
			found = append(found, f)
		}
	}
	Rank(found)
	return found
}

// Rank sorts findings, the worst first: errors before warnings, then by the
// share that they explain, then by confidence.
func Rank(found []result.Finding) {
	slices.SortStableFunc(found, func(a, b result.Finding) int {
		if a.Severity != b.Severity {
			return cmp.Compare(a.Severity, b.Severity) // "error" before "warning"
		}
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Confidence, a.Confidence))
	})
}

// Join makes one finding of those that say the same of several paths.
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
