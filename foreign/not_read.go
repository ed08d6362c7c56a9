package foreign

import (
	"fmt"
	"strings"
	"sync"

	"tare/result"
)

// idle are the lines of a tool that have numbers and nothing to read: what it says of itself, what
// another of its lines has in full.
var idle = sync.OnceValue(func() map[string]expression {
	return map[string]expression{
		"iperf3":            expressionOf(`^Linux |^Time: `),
		"iperf":             expressionOf(`^Bursting: |^Bounce-back test|^TOS |BB\d+-PDF|^\[ CT\]|Sent \d+ datagrams|received out-of-order`),
		"sockperf":          expressionOf(`^\[ *\d+\] IP = `),
		"qperf":             expressionOf(`failed to connect`),
		"wrk":               expressionOf(`^[\d. ]+(?:inf)?$|^Value +Percentile|^#\[`),
		"autocannon":        expressionOf(`^[│|\d. ]+$|workers$|samples: \d+`),
		"sysbench":          expressionOf(`^\w+:\s+[\d.]+$|percentile:|\(avg/stddev\):|^[\d.]+ +\|\**|^Prime numbers|rate: \d+/sec|second\(s\)$|is the server running|lua:\d+:|^Random number generator|^other operations:`),
		"h2load":            expressionOf(`^progress: |for thread #|^\d+\. Stopping|^TLS Protocol: |^Cipher: |^Server Temp Key: |^UDP datagram: `),
		"ping":              expressionOf(`^--- |^pipe |^Request timeout for icmp_seq|Time to live exceeded|no answer yet for icmp_seq`),
		"netperf":           expressionOf(`^[-\d.]+,[^ ].*,[-\d.]+$|^[-\d., ]+(?:Trans/s|10\^\dbits/s\S*)?[-\d., ]*$|^!!!|^\w+=|^>?\w+ *:|bytes +secs|10\^\dbits/s`),
		"containerd-stress": expressionOf(`worker \d+|seconds`),
	}
})

// heading is what a script or a shell prints between runs: "== node 2 ==", a prompt, "Run 3:".
var heading = expressionOf(`^([=#*~+-])(?:\s*[=#*~+-])+[^=#*~+-].*|^\S+@\S+.*[$#%>]|^\[\S+@\S+ [^\]]*\]|^\w[\w ,.()/-]*:$|=>\s*\{?$|rc=\d+ >>$|^(?:echo|kubectl|oc|docker|podman|nerdctl|crictl|ssh|sudo|ip netns|ping6?) `)

// notRead counts the lines in the midst of a part that have numbers and that its tool does not
// print, and returns the first of them.
func (p part) notRead() (count int, first string) {
	var between []string // since the last line that is the tool's
	begun := false
	known := func(string) bool { return false }
	if pattern := idle()[p.parser.tool]; pattern != nil {
		known = pattern.MatchString
	}
	for n, line := range p.lines {
		if p.parser.claim(p.lines[n:]) == none {
			if begun && strings.ContainsAny(line, "0123456789") && !known(line) && !heading.MatchString(line) {
				between = append(between, line)
			}
			continue
		}
		if begun && count == 0 && len(between) > 0 {
			first = firstLine(between)
		}
		begun, count, between = true, count+len(between), nil
	}
	return count, first
}

// sayNotRead notes on the first of a part's runs how many of its lines were not read.
func (p part) sayNotRead(cells []result.Cell) {
	count, first := p.notRead()
	if count == 0 || len(cells) == 0 {
		return
	}
	cells[0].Samples[0].Counters["lines_not_read"] = float64(count)
	text := fmt.Sprintf("%d lines not read, the first: %q", count, first)
	if count == 1 {
		text = fmt.Sprintf("1 line not read: %q", first)
	}
	caution(&cells[0], text)
}
