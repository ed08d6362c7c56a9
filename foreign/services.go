package foreign

import (
	"slices"
	"strings"
	"sync"
)

// serviceForms are how the name of a service comes before each of its lines: of docker compose,
// kubectl logs --prefix, journalctl, stern, of iperf3 --title and pdsh, and the files of grep.
var serviceForms = sync.OnceValue(func() []expression {
	return []expression{
		expressionOf(`^([A-Za-z][\w.-]*) *\|(?: (.*))?$`),
		expressionOf(`^\[([a-z][\w./-]*)\](?: (.*))?$`),
		expressionOf(`^(\S+ [\w./-]+\[\d+\]):(?: (.*))?$`),
		expressionOf(`^([a-z][a-z0-9.]*-[a-z0-9.-]* [a-z][a-z0-9-]*)(?: (.*))?$`),
		expressionOf(`^([A-Za-z][\w .@/-]*):(?: +(.*))?$`),
		expressionOf(`^((?:\d{1,3}\.){3}\d{1,3}|[\w./-]+\.(?:log|txt|out)): ?(.*)$`),
	}
})

// services parts the lines of several services, each with its name before it: the lines of each
// are a separate paste, in the order in which they were printed.
func services(lines []string, all []parser) [][]string {
	for _, form := range serviceForms() {
		if parted := partedBy(form, lines, all); parted != nil {
			return parted
		}
	}
	return [][]string{lines}
}

const (
	firstLines  = 60 // of a log, by which one sees whether names are before its lines
	leastOfName = 2  // lines with a name before them
)

// partedBy is nil where the lines have no names of this form before them.
func partedBy(form expression, lines []string, all []parser) [][]string {
	if len(lines) > firstLines && !hasNames(form, lines[:firstLines], all, 1) || !hasNames(form, lines, all, leastOfName) {
		return nil
	}
	count := map[string]int{}
	for _, line := range lines {
		if m := form.FindStringSubmatch(line); m != nil {
			count[m[1]]++
		}
	}
	var parted [][]string
	place := map[string]int{}
	for _, line := range lines {
		name := ""
		if m := form.FindStringSubmatch(line); m != nil && (count[m[1]] >= leastOfName || ofName(line, m[2], all)) && !isTool(m[1]) {
			name, line = m[1], m[2]
		}
		if _, found := place[name]; !found {
			place[name] = len(parted)
			parted = append(parted, nil)
		}
		parted[place[name]] = append(parted[place[name]], line)
	}
	for n := range parted {
		parted[n] = unquote(parted[n])
	}
	return parted
}

// hasNames reports whether most lines have names of this form before them, and what follows one
// of them is a tool's line.
func hasNames(form expression, lines []string, all []parser, least int) bool {
	count, filled, known := map[string]int{}, 0, false
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		filled++
		if m := form.FindStringSubmatch(line); m != nil && !isTool(m[1]) {
			count[m[1]]++
			known = known || claimed(m[2], all)
			if ofName(line, m[2], all) {
				count[m[1]] = max(count[m[1]], least)
			}
		}
	}
	named := 0
	for _, n := range count {
		if n >= least {
			named += n
		}
	}
	return known && 3*named >= 2*filled
}

// ofName reports whether a line is of a run only without the name before it: by grep a run may have one line.
func ofName(line, rest string, all []parser) bool {
	_, isCommand := commandIn(rest)
	return strings.ContainsAny(rest, "0123456789") && !isCommand && claimed(rest, all) && !claimed(line, all)
}

// isTool reports whether a name is a tool's, which some print before their own lines.
func isTool(name string) bool { return slices.Contains(Tools(), name) }

// claimed reports whether a line by itself is a tool's, or begins a document.
func claimed(line string, all []parser) bool {
	line = strings.TrimSpace(unmark(line))
	if object.MatchString(line) {
		return true
	}
	for _, p := range all {
		if p.claim([]string{line}) != none {
			return true
		}
	}
	return false
}
