package foreign

import "strings"

// loadPiece is where a line of wrk or of autocannon begins.
var loadPiece = expressionOf(`Running \S+(?: requests)? test @|\d+ threads and \d+ connections|\d+ connections|Thread Stats|Latency\s+[\d.]+(?:us|ms|s|m|h)\s|Req/Sec\s+[\d.]|Latency Distribution|` +
	`\d+(?:\.\d+)?%\s+[\d.]+(?:us|ms|s|m|h)\b|[\d.]+[kM]? requests in|Socket errors:|Non-2xx or|Requests/sec:|Transfer/sec:|` +
	`[┌├└]─|│ (?:Stat|Latency|Req/Sec|Bytes/Sec)|\d+ 2xx responses|[\d.]+[kM]? errors \(|Req/Bytes counts`)

// ungluedLoad parts the lines of wrk and autocannon whose ends were lost.
func ungluedLoad(line string) []string {
	if !strings.Contains(line, "Running") || !wrkRunning.MatchString(line) || !matchesAny(line, wrkRate, cannonTotal) {
		return []string{line}
	}
	return strings.Split(loadPiece.ReplaceAllString(line, "\n$0"), "\n")
}
