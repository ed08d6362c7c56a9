package report

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"tare/result"
	"tare/test/labtest"
)

// drawnToll is a row of a table in Markdown.
type drawnToll struct {
	kind, bar, verdict string
	toll               float64
}

// tollsInMarkdown are the rows with a toll.
func tollsInMarkdown(t *testing.T, text string) (all []drawnToll) {
	t.Helper()
	row := regexp.MustCompile(`^\| .* \| \S+ \| ([-+.0-9]+) \| [^|]* \| ([^| ]*) ?\| (\S.*) \|$`)
	kind := ""
	for line := range strings.SplitSeq(text, "\n") {
		if head, is := strings.CutPrefix(line, "| network | "); is {
			kind = map[bool]string{true: "throughput", false: "time"}[strings.HasPrefix(head, "throughput")]
		}
		if found := row.FindStringSubmatch(line); found != nil {
			toll, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, drawnToll{kind, found[2], found[3], toll})
		}
	}
	return all
}

func readResult(t *testing.T, name string) *result.Result {
	t.Helper()
	res, err := result.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestLongerBarIsALargerToll holds bars of all tables of a report against each other, those of
// several results too.
func TestLongerBarIsALargerToll(t *testing.T) {
	for of, results := range map[string][]*result.Result{
		"quick":               {readResult(t, "quick")},
		"quick, few and link": {readResult(t, "quick"), readResult(t, "few"), readResult(t, "link")},
	} {
		tolls := tollsInMarkdown(t, markdownOf(t, English, results...))
		longer := 0
		for _, a := range tolls {
			for _, b := range tolls {
				if a.kind != b.kind || utf8.RuneCountInString(a.bar) <= utf8.RuneCountInString(b.bar) {
					continue
				}
				if longer++; a.toll <= b.toll {
					t.Errorf("%s: %s of %+.1f %% has a longer bar than %+.1f %%: %s and %s", of, a.kind, a.toll, b.toll, a.bar, b.bar)
				}
			}
		}
		if longer < 20 {
			t.Errorf("%s: %d bars are longer than another, among %d tolls", of, longer, len(tolls))
		}
	}
}

// TestInconclusiveBarIsPale: it is not taken for one that is known, and the legend says so.
func TestInconclusiveBarIsPale(t *testing.T) {
	text := markdownOf(t, English, readResult(t, "quick"), readResult(t, "few"))
	labtest.Contains(t, "the legend", text, "░ an inconclusive one")
	pale, full := 0, 0
	for _, toll := range tollsInMarkdown(t, text) {
		unsure := strings.HasPrefix(toll.verdict, "?") || toll.verdict == "inconclusive"
		switch {
		case toll.bar == "":
		case unsure:
			pale++
			labtest.Equal(t, "a bar of "+toll.verdict, strings.Trim(toll.bar, "░"), "")
		default:
			full++
			labtest.Equal(t, "a bar of "+toll.verdict, strings.Trim(toll.bar, "█"), "")
		}
	}
	if pale == 0 || full == 0 {
		t.Errorf("%d pale bars and %d others", pale, full)
	}
}

// TestChartsHaveOneScale reads the ends of the axes of a page: tolls of a kind have one, which has
// room for each toll and its interval.
func TestChartsHaveOneScale(t *testing.T) {
	var views []struct {
		Groups []struct {
			Path, Better string
			Scale        [2]float64
			Rows         []struct{ Metric *result.Metric }
		}
	}
	if err := json.Unmarshal([]byte(script(t, pageOf(t, readResult(t, "quick"), readResult(t, "few"), readResult(t, "link")), "view")), &views); err != nil {
		t.Fatal(err)
	}
	kinds := map[string][2]float64{}
	for _, v := range views {
		for _, g := range v.Groups {
			if first, has := kinds[g.Better]; has && g.Scale != first {
				t.Errorf("%s: %s has the scale %v, and another table %v", g.Path, g.Better, g.Scale, first)
			}
			kinds[g.Better] = g.Scale
			for _, r := range g.Rows {
				toll := r.Metric.Toll
				if toll == nil {
					continue
				}
				low, high := toll.Value, toll.Value
				if toll.Verdict != "inconclusive" {
					low, high = *toll.Low, *toll.High
				}
				if low < g.Scale[0] || high > g.Scale[1] || !(g.Scale[0] < g.Scale[1]) {
					t.Errorf("%s: %v to %v has no room in %v", g.Path, low, high, g.Scale)
				}
			}
		}
	}
	labtest.Equal(t, "kinds", len(kinds), 2)
}

// TestScaleIsNotOfWhatIsUnknown: an interval that decides nothing does not shrink all bars.
func TestScaleIsNotOfWhatIsUnknown(t *testing.T) {
	ends := func(verdict string) [2]float64 {
		low, high := -4.0, 6.0
		m := result.Metric{Name: "rtt_p50", Unit: "s", Better: result.Lower, N: 6, Value: 1, Toll: &result.Toll{Value: 0.13, Low: &low, High: &high, Verdict: verdict, Margin: 0.02}}
		res := &result.Result{Cells: []result.Cell{{Network: "vxlan", Path: "cross-host", Workload: "tcp_rr", Status: result.StatusOK, Params: result.Params{}, Metrics: []result.Metric{m}}}}
		return viewsOf([]*result.Result{res})[0].Groups[0].Scale
	}
	labtest.Equal(t, "inconclusive", ends("inconclusive"), [2]float64{-0.02, 0.15})
	labtest.Equal(t, "slower", ends("slower"), [2]float64{-4, 6})
}
