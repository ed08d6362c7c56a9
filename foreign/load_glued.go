package foreign

import "strings"

// glue is how the lines of a tool begin, and what is in one line only where the ends of its lines were lost.
type glue struct {
	all    []string
	pieces expression
}

// gluedLoads are those of tools whose lines begin with words.
func gluedLoads() []glue {
	return []glue{
		{[]string{"finished in ", " total, "}, loadPiece},
		{[]string{"total time:", "total number of events:"}, sysbenchPiece},
		{[]string{"sockperf: ", "[Valid Duration]", "[Total Run]"}, sockperfPiece},
	}
}

var (
	// loadPiece is where a line of wrk, autocannon or h2load begins.
	loadPiece = expressionOf(`Running \S+(?: requests)? test @|\d+ threads and \d+ connections|\d+ connections|Thread Stats|Latency\s+[\d.]+(?:us|ms|s|m|h)\s|Req/Sec\s+[\d.]|Latency Distribution|` +
		`\d+(?:\.\d+)?%\s+[\d.]+(?:us|ms|s|m|h)\b|[\d.]+[kM]? requests in|Socket errors:|Non-2xx or|Requests/sec:|Transfer/sec:|` +
		`starting benchmark\.\.\.|spawning thread #|Application protocol:|finished in |progress: |requests: \d|status codes:|traffic:|min +max|time for |time to |req/s +:|` +
		`[┌├└]─|│ (?:Stat|Latency|Req/Sec|Bytes/Sec)|\d+ 2xx responses|[\d.]+[kM]? errors \(|Req/Bytes counts`)
	sysbenchPiece = expressionOf(`sysbench \d|Running the test|Number of threads:|Prime numbers limit:|CPU speed:|events per second:|SQL statistics:|queries performed:|` +
		`(?:transactions|queries|ignored errors|reconnects):|General statistics:|total time:|total number of events:|Latency \(ms\):|(?:min|avg|max|sum):|[\d.]+th percentile:|` +
		`Threads fairness:|events \(avg|execution time|\[ \d+s \]|Latency histogram|Total operations:|File operations:|Doing `)
	sockperfPiece = expressionOf(`sockperf(?:: |\[CLIENT\])|\[ ?\d+\] IP = `)
)

// ungluedLoad parts the lines of such tools whose ends were lost.
func ungluedLoad(line string) []string {
	if strings.Contains(line, "Running") && wrkRunning.MatchString(line) && matchesAny(line, wrkRate, cannonTotal) {
		return partedAt(loadPiece, line)
	}
	for _, g := range gluedLoads() {
		lost := true
		for _, words := range g.all {
			lost = lost && strings.Contains(line, words)
		}
		if lost {
			return partedAt(g.pieces, line)
		}
	}
	return []string{line}
}

// partedAt are the pieces of a line.
func partedAt(begins expression, line string) (lines []string) {
	for piece := range strings.SplitSeq(begins.ReplaceAllString(line, "\n$0"), "\n") {
		lines = append(lines, strings.TrimSpace(piece))
	}
	return lines
}
