package foreign

import (
	"regexp"
	"strconv"
)

var number = regexp.MustCompile(`^\s*(\d{1,6})(?:[:|.)]?\s|[:|)]|$)`)

// chain is how many lines must count on before their numbers are believed.
const chain = 3

// unnumber takes off line numbers: leading numbers that count on from line to
// line. A log has leading numbers of its own, which do not.
func unnumber(lines []string) []string {
	numbers, ends := make([]int, len(lines)), make([]int, len(lines))
	for n, line := range lines {
		numbers[n] = -1
		if m := number.FindStringSubmatchIndex(line); m != nil {
			if value, err := strconv.Atoi(line[m[2]:m[3]]); err == nil {
				numbers[n], ends[n] = value, m[1]
			}
		}
	}
	numbered := make([]bool, len(lines))
	count := 0
	for first := 0; first < len(lines); {
		next := first + 1
		for next < len(lines) && numbers[first] >= 0 && numbers[next] == numbers[next-1]+1 {
			next++
		}
		if next-first >= chain {
			count += next - first
			for n := first; n < next; n++ {
				numbered[n] = true
			}
		}
		first = next
	}
	out := make([]string, len(lines))
	last := -1
	for n, line := range lines {
		// Where most lines are numbered, one after a gap is too.
		if numbered[n] || 2*count > len(lines) && numbers[n] > last {
			last, line = numbers[n], line[ends[n]:]
		}
		out[n] = line
	}
	return out
}
