package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// verdict is a rule or policy of a firewall that dropped or rejected packets, or may
// have done so.
type verdict struct {
	at      string
	chain   string // "inet filter forward"
	hook    string // through which packets enter the chain; empty: another chain jumps to it
	handle  string // of the rule; empty: the chain's policy
	rejects bool
	counted float64 // packets that it dropped or rejected during the trials; 0: it does not count
}

// verdicts are the rules and policies of places that counted packets which they
// dropped or rejected, or that do so without counting.
func (e *Evidence) verdicts(places []string) []verdict {
	var found []verdict
	for _, at := range places {
		found = append(found, e.countedVerdicts(at)...)
		found = append(found, e.silentVerdicts(at)...)
	}
	return found
}

// countedVerdicts are those whose counters grew: "ip filter FORWARD 7 drop",
// "ip filter FORWARD policy drop".
func (e *Evidence) countedVerdicts(at string) []verdict {
	sums := e.ruleCounts(at)
	var found []verdict
	for _, name := range keys(sums) {
		words := strings.Fields(name)
		if len(words) != 5 || sums[name] <= 0 {
			continue
		}
		fate := strings.ToLower(words[4])
		if fate != "drop" && fate != "reject" {
			continue
		}
		v := verdict{at: at, chain: strings.Join(words[:3], " "), handle: words[3], rejects: fate == "reject", counted: sums[name]}
		if v.handle == "policy" {
			v.handle = ""
		}
		v.hook = e.word(at, rules, v.chain+".hook")
		if !slices.Contains(strings.Fields(e.word(at, rules, v.chain+".random")), v.handle) {
			found = append(found, v)
		}
	}
	return found
}

// ruleCounts are the packets that matched each rule and policy of a place that
// counts.
func (e *Evidence) ruleCounts(at string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range e.Readings {
		if r.At == at && r.Source == rules {
			for name, n := range r.Counts {
				sums[name] += n
			}
		}
	}
	return sums
}

// silentVerdicts are rules and policies that drop or reject without counting.
func (e *Evidence) silentVerdicts(at string) []verdict {
	var found []verdict
	for _, chain := range e.names(at, rules, ".rules") {
		hook := e.word(at, rules, chain+".hook")
		for _, fate := range []string{"drop", "reject"} {
			for _, handle := range strings.Fields(e.word(at, rules, chain+"."+fate)) {
				found = append(found, verdict{at: at, chain: chain, hook: hook, handle: handle, rejects: fate == "reject"})
			}
		}
		counts := e.state(at, rules)[chain+".counts"] == true
		if e.word(at, rules, chain+".policy") == "drop" && !counts {
			found = append(found, verdict{at: at, chain: chain, hook: hook})
		}
	}
	return found
}

// ofEnd reports whether the chain is for what a place itself sends and receives, not
// for what it forwards.
func (v verdict) ofEnd() bool { return v.hook == "input" || v.hook == "output" }

// finding is the finding of a verdict; what completes the sentence of its cause.
func (v verdict) finding(e *Evidence, what string) result.Finding {
	name, value := "a rule of "+v.chain, any("handle "+v.handle)
	fix := "nft delete rule " + v.chain + " handle " + v.handle
	if v.handle == "" {
		name, value = "the policy of "+v.chain, any("drop")
		fix = "nft chain " + v.chain + " '{ policy accept; }'"
	}
	f := result.Finding{
		Cause:      fmt.Sprintf("%s in %s %s", name, v.at, what),
		Evidence:   []result.Evidence{seen(name, value, v.at, rules), e.trialFailed()},
		Remedy:     remedy(v.at, fix),
		Confidence: 0.75,
	}
	if v.counted > 0 {
		f.Confidence = 0.95
		f.Evidence = append(f.Evidence, seen("packets that it dropped or rejected", v.counted, v.at, rules))
	}
	return f
}
