package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// What is known of a run that goes on is the matrix of its answer, below a line that counts.
func TestSoFarIsTheAnswersMatrix(t *testing.T) {
	for lang, heading := range map[string]string{
		English: "So far, after 10 blocks (15 s): 32 of 34 decided.",
		Chinese: "目前完成 10 轮（15 s）：34 项比较中已判定 32 项。",
	} {
		opts := Options{Width: 80, Lang: lang}
		so, ok := SoFar(quick(), 15*time.Second+900*time.Millisecond, opts)
		labtest.Equal(t, "there is a matrix", ok, true)
		labtest.Equal(t, "heading", so.Heading, heading)
		fits(t, strings.Join(so.Matrix, "\n"), 80)
		rows := strings.Join(so.Matrix[:len(so.Matrix)-1], "\n")
		labtest.Contains(t, "the answer", renderAnswer(t, quick(), opts), rows+"\n")
		for _, name := range []string{"veth", "proxy", "vxlan"} {
			labtest.Contains(t, "matrix", rows, "\n  "+name)
		}
	}
	so, _ := SoFar(quick(), 15*time.Second, Options{})
	labtest.Equal(t, "what the marks mean", so.Matrix[len(so.Matrix)-1], "  = no toll beyond the margin; · undecided so far.")
}

// Before there can be a verdict, the line says how many blocks one needs.
func TestSoFarTooFewBlocks(t *testing.T) {
	so, ok := SoFar(few(), 150*time.Second, Options{})
	labtest.Equal(t, "there is a matrix", ok, true)
	labtest.Equal(t, "heading", so.Heading, "So far, after 4 blocks (2 minutes): 0 of 4 decided; a verdict needs 6 blocks.")
	labtest.Contains(t, "matrix", strings.Join(so.Matrix, "\n"), "veth     · ·")
}

// A terminal that is narrower than any report has a line that fits.
func TestSoFarInANarrowTerminal(t *testing.T) {
	so, ok := SoFar(quick(), 15*time.Second, Options{Width: 40})
	labtest.Equal(t, "something is known", ok, true)
	labtest.Equal(t, "heading", so.Heading, "So far, after 10 blocks (15 s): 32 of 3…")
	labtest.Equal(t, "lines below", len(so.Matrix), 0)
}

// What has no toll yet is one more that is undecided.
func TestSoFarCountsWhatHasNoTollYet(t *testing.T) {
	res := quick()
	for n := range res.Cells {
		if c := &res.Cells[n]; c.Network == "vxlan" && c.Path == catalog.CrossHost && c.Workload == "tcp_rr" {
			weigh.Headline(c).Toll = nil
		}
	}
	so, _ := SoFar(res, 15*time.Second, Options{})
	labtest.Equal(t, "heading", so.Heading, "So far, after 10 blocks (15 s): 31 of 34 decided.")
	labtest.Contains(t, "matrix", strings.Join(so.Matrix, "\n"), "  vxlan    +15 +1.7   +33    ·  +34 +4.6")
}

func TestSoFarWithoutTolls(t *testing.T) {
	_, ok := SoFar(&result.Result{Cells: []result.Cell{{Network: catalog.Baseline, Path: catalog.SameHost, Workload: "tcp_rr", Status: result.StatusOK}}}, time.Minute, Options{})
	labtest.Equal(t, "there is a matrix", ok, false)
}

// A run that looks at what is decided has as many blocks as it took, and not a part of those that
// its plan has on average.
func TestBlocksOfARunThatLooks(t *testing.T) {
	for looks, want := range map[bool]string{false: "10 of 12 blocks\n", true: ", 10 blocks\n"} {
		res := quick()
		res.Plan.Blocks, res.Plan.Looks = 12, looks
		labtest.Contains(t, fmt.Sprintf("looks: %t", looks), renderAnswer(t, res, Options{}), want)
	}
}
