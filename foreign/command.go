package foreign

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// command is a tool's command line as it was typed above its output.
type command struct {
	tool string
	args []string
}

// programs are the commands of the tools whose flags are read.
const programs = "iperf3|iperf|qperf|sockperf|wrk2|wrk|autocannon|sysbench|containerd-stress|netperf|h2load"

// typed finds one behind a prompt, a path, or in what a shell is given (bash -lc '...').
var typed = expressionOf(`(?:^|[\s$#>%/\\_*]|-l?c\s+["'])((?:` + programs + `)(?:\.exe|\.js)?)\s+(\S.*)$`)

// verbs are the words, in addition to flags, that show that a tool's name is followed
// by its arguments and not by prose.
var verbs = expressionOf(`^(?:-{1,2}[A-Za-z].*|https?://.*|[a-z]+_(?:bw|lat)|pp|ping-pong|ul|under-load|tp|throughput|sr|server)$`)

// commandIn finds a command in a line: behind a prompt, or alone.
func commandIn(line string) (command, bool) {
	if !slices.ContainsFunc(strings.Split(programs, "|"), func(name string) bool { return strings.Contains(line, name) }) {
		return command{}, false // as most lines: quick
	}
	var best command
	found := false
	for from := 0; ; { // the last: a container may be called as the tool of another
		m := typed().FindStringSubmatchIndex(line[from:])
		if m == nil {
			return best, found
		}
		before := strings.TrimSpace(line[:from+m[2]])
		c, likely := commandOf(line[from+m[2]:from+m[3]], line[from+m[4]:from+m[5]])
		if likely && !strings.HasSuffix(before, ",") && (!found || !valued.MatchString(before)) { // a comma is of prose
			best, found = c, true
		}
		from += m[3]
	}
}

// valued ends in an option, whose value may come next.
var valued = expressionOf(`(?:^|\s)-\w\S*$`)

// commandOf is the command of a program and its arguments, and whether these look like some.
func commandOf(program, arguments string) (c command, likely bool) {
	c.tool = path.Base(strings.TrimSuffix(strings.TrimSuffix(program, ".exe"), ".js"))
	for _, word := range strings.Fields(arguments) {
		if slices.Contains([]string{"|", ">", "&", ";", "&&", "2>&1", ">>"}, word) {
			break
		}
		likely = likely || verbs.MatchString(word)
		c.args = append(c.args, strings.Trim(word, `"'`))
	}
	if last := len(c.args) - 1; last >= 0 { // the end of a sentence
		c.args[last] = strings.TrimRight(c.args[last], ".,;:")
	}
	return c, likely
}

// flag is the value of an option: -P 4, -P4, --parallel 4, --parallel=4.
func (c command) flag(short, long string) (string, bool) {
	for n, arg := range c.args {
		if value, ok := strings.CutPrefix(arg, long+"="); ok && long != "" {
			return value, true
		}
		if arg == short || arg == long {
			if n+1 < len(c.args) {
				return c.args[n+1], true
			}
			return "", false
		}
		if value, ok := strings.CutPrefix(arg, short); ok && short != "" && !strings.HasPrefix(arg, "--") {
			return value, true
		}
	}
	return "", false
}

// has reports whether an option without a value is there.
func (c command) has(short, long string) bool {
	return slices.Contains(c.args, short) || slices.Contains(c.args, long)
}

// number is the value of an option that counts something.
func (c command) number(short, long string) any {
	text, _ := c.flag(short, long)
	if value, err := strconv.Atoi(text); err == nil && value > 0 {
		return value
	}
	return nil
}

// size is the value of an option in bytes, K being 2^10; iperf 2 has a decimal k, too.
func (c command) size(short, long string) any {
	text, _ := c.flag(short, long)
	if digits, unit, ok := c.decimal(text); ok {
		if value, err := result.ParseBytes(digits); err == nil {
			return value * int64(kilo(unit))
		}
		return nil
	}
	if value, err := result.ParseBytes(text); err == nil {
		return value
	}
	return nil
}

// decimal parts a number whose prefix, a small letter, is a power of 1000 to iperf 2, in
// sizes and rates alike: its capitals are powers of 1024. The other tools ignore the case.
func (c command) decimal(text string) (digits, unit string, ok bool) {
	if c.tool != "iperf" {
		return "", "", false
	}
	digits = strings.TrimRight(text, "kmg")
	return digits, text[len(digits):], len(text)-len(digits) == 1
}

var typedRate = expressionOf(`^([\d.]+)([kKmMgGtT]?)(?:/\d+)?$`)

// rate is the value of an option in bit/s, K being 1000; to iperf 2 it is 1024.
func (c command) rate(short, long string) any {
	text, _ := c.flag(short, long)
	m := typedRate.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	value, ok := parseNumber(m[1])
	if !ok || value <= 0 {
		return nil
	}
	if c.tool == "iperf" && strings.ToUpper(m[2]) == m[2] {
		return value * kibi(m[2])
	}
	return value * kilo(m[2])
}

// word is the value of an option, as it was typed.
func (c command) word(short, long string) any {
	if text, ok := c.flag(short, long); ok && text != "" {
		return text
	}
	return nil
}
