package mutants

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a file and what one of its lines was changed to. It is the same wherever the line is.
type mutant struct{ file, line string }

func (m mutant) String() string { return m.file + ": " + strings.TrimSpace(m.line) }

// squeezed is a line without its spaces.
func squeezed(line string) string { return strings.Join(strings.Fields(line), "") }

// sampled reports whether a mutant is in the sample of one in so many.
func sampled(m mutant, oneIn uint32) bool {
	h := fnv.New32a()
	fmt.Fprint(h, m.file, squeezed(m.line))
	return h.Sum32()%oneIn == 0
}

// changes are what gremlins makes of operators, by the kind of mutant.
func changes() map[string]map[string]string {
	return map[string]map[string]string{
		"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
		"CONDITIONALS_BOUNDARY": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
		"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"},
		"INCREMENT_DECREMENT":   {"++": "--", "--": "++"},
	}
}

// changed is the line with the operator at a column changed, as one of changes does it.
func changed(line string, column int, change map[string]string) (string, bool) {
	before, after := line[:column], line[column:]
	for _, length := range []int{2, 1} {
		if len(after) < length {
			continue
		}
		if to, ok := change[after[:length]]; ok {
			return before + to + after[length:], true
		}
	}
	return "", false
}

// tally is what became of the mutants of a package.
type tally struct {
	pkg         string
	oneIn       uint32
	dead, alive int
	unlisted    []mutant // alive
	surprising  []mutant // listed, but dead
}

func (t tally) share() float64 { return float64(t.dead) / float64(max(t.dead+t.alive, 1)) }

func (t tally) String() string {
	of := ""
	if t.oneIn > 1 {
		of = fmt.Sprintf(" (one in %d)", t.oneIn)
	}
	return fmt.Sprintf("%s: %d mutants%s, %d dead, %.0f %%, %d listed", t.pkg, t.dead+t.alive, of,
		t.dead, 100*t.share(), t.alive-len(t.unlisted))
}

// tally counts what was tried.
func (s subject) tally(r report, listed []mutant) (tally, error) {
	sum := tally{pkg: s.pkg, oneIn: s.oneIn}
	for _, file := range r.Files {
		name := s.pkg + "/" + file.Name
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			return sum, err
		}
		lines := strings.Split(string(text), "\n")
		for _, found := range file.Mutants {
			line, ok := changed(lines[found.Line-1], found.Column-1, changes()[found.Kind])
			if !ok {
				return sum, fmt.Errorf("%s:%d:%d: what is a mutant of the kind %s?", name, found.Line, found.Column, found.Kind)
			}
			m := mutant{name, strings.TrimSpace(line)}
			if !sampled(m, s.oneIn) {
				continue
			}
			switch known := slices.Contains(listed, m); found.Status {
			case "KILLED", "TIMED OUT":
				sum.dead++
				if known {
					sum.surprising = append(sum.surprising, m)
				}
			case "LIVED":
				sum.alive++
				if !known {
					sum.unlisted = append(sum.unlisted, m)
				}
			}
		}
	}
	return sum, nil
}

// readAlive reads the list of mutants that live. Each has a reason: the lines that begin with #
// above it, up to an empty line.
func readAlive(name string) (listed []mutant, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	reason := false
	for n, line := range strings.Split(string(text), "\n") {
		switch file, changed, ok := strings.Cut(line, ": "); {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		case !ok || !reason:
			return nil, fmt.Errorf("%s:%d: want FILE: LINE, below a reason: %q", name, n+1, line)
		default:
			listed = append(listed, mutant{file, changed})
		}
	}
	return listed, nil
}

// What is listed is still a mutant of a line that is there.
func TestListedMutantsAreOfThisCode(t *testing.T) {
	listed, err := readAlive("alive.txt")
	if err != nil {
		t.Fatal(err)
	}
	mutants := map[string]map[mutant]bool{}
	for _, m := range listed {
		if _, read := mutants[m.file]; !read {
			text, err := os.ReadFile(filepath.Join("../..", m.file))
			if err != nil {
				t.Fatal(err)
			}
			mutants[m.file] = mutantsOf(m.file, string(text))
		}
		if !mutants[m.file][m] {
			t.Errorf("no line has this mutant: %s", m)
		}
	}
}

// mutantsOf are all that a file may have.
func mutantsOf(file, text string) map[mutant]bool {
	mutants, kinds := map[mutant]bool{}, changes()
	for line := range strings.SplitSeq(text, "\n") {
		for column := range len(line) {
			for _, change := range kinds {
				if other, ok := changed(line, column, change); ok {
					mutants[mutant{file, strings.TrimSpace(other)}] = true
				}
			}
		}
	}
	return mutants
}

func TestAMutantIsALineWithOneOperatorChanged(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		kind   string
		want   string
	}{
		{"if a <= b {", 5, "CONDITIONALS_BOUNDARY", "if a < b {"},
		{"if a <= b {", 5, "CONDITIONALS_NEGATION", "if a > b {"},
		{"x := n*(n+1)", 9, "ARITHMETIC_BASE", "x := n*(n-1)"},
		{"n++", 1, "INCREMENT_DECREMENT", "n--"},
	} {
		if got, ok := changed(c.line, c.column, changes()[c.kind]); !ok || got != c.want {
			t.Errorf("%q at %d, %s: %q", c.line, c.column, c.kind, got)
		}
	}
}
