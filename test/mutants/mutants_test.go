package mutants

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// leastDead is the share of the mutants of a package that must die, and mayDiffer is how many
// may live or die against the list: those that only random inputs kill, and not each time.
const (
	leastDead = 0.85
	mayDiffer = 2
)

// subject is a package whose tests are tested.
type subject struct {
	pkg   string
	oneIn uint32 // of so many mutants one is tried
	skip  string // quick tests of chance, which take seconds each
	late  string // quick tests that take seconds: they are asked of what the others leave alive
}

// subjects are the packages, a line each.
func subjects() []subject {
	const (
		ofStats = "TestSteadyRunHasNoChange|TestDriftIsSeldomAChange|TestBlocksNeededDecide|TestShiftCovers|TestEqualNetworksAreJudgedEqual|" +
			"TestEstimateCovers|TestDetectableTollsAreFoundFourTimesInFive|TestChancesBeyondAreAsRareAsTheySay|TestChancesHold|TestQuantileCovers|TestTollIntervalCovers"
		ofWeigh   = "TestLookingKeepsWhatIntervalsClaim|TestEqualNetworksAreSeldomDistinguished|TestTollsAreFound|TestSteadySoakHasNoAlarm"
		ofForeign = "TestAnyPasteGivesTheSameNumbers|TestNoPasteMakesOtherNumbers"
		ofLogs    = "TestLogsThatLackSomething|TestLogsOneAfterTheOther|TestTextsFullOfBracesEnd|TestStreamsOfEventsAreReadOnce|TestServicesInOneLog|" +
			"TestParametersOfReadersAreAxes"
		ofFixes = "TestFixesTakeNoRouteThatTheyDoNotName|TestSentencesOfFindings|TestTunnelsOnAWrongUnderlay|TestRoutesThatLeadAstray"
	)
	return []subject{
		{"wire", 1, "", ""},
		{"stats", 10, ofStats, ""},
		{"experiment/schedule", 2, "", ""},
		{"weigh", 10, ofWeigh, ""},
		{"foreign", 40, ofForeign, ofLogs},
		{"diagnose", 40, "", ofFixes},
		{"firewall", 3, "", ""},
	}
}

var (
	oneIn = flag.Uint("one-in", 0, "try one of so many mutants (0: as subjects says)")
	only  = flag.String("only", "", "try the mutants of which this is a part: a file, a line")
)

func TestDeepMutants(t *testing.T) {
	listed, err := readAlive("alive.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects() {
		t.Run(s.pkg, func(t *testing.T) {
			t.Parallel()
			if *oneIn > 0 {
				s.oneIn = uint32(*oneIn)
			}
			sample := func(m mutant) bool { return sampled(m, s.oneIn) }
			if *only != "" {
				sample = func(m mutant) bool { return strings.Contains(m.String(), *only) }
			}
			skip := labtest.NotQuick
			if s.skip != "" {
				skip += "|" + s.skip
			}
			sum := newLaboratory(t, "../..", s.pkg, skip, s.late, 40*time.Second).tally(t, sample, listed)
			t.Logf("%s: %s", s.pkg, sum)
			if sum.share() < leastDead {
				t.Errorf("fewer than %.0f %% are dead", 100*leastDead)
			}
			for _, m := range sum.unlisted {
				t.Logf("alive, but not listed: %s", m)
			}
			for _, m := range sum.surprising {
				t.Logf("listed as alive, but dead: %s", m)
			}
			if len(sum.unlisted) > mayDiffer {
				t.Errorf("%d mutants live that alive.txt does not list: kill them with a test, or list them with why", len(sum.unlisted))
			}
			if len(sum.surprising) > mayDiffer {
				t.Errorf("alive.txt lists %d mutants that are dead", len(sum.surprising))
			}
		})
	}
}

// A test that has another name now is neither left out nor late.
func TestSubjectsNameTests(t *testing.T) {
	for _, s := range subjects() {
		files, err := filepath.Glob(filepath.Join("../..", s.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var tests []byte
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, text...)
		}
		for name := range strings.FieldsFuncSeq(s.skip+"|"+s.late, func(r rune) bool { return r == '|' }) {
			if !bytes.Contains(tests, []byte("\nfunc "+name+"(")) {
				t.Errorf("%s has no test %s", s.pkg, name)
			}
		}
	}
}

// What must die, live and fail to compile does.
func TestDeepTinyModule(t *testing.T) {
	listed := []mutant{
		{"tiny.go", "return make([]int, 0, n/2)"},
		{"tiny.go", "return a - b // of numbers"},
	}
	sum := newLaboratory(t, "testdata/tiny", ".", "^$", "", 10*time.Second).tally(t, func(mutant) bool { return true }, listed)
	if got, want := sum.String(), "4 mutants, 2 dead and 1 endless: 75 %; 1 alive, of which 1 listed; 1 not viable"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(sum.surprising) != 1 || sum.surprising[0] != listed[1] {
		t.Errorf("listed but dead: %v, want %v", sum.surprising, listed[1])
	}
}
