package mutants

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tare/test/labtest"
)

// tool is the mutation tester; this is the one place that names its version.
const tool = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

// leastDead is the share of the mutants of a package that must die, and mayLive is how many
// may live unlisted: those that only random inputs kill, and not each time.
const (
	leastDead = 0.85
	mayLive   = 2
)

// subject is a package whose tests are tested.
type subject struct {
	pkg   string
	oneIn uint32 // of so many mutants one is tried
	skip  string // quick tests of chance, which take seconds each
}

// subjects are the packages, a line each.
func subjects() []subject {
	const (
		ofStats = "TestSteadyRunHasNoChange|TestDriftIsSeldomAChange|TestBlocksNeededDecide|TestShiftCovers|TestEqualNetworksAreJudgedEqual|" +
			"TestDetectableTollsAreFoundFourTimesInFive|TestChancesBeyondAreAsRareAsTheySay|TestChancesHold|TestQuantileCovers|TestTollIntervalCovers"
		ofWeigh   = "TestLookingKeepsWhatIntervalsClaim|TestSteadySoakHasNoAlarm"
		ofForeign = "TestAnyPasteGivesTheSameNumbers"
	)
	return []subject{
		{"wire", 1, ""},
		{"stats", 5, ofStats},
		{"weigh", 5, ofWeigh},
		{"foreign", 5, ofForeign},
		{"diagnose", 5, ""},
	}
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(standIn(os.Args[1:]))
	}
	os.Exit(m.Run())
}

var (
	oneIn   = flag.Uint("one-in", 0, "try one of so many mutants (0: as subjects says)")
	workers = flag.Int("workers", 0, "how many mutants are tried at the same time (0: as many as there are CPUs)")
)

func TestDeepMutants(t *testing.T) {
	listed, err := readAlive("alive.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects() {
		t.Run(s.pkg, func(t *testing.T) {
			if *oneIn > 0 {
				s.oneIn = uint32(*oneIn)
			}
			tally, err := s.tally(gremlins(t, s), listed)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(tally)
			for _, m := range tally.surprising {
				t.Logf("listed as alive, but dead: %s", m)
			}
			if tally.share() < leastDead {
				t.Errorf("fewer than %.0f %% are dead", 100*leastDead)
			}
			for _, m := range tally.unlisted {
				t.Logf("alive, but not listed: %s", m)
			}
			if len(tally.unlisted) > mayLive {
				t.Errorf("%d mutants live that alive.txt does not list: kill them with a test, or list them with why", len(tally.unlisted))
			}
		})
	}
}

// report is what gremlins writes.
type report struct {
	Files []struct {
		Name    string `json:"file_name"`
		Mutants []struct {
			Kind   string `json:"type"`
			Status string `json:"status"`
			Line   int    `json:"line"`
			Column int    `json:"column"`
		} `json:"mutations"`
	} `json:"files"`
}

// gremlins runs it on a package, with this binary in the place of go.
func gremlins(t *testing.T, s subject) (r report) {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(folder, "go")); err != nil {
		t.Fatal(err)
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// go run would put the real go before the stand-in.
	install := exec.CommandContext(t.Context(), real, "install", tool)
	install.Env = append(os.Environ(), "GOBIN="+folder)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install %s: %v\n%s", tool, err, out)
	}
	output := filepath.Join(folder, "report.json")
	// The kinds of mutants are gremlins's own choice, but that a minus is also inverted as a sign, which
	// is the same mutant again. A folder below the package is another package. The coefficient takes
	// gremlins's limit of time away: that of a test binary counts.
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "gremlins"), "unleash", "--output", output,
		"--invert-negatives=false", "--exclude-files", "/",
		"--timeout-coefficient", "600", "--workers", fmt.Sprint(*workers), "./"+s.pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"),
		asGo+"="+real, asGo+"_ROOT="+root, asGo+"_PACKAGE="+s.pkg, fmt.Sprintf("%s_ONE_IN=%d", asGo, s.oneIn),
		asGo+"_SKIP="+skipOf(s))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gremlins: %v\n%s", err, out)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func skipOf(s subject) string {
	if s.skip == "" {
		return labtest.NotQuick
	}
	return labtest.NotQuick + "|" + s.skip
}
