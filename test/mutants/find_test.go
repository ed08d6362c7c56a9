package mutants

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// tool is the mutation tester; this is the one place that names its version.
const tool = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

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

// found is a mutant in the text of its file.
type found struct {
	mutant
	text string // of the whole file
}

// mutants are those that gremlins finds.
func (l laboratory) mutants(t *testing.T) (all []found) {
	t.Helper()
	output := filepath.Join(l.folder, "report.json")
	// The kinds of mutants are gremlins's own choice, but that a minus is also inverted as a sign, which
	// is the same mutant again. A folder below the package is another package.
	cmd := exec.CommandContext(t.Context(), "go", "run", tool, "unleash", "--dry-run", "--output", output,
		"--invert-negatives=false", "--exclude-files", "/", "./"+l.pkg)
	cmd.Dir = l.root
	// It asks first what the tests cover. What none covers counts as well, so none is run.
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -run=^$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gremlins: %v\n%s", err, out)
	}
	report, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Files []struct {
			Name    string `json:"file_name"`
			Mutants []struct {
				Kind   string `json:"type"`
				Line   int    `json:"line"`
				Column int    `json:"column"`
			} `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	for _, file := range r.Files {
		name := path.Join(l.pkg, file.Name)
		text, err := os.ReadFile(filepath.Join(l.root, name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for _, at := range file.Mutants {
			line, ok := changed(lines[at.Line-1], at.Column-1, changes()[at.Kind])
			if !ok {
				t.Fatalf("%s:%d:%d: what is a mutant of the kind %s?", name, at.Line, at.Column, at.Kind)
			}
			before, after := strings.Join(lines[:at.Line-1], "\n"), strings.Join(lines[at.Line:], "\n")
			all = append(all, found{mutant{name, strings.TrimSpace(line)}, before + "\n" + line + "\n" + after})
		}
	}
	return all
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
