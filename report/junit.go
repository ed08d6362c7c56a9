package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// writeJUnit writes results as a JUnit report: a suite for each, a test for each cell. It fails where the
// cell did, and is skipped, with the reason, where the cell or the whole network was. What is held
// against limits is JUnit, which a comparison has.
func writeJUnit(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	words, doc := wordsOf(""), suites{Suites: []suite{}}
	for _, res := range results {
		s := suite{Name: result.Plain("tare " + res.ID), Cases: []test{}}
		if at, err := time.Parse(time.RFC3339, res.Started); err == nil {
			s.Timestamp = at.UTC().Format("2006-01-02T15:04:05")
		}
		for n := range res.Cells {
			s.Cases = append(s.Cases, words.testOf(&res.Cells[n]))
		}
		for _, skipped := range res.Plan.Skipped {
			s.Cases = append(s.Cases, test{Name: result.Plain(skipped.Name), Class: "tare", Skipped: &failing{result.Plain(skipped.Reason)}})
		}
		for _, c := range s.Cases {
			if c.Failure != nil {
				s.Failures++
			}
			if c.Skipped != nil {
				s.Skipped++
			}
		}
		s.Tests = len(s.Cases)
		doc.Suites = append(doc.Suites, s)
	}
	return left, doc.write(w)
}

// testOf is a cell as a test. Its output is the toll of its headline.
func (w words) testOf(c *result.Cell) test {
	labels := cellLabels(&result.Cell{Mode: c.Mode, Params: c.Params})
	name := c.Network
	for n := 0; n+1 < len(labels); n += 2 {
		name += " " + labels[n+1]
	}
	t := test{Name: result.Plain(name), Class: result.Plain(strings.Join([]string{"tare", c.Path, c.Workload}, "."))}
	switch c.Status {
	case result.StatusFailed:
		t.Failure = &failing{result.Plain(c.Reason)}
	case result.StatusSkipped:
		t.Skipped = &failing{result.Plain(c.Reason)}
	default:
		m := weigh.Headline(c)
		if m == nil {
			break
		}
		t.Output = w.heading(m.Name) + " " + scaleFor(m.Unit, m.Value).withUnit(m.Value)
		if m.Toll != nil && c.Network != catalog.Baseline {
			number, ends := scaleFor("ratio").difference(m.Toll.Value, m.Toll.Low, m.Toll.High)
			t.Output += fmt.Sprintf(", toll %s, %s", strings.TrimSpace(number+" % "+ends), w.state(m.Toll.Verdict))
		}
	}
	return t
}
