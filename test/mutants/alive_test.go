package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tally is how many mutants of a package had each fate.
type tally struct {
	fates      map[fate]int
	unlisted   []mutant // alive
	surprising []mutant // listed, but dead
}

// died is how many did, of how many that were tried.
func (s tally) died() (died, of int) {
	died = s.fates[dead] + s.fates[endless]
	return died, died + s.fates[alive]
}

func (s tally) share() float64 {
	died, of := s.died()
	return float64(died) / float64(max(of, 1))
}

func (s tally) String() string {
	_, of := s.died()
	return fmt.Sprintf("%d mutants, %d dead and %d endless: %.0f %%; %d alive, of which %d listed; %d not viable", of,
		s.fates[dead], s.fates[endless], 100*s.share(), s.fates[alive], s.fates[alive]-len(s.unlisted), s.fates[notViable])
}

// tally tries a sample.
func (l laboratory) tally(t *testing.T, inSample func(mutant) bool, listed []mutant) tally {
	t.Helper()
	sum := tally{fates: map[fate]int{}}
	lives := map[mutant]bool{} // of those that are listed
	for _, m := range l.mutants(t) {
		if !inSample(m.mutant) {
			continue
		}
		fate, why := l.try(t, &m)
		t.Logf("%s: %s %s", m, fate, why)
		sum.fates[fate]++
		switch known := slices.Contains(listed, m.mutant); {
		case fate == notRun:
			t.Errorf("%s: the tests neither passed nor failed: %s", m, why)
		case fate == alive && !known:
			sum.unlisted = append(sum.unlisted, m.mutant)
		case fate != notViable && known:
			lives[m.mutant] = lives[m.mutant] || fate == alive // two lines of a file may be alike
		}
	}
	for m, alive := range lives {
		if !alive {
			sum.surprising = append(sum.surprising, m)
		}
	}
	return sum
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
