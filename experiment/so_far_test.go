package experiment

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// Between blocks a run says what it has measured, weighed by headlines alone as it is in the end. Who
// looks changes no number.
func TestRunSaysWhatItHasSoFar(t *testing.T) {
	measured := func(look bool) (text string) {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Blocks = 8
			w := even()
			w.Tolls = map[string]float64{"veth": 0.5}
			run := newSimRun(t, plan, w.Measure)
			looked, before := 0, time.Duration(0)
			run.SoFar = func(blocks int, took time.Duration, weighed func() *result.Result) {
				looked++
				labtest.Equal(t, "blocks", blocks, looked)
				labtest.MoreThan(t, "time", took, before)
				before = took
				if !look {
					return
				}
				for _, cell := range weighed().Cells {
					at := fmt.Sprintf("%s after %d blocks: ", cell.Network, blocks)
					labtest.Equal(t, at+"metrics", len(cell.Metrics), 1)
					labtest.Equal(t, at+"blocks", weigh.Headline(&cell).N, blocks)
					if toll := weigh.Headline(&cell).Toll; cell.Network == "veth" {
						labtest.Near(t, at+"toll", toll.Value, 0.5, 0.1)
						labtest.Equal(t, at+"decided", toll.Verdict == "slower", blocks >= 6)
					}
				}
			}
			res := run.mustRun(t, plan)
			labtest.Equal(t, "looks: one between two blocks", looked, plan.Blocks-1)
			res.ID, res.Environment = "", result.Environment{}
			var all bytes.Buffer
			if err := res.Write(&all); err != nil {
				t.Fatal(err)
			}
			text = all.String()
		})
		return text
	}
	if measured(true) != measured(false) {
		t.Error("it measures something else where nobody looks")
	}
}

// A run that looks at what is decided has no number of blocks beforehand, and names none that it
// does not measure: its last is that of the answer.
func TestProgressOfARunThatLooks(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Looks, plan.Blocks = true, 12
		w := even()
		w.Block, w.Tolls = 0.04, map[string]float64{"veth": 0.5, "bridge": 0.04}
		run := newSimRun(t, plan, w.Measure)
		blocks := len(cellOf(t, run.mustRun(t, plan), "bridge").Samples)
		last := Progress{}
		for _, p := range run.progress {
			if p.Checking {
				continue
			}
			labtest.Equal(t, "blocks that are known", p.Blocks, 0)
			if last.Left > 0 && p.Block == last.Block {
				labtest.LessThan(t, "time left", p.Left, last.Left)
			}
			last = p
		}
		labtest.Equal(t, "last block under way", last.Block+1, blocks)
		labtest.MoreThan(t, "time left", last.Left, 0)
	})
}
