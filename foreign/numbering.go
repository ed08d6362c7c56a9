package foreign

import (
	"strconv"
)

var number = expressionOf(`^\s*(\d{1,6})(?:[:|.)]?\s|[:|)]|$)`)

// chain is how many lines must count on before their numbers are believed.
const chain = 3

// unnumber takes off line numbers: leading numbers that count on from line to
// line. Other leading numbers of a log do not. It reports whether any
// were there.
func unnumber(lines []string) (some bool) {
	var at, numbers, ends []int // of the lines that are not blank
	for n, line := range lines {
		if line == "" {
			continue
		}
		value, end := -1, 0
		if m := number().FindStringSubmatchIndex(line); m != nil {
			if parsed, err := strconv.Atoi(line[m[2]:m[3]]); err == nil {
				value, end = parsed, m[1]
			}
		}
		at, numbers, ends = append(at, n), append(numbers, value), append(ends, end)
	}
	numbered, count := chained(numbers)
	last := -1
	for n, value := range numbers {
		// Where most lines are numbered, one after a gap is too.
		if numbered[n] || 2*count > len(numbers) && value > last {
			last = value
			lines[at[n]] = lines[at[n]][ends[n]:]
		}
	}
	return count > 0
}

// chained marks the numbers that count on, three or more in a row.
func chained(numbers []int) (marked []bool, count int) {
	marked = make([]bool, len(numbers))
	for first := 0; first < len(numbers); {
		next := first + 1
		for next < len(numbers) && numbers[first] >= 0 && numbers[next] == numbers[next-1]+1 {
			next++
		}
		if next-first >= chain {
			count += next - first
			for n := first; n < next; n++ {
				marked[n] = true
			}
		}
		first = next
	}
	return marked, count
}
