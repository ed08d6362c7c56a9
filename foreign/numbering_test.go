package foreign

import (
	"strings"
	"testing"
)

// Line numbers are those that count on; a log's own numbers stay.
func TestLineNumbersAreTakenOff(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"1 a/2 b/3 c", "a/b/c"},
		{"0: a/1: b/2: c", "a/b/c"},
		{"8|a//9|b/10|c/", "a//b/c/"},
		{"1/2/3", "//"},
		{"1 a/2 b", "1 a/2 b"},
		{"1 a/2 b/4 c", "1 a/2 b/4 c"},
		{"a/2 b/3 c", "a/2 b/3 c"},
		{"3 a/2 b/1 c", "3 a/2 b/1 c"},
		{"1a/2a/3a", "1a/2a/3a"},
		// After a gap, where most are numbered.
		{"1 a/2 b/3 c/7 d", "a/b/c/d"},
		{"1 a/5 b/6 c/7 d", "a/b/c/d"},
		{"1 a/2 b/3 c/3 d", "a/b/c/3 d"},
		{"1 a/2 b/3 c/1 d", "a/b/c/1 d"},
		{"1 a/2 b/3 c/d/e/7 f", "a/b/c/d/e/7 f"},
		{"a/b/c/1 d/2 e/3 f/9 g", "a/b/c/d/e/f/9 g"},
		{"1 a/2 b/3 c/x/1 d/2 e/3 f/9 g", "a/b/c/x/d/e/f/g"},
	} {
		lines := strings.Split(c.lines, "/")
		some := unnumber(lines)
		if got := strings.Join(lines, "/"); got != c.want || some != (c.lines != c.want) {
			t.Errorf("%s: %s, %v; want %s", c.lines, got, some, c.want)
		}
	}
}
