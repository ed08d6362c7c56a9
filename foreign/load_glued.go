package foreign

import "strings"

// loadPiece is where a line of wrk, autocannon or h2load begins.
var loadPiece = expressionOf(`Running \S+(?: requests)? test @|\d+ threads and \d+ connections|\d+ connections|Thread Stats|Latency\s+[\d.]+(?:us|ms|s|m|h)\s|Req/Sec\s+[\d.]|Latency Distribution|` +
	`\d+(?:\.\d+)?%\s+[\d.]+(?:us|ms|s|m|h)\b|[\d.]+[kM]? requests in|Socket errors:|Non-2xx or|Requests/sec:|Transfer/sec:|` +
	`starting benchmark\.\.\.|spawning thread #|Application protocol:|finished in |progress: |requests: \d|status codes:|traffic:|min +max|time for |time to |req/s +:|` +
	`[┌├└]─|│ (?:Stat|Latency|Req/Sec|Bytes/Sec)|\d+ 2xx responses|[\d.]+[kM]? errors \(|Req/Bytes counts`)

// ungluedLoad parts the lines of wrk, autocannon and h2load whose ends were lost.
func ungluedLoad(line string) []string {
	isWrk := strings.Contains(line, "Running") && wrkRunning.MatchString(line) && matchesAny(line, wrkRate, cannonTotal)
	isH2load := strings.Contains(line, "finished in ") && strings.Contains(line, " total, ")
	if !isWrk && !isH2load {
		return []string{line}
	}
	var lines []string
	for piece := range strings.SplitSeq(loadPiece.ReplaceAllString(line, "\n$0"), "\n") {
		lines = append(lines, strings.TrimSpace(piece))
	}
	return lines
}
