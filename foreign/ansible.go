package foreign

import (
	"encoding/json"
	"strings"
)

var (
	// again is what Ansible prints of a program's output a second time, line by line, beside the whole.
	again = expressionOf(`("(?:stdout|stderr)"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*)"(?:stdout|stderr)_lines"\s*:\s*\[[^"\]]*(?:"(?:[^"\\]|\\.)*"[^"\]]*)*\]|` +
		`"stdout_lines"\s*:\s*\[[^"\]]*(?:"(?:[^"\\]|\\.)*"[^"\]]*)*\]\s*,(\s*"stdout"\s*:)|` +
		`('(?:stdout|stderr)': u?'(?:[^'\\]|\\.)*', u?)'(?:stdout|stderr)_lines': \[[^'\]]*(?:'(?:[^'\\]|\\.)*'[^'\]]*)*\]`)
	// byLine is an output of which it prints the lines only.
	byLine = expressionOf(`"(?:[\w.]*_lines|msg)"\s*:\s*(\[\s*"(?:[^"\\]|\\.)*"\s*(?:,\s*"(?:[^"\\]|\\.)*"\s*)*\])`)
	// outcome is how it begins what a task left.
	outcome = expressionOf(`(?m)^((?:ok|changed|fatal|failed): \[[^\]\n]*\].*?=> )\{`)
)

// registered is a text in which Ansible has each output once, as a whole.
func registered(text string) string {
	text = outcome.ReplaceAllString(text, "$1\n{")
	if strings.Contains(text, "_lines") {
		text = again.ReplaceAllString(text, `$1$2$3`)
	}
	for _, m := range byLine().FindAllStringSubmatch(text, -1) {
		var lines []string
		if json.Unmarshal([]byte(m[1]), &lines) == nil {
			if whole, err := json.Marshal(strings.Join(lines, "\n")); err == nil {
				text = strings.Replace(text, m[0], `"stdout": `+string(whole), 1)
			}
		}
	}
	return text
}
