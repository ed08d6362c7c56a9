package agreement

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tare/test/labtest"
)

// tollTries is how often a toll may be weighed: a machine that does other work can
// spoil the windows of one try.
const tollTries = 3

// TestDeepKnownToll weighs a network that was given 80 % of the others' link: the
// whole way from a plan to a toll, against a truth from outside.
func TestDeepKnownToll(t *testing.T) {
	binary := labtest.Tare(t)
	for range tollTries {
		var off []string
		tolls, text := knownTolls(t, binary)
		for name, want := range map[string]float64{"route": 0.20, "ptp": 0} {
			if got, ok := tolls[name]; !ok || math.Abs(got-want) > 0.03 {
				off = append(off, fmt.Sprintf("toll of %s is %.3f, want %.2f\n%s", name, got, want, text))
			}
		}
		if len(off) == 0 {
			return
		}
		labtest.TryAgain(t, "%s", strings.Join(off, "\n"))
	}
	t.Errorf("in none of %d tries were the tolls those of the links", tollTries)
}

// knownTolls runs the example and gives its tolls and what it printed.
func knownTolls(t *testing.T, binary string) (tolls map[string]float64, printed string) {
	t.Helper()
	res, printed := runPlan(t, binary, "../../examples/known-toll.yaml", "--duration", "400ms")
	tolls = map[string]float64{}
	for _, cell := range res.Cells {
		for _, m := range cell.Metrics {
			if m.Name == "throughput" && m.Toll != nil {
				tolls[cell.Network] = m.Toll.Value
			}
		}
	}
	return tolls, printed
}
