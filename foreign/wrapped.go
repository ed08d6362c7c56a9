package foreign

import (
	"encoding/json"
	"strings"
)

var (
	// logger begins a line that a logger wrote: a JSON object, one of its fields on a line, or
	// keys and values.
	logger = expressionOf(`^\s*(?:\{\s*"|"\w+"\s*:\s*"|(?:time|ts|level|lvl)=)`)
	// logs are the fields in which it has what a tool printed.
	logs = expressionOf(`(?:^|[\s,{])"?(?:log|msg|message|MESSAGE|output|stdout|text|body)"?\s*[:=]\s*("(?:[^"\\]|\\.)*")`)
)

// logged are the lines in a logger's line: those of the longest of its texts, and in one whose line
// ends are written out.
func logged(line string) []string {
	const several = 3 // line ends that are written out: of a program that shows a text as its language writes it
	switch {
	case logger.MatchString(line):
	case strings.Count(line, `\n`) >= several && !strings.Contains(line, `":`): // no document's
		return strings.Split(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(line), "\n")
	default:
		return []string{line}
	}
	longest := "" // a line end is in what another program printed
	for _, m := range logs().FindAllStringSubmatch(fields(line), -1) {
		var text string
		if json.Unmarshal([]byte(m[1]), &text) == nil && strings.Contains(text, "\n") && len(text) > len(longest) {
			longest = text
		}
	}
	if longest == "" {
		return []string{line}
	}
	return strings.Split(strings.TrimSuffix(newline.ReplaceAllString(longest, "\n"), "\n"), "\n")
}

// fields are the texts of an object, without what is in the objects in it, which may be a tool's
// document; of another line, all of it.
func fields(line string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &object) != nil {
		return line
	}
	var texts []string
	for name, value := range object {
		if value[0] == '"' {
			texts = append(texts, `"`+name+`":`+string(value))
		}
	}
	return strings.Join(texts, "\n")
}

var (
	rowBegins = expressionOf(`^\[\s*(?:\*?\s*\d+|SUM)\]`)
	rowEnds   = expressionOf(`^(?:[KMG]?Bytes$|[KMG]?bits/sec\b|(?:sender|receiver)$|\d+/\d+\s*\(|\(?[\d.]+%\)|ms\s)`)
)

// rejoined adds a line to those before it: to the last, where it is the end of a row of iperf
// that did not fit into the width of a mail.
func rejoined(lines []string, line string) []string {
	if last := len(lines) - 1; last >= 0 && rowEnds.MatchString(line) && rowBegins.MatchString(lines[last]) {
		lines[last] += " " + line
		return lines
	}
	return append(lines, line)
}

var (
	// commas are in the figures of tools in languages that write them so.
	commas = expressionOf(`\d,\d+\s*-\s*\d+,\d+\s+(?:sec|s)\b|[=<]\d+,\d+\s*ms|=\s*\d+,\d+/\d+,\d+/\d+,\d+|` +
		`^\s*(?:Latency|Req/Sec|\d+(?:,\d+)?%)\s+\d+,\d\d?(?:us|ms|s|m|h|k|M)\b|/sec:\s*\d+,\d\d(?:[KMGT]?B)?\s*$|requests in \d+,\d\d?(?:s|m|h),`)
	// thousands are parted in the counts of a table that was copied.
	thousands = expressionOf(`^\s*(?:Requests/sec:\s+\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*$|\d{1,3}(?:,\d{3})+ requests in )`)
	comma     = expressionOf(`(\d),(\d)`)
)

// pointed writes decimals with points.
func pointed(line string) string {
	if strings.Contains(line, ",") && thousands.MatchString(line) {
		return comma.ReplaceAllString(line, "$1$2")
	}
	if strings.Contains(line, ",") && commas.MatchString(line) {
		return comma.ReplaceAllString(line, "$1.$2")
	}
	return line
}
