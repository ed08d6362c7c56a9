package report

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/weigh"
)

func renderAnswer(t interface{ Fatal(...any) }, res *result.Result, opts Options) string {
	var out strings.Builder
	if _, err := Answer(&out, res, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The quick plan's answer is one screen.
func TestAnswer(t *testing.T) {
	for _, lang := range Languages() {
		for name, build := range map[string]func() *result.Result{"quick": quick, "broken": broken, "links": links} {
			got := renderAnswer(t, build(), Options{Width: 80, Lang: lang})
			fits(t, got, 80)
			if n := strings.Count(got, "\n"); n > 38 { // and the names of the files
				t.Errorf("%s in %s has %d lines", name, lang, n)
			}
			golden := filepath.Join("testdata", name+".answer."+lang+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || got != string(want) {
				t.Errorf("%s differs (%v); run with -update and look at the difference:\n%s", golden, err, got)
			}
		}
	}
}

// links is a run in which a network was weighed on two interfaces and is faster than
// the host on one, by more CPU.
func links() *result.Result {
	first, second := newWorld(plan(), 9), newWorld(plan(), 10)
	second.plan.Axes = second.plan.Axes.With("nic", "tso")
	var all *result.Result
	for _, w := range []*world{first, second} {
		w.networks, w.paths, w.loads = []string{"host", "route", "vxlan"}, []string{catalog.SameHost, catalog.CrossHost}, streamAndTrip()
		w.factor = map[string]float64{"route": 1.25}
		if res := w.result(); all == nil {
			all = res
		} else {
			all.Cells, all.Noise.AA = append(all.Cells, res.Cells...), append(all.Noise.AA, res.Noise.AA...)
		}
	}
	for i := range all.Cells {
		c := &all.Cells[i]
		if m := weigh.Metric(c, "cpu_per_gbit"); m != nil && c.Network == "route" {
			m.Toll.Value, m.Toll.Verdict = 0.1, string(stats.Slower)
		}
		if c.Network == "vxlan" && c.Params.Text("nic") == "tso" {
			c.Findings = []result.Finding{{ID: "encapsulation-cost", Cause: "the interface cannot segment a tunnel's packets", Fix: "raise the MTU", Confidence: 0.65, Share: 0.4}}
		}
	}
	return all
}

// A sixth of the throughput is worse than twice the round trip.
func TestAnswerComparesTimesWithShares(t *testing.T) {
	res := quick()
	for n := range res.Cells {
		c := &res.Cells[n]
		if m := weigh.Metric(c, "rtt_p50"); m != nil && c.Network == "proxy" {
			m.Toll.Value = 1.3
		}
		if m := weigh.Metric(c, "throughput"); m != nil && c.Network == "vxlan" && c.Path == catalog.CrossHost {
			m.Toll.Value, m.Toll.Verdict = 5.0/6, string(stats.Slower)
		}
	}
	labtest.Contains(t, "the answer", renderAnswer(t, res, Options{Width: 100}), "- vxlan costs most: +83.3 %")
}

// Nothing follows from what an emulated CPU measured.
func TestAnswerOfAnEmulatedCPU(t *testing.T) {
	res := quick()
	res.Environment.CPUModel = "QEMU TCG CPU version 2.5+"
	text := renderAnswer(t, res, Options{Width: 100})
	for _, word := range []string{"costs most", "Cheapest", "No network is slower", "Faster"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the answer: %s", word, text)
		}
	}
}

// What failed is named, although nothing else was measured on its path.
func TestAnswerNamesFailures(t *testing.T) {
	res := few()
	res.Cells = append(res.Cells, result.Cell{
		Network: "vxlan", Path: catalog.CrossHost, Workload: "tcp_rr", Status: result.StatusFailed, Reason: "no route to host",
	})
	text := renderAnswer(t, res, Options{})
	if !strings.Contains(text, "Failed: vxlan on cross-host: no route to host") {
		t.Errorf("the failure is missing:\n%s", text)
	}
	for i := range res.Cells {
		res.Cells[i].Status = result.StatusFailed
	}
	if text := renderAnswer(t, res, Options{}); !strings.Contains(text, "no network was measured to the end") {
		t.Errorf("where all failed, the head is:\n%s", text)
	}
}

// What a network does not carry is named with why, once for all cells with that reason.
func TestAnswerNamesWhatIsSkipped(t *testing.T) {
	res := few()
	for _, path := range []string{catalog.PublishedPort, catalog.ContainerToPublishedPort} {
		res.Cells = append(res.Cells, result.Cell{
			Network: "pasta", Path: path, Workload: "mysql", Status: result.StatusSkipped, Reason: "mariadb speaks first: take a newer passt",
		})
	}
	text := renderAnswer(t, res, Options{})
	if strings.Count(text, "Left out: pasta: mariadb speaks first: take a newer passt") != 1 {
		t.Errorf("what is skipped is not there once:\n%s", text)
	}
}

// A network without a number, as in a window with too few round trips for a median, is
// there all the same.
func TestAnswerHasEveryNetworkThatWasMeasured(t *testing.T) {
	res := links()
	for i := range res.Cells {
		if c := &res.Cells[i]; c.Network == "route" {
			c.Metrics = nil
		}
	}
	if text := renderAnswer(t, res, Options{}); !regexp.MustCompile(`(?m)^ *route +·`).MatchString(text) {
		t.Errorf("route is missing:\n%s", text)
	}
}

// The answer and the heading are of what was asked, and not of what was measured to explain it; where
// the former failed they have the latter.
func TestAnswerIsOfWhatWasAsked(t *testing.T) {
	res := quick()
	res.Plan.Workloads = []result.WorkloadPlan{{Name: "tcp_rr"}, {Name: "tcp_stream", Explains: true}}
	if text := renderAnswer(t, res, Options{}); strings.Contains(text, "tcp_stream") || strings.Contains(text, "throughput") || !strings.Contains(text, "under tcp_rr,") {
		t.Errorf("the answer is not of tcp_rr alone:\n%s", text)
	}
	alone := *res
	alone.Cells = slices.DeleteFunc(slices.Clone(res.Cells), func(c result.Cell) bool { return c.Workload == "tcp_stream" })
	with, _ := SoFar(res, time.Minute, Options{})
	if without, ok := SoFar(&alone, time.Minute, Options{}); !ok || !slices.Equal(with.Matrix, without.Matrix) {
		t.Errorf("so far it has more than round trips:\n%s\nwant\n%s", strings.Join(with.Matrix, "\n"), strings.Join(without.Matrix, "\n"))
	}
	for i := range res.Cells {
		if c := &res.Cells[i]; c.Workload == "tcp_rr" {
			c.Status, c.Metrics = result.StatusFailed, nil
		}
	}
	if text := renderAnswer(t, res, Options{}); !strings.Contains(text, "tcp_stream") {
		t.Errorf("nothing is said where what was asked failed:\n%s", text)
	}
}

// Without a cost that is known to be higher, nothing is said of more CPU; but that a
// network is faster between hosts is not said to be its gain.
func TestAnswerClaimsNoCPU(t *testing.T) {
	res := links()
	for i := range res.Cells {
		if m := weigh.Metric(&res.Cells[i], "cpu_per_gbit"); m != nil && m.Toll != nil {
			m.Toll.Verdict = string(stats.Inconclusive)
		}
	}
	if text := renderAnswer(t, res, Options{}); !strings.Contains(text, "Faster than host: route by") || strings.Contains(text, "ore CPU") || !strings.Contains(text, "no gain of the network") {
		t.Errorf("the answer is\n%s", text)
	}
}

// A result without tolls has its tables.
func TestAnswerWithoutTolls(t *testing.T) {
	var out strings.Builder
	if tables, err := Answer(&out, onlyAA(), Options{}); err != nil || !tables || out.String() != render(t, onlyAA(), Options{}) {
		t.Errorf("tables %t, %v:\n%s", tables, err, out.String())
	}
}

func TestAnyAnswerFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := anyResult().Draw(t, "result")
		columns := rapid.IntRange(minWidth, maxWidth).Draw(t, "width")
		fits(t, renderAnswer(t, res, Options{Width: columns, Lang: rapid.SampledFrom(Languages()).Draw(t, "language")}), columns)
	})
}

// anyWorld is a result of networks that cost anything, on a machine as noisy as any.
func anyWorld() *rapid.Generator[*result.Result] {
	return rapid.Custom(func(t *rapid.T) *result.Result {
		w := newWorld(plan(), rapid.Uint64().Draw(t, "seed"))
		w.noise = rapid.SampledFrom([]float64{0.002, 0.02, 0.2}).Draw(t, "noise")
		w.plan.Blocks = rapid.SampledFrom([]int{4, 6, 10}).Draw(t, "blocks")
		w.networks = append([]string{catalog.Baseline}, rapid.SliceOfNDistinct(rapid.SampledFrom(names()[1:]), 1, 6, rapid.ID[string]).Draw(t, "networks")...)
		w.paths = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{catalog.SameHost, catalog.CrossHost, catalog.HostToContainer, catalog.PublishedPort}), 1, 4, rapid.ID[string]).Draw(t, "paths")
		w.loads = rapid.SampledFrom([][]result.WorkloadPlan{streamAndTrip(), streamAndTrip()[:1], streamAndTrip()[1:]}).Draw(t, "loads")
		w.factor = map[string]float64{}
		for _, name := range w.networks[1:] {
			w.factor[name] = rapid.Float64Range(0.2, 1.6).Draw(t, "factor")
			if rapid.IntRange(0, 9).Draw(t, "breaks") == 0 {
				w.broken[name+" tcp_stream"] = "no route to host"
			}
		}
		return w.result()
	})
}

// No sentence contradicts the tolls of the result.
func TestAnswerIsThatOfTheTolls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := anyWorld().Draw(t, "result")
		text := strings.Join(strings.Fields(renderAnswer(t, res, Options{Width: maxWidth})), " ")
		tolls := tollsOf(res)
		if len(tolls) == 0 {
			return
		}
		checkOpen(t, text, tolls)
		if !strings.Contains(text, "too few for intervals") {
			checkMost(t, text, tolls)
			checkFaster(t, text, tolls)
			checkCheapest(t, text, tolls)
		}
	})
}

// judgedToll is a toll of a result, by itself.
type judgedToll struct {
	*result.Toll
	network, path, metric string
}

// times is how many times as bad as the host's a metric is.
func (j judgedToll) times() float64 {
	if j.metric == "throughput" {
		return 1 / (1 - j.Value)
	}
	return 1 + j.Value
}

// tollsOf are the tolls that the result's workloads are judged by.
func tollsOf(res *result.Result) []judgedToll {
	var all []judgedToll
	for i, c := range res.Cells {
		name := map[string]string{"tcp_stream": "throughput", "tcp_rr": "rtt_p50"}[c.Workload]
		if m := weigh.Metric(&res.Cells[i], name); m != nil && m.Toll != nil && c.Network != catalog.Baseline {
			all = append(all, judgedToll{m.Toll, c.Network, c.Path, name})
		}
	}
	return all
}

func checkMost(t *rapid.T, text string, tolls []judgedToll) {
	slower := slices.DeleteFunc(slices.Clone(tolls), func(j judgedToll) bool { return j.Verdict != string(stats.Slower) })
	found := regexp.MustCompile(`- (\S+) costs most: (.*?), on ([a-z-]+)\.`).FindStringSubmatch(text)
	if len(slower) == 0 {
		if found != nil || !strings.Contains(text, "No network is slower") {
			t.Errorf("nothing is slower: %s", text)
		}
		return
	}
	most := slices.MaxFunc(slower, func(a, b judgedToll) int { return cmp.Compare(a.times(), b.times()) })
	if found == nil || found[1] != most.network || found[3] != most.path {
		t.Errorf("%s on %s costs most, by %v: %s", most.network, most.path, most.Value, text)
		return
	}
	if share := regexp.MustCompile(`\+([\d.]+) % .*?of throughput`).FindStringSubmatch(found[2]); share != nil {
		shown, _ := strconv.ParseFloat(share[1], 64)
		for _, j := range tolls {
			if j.network == most.network && j.path == most.path && j.metric == "throughput" && math.Abs(100*j.Value-shown) > 0.051 {
				t.Errorf("%v is printed as %s: %s", j.Value, share[1], text)
			}
		}
	}
}

func checkFaster(t *rapid.T, text string, tolls []judgedToll) {
	faster := slices.ContainsFunc(tolls, func(j judgedToll) bool { return j.Verdict == string(stats.Faster) })
	if strings.Contains(text, "Faster than host") != faster {
		t.Errorf("faster is %t: %s", faster, text)
	}
}

func checkOpen(t *rapid.T, text string, tolls []judgedToll) {
	n, few := 0, true
	for _, j := range tolls {
		if j.Verdict == string(stats.Inconclusive) {
			n++
		}
		few = few && j.Low == nil
	}
	want := "Inconclusive: " + strconv.Itoa(n) + " of " + strconv.Itoa(len(tolls)) + " comparison"
	switch {
	case few:
		want = "too few for intervals"
	case n == 0:
		want = "No comparison is inconclusive"
	}
	if !strings.Contains(text, want) {
		t.Errorf("%q is missing: %s", want, text)
	}
}

// checkCheapest: a network that is named as cheapest is not known to be worse than
// all others of its path.
func checkCheapest(t *rapid.T, text string, tolls []judgedToll) {
	found := regexp.MustCompile(`- Cheapest: (.*?)\.`).FindStringSubmatch(text)
	if found == nil {
		return
	}
	most := regexp.MustCompile(`- (\S+) costs most: .*?, on ([a-z-]+)\.`).FindStringSubmatch(text)
	for _, part := range strings.Split(found[1], "; ") {
		names, paths, _ := strings.Cut(part, " on ")
		for _, path := range strings.Split(paths, ", ") {
			if most != nil && most[2] == path && slices.Contains(strings.Split(names, ", "), most[1]) {
				t.Errorf("%s costs most and least on %s: %s", most[1], path, text)
			}
			first := slices.DeleteFunc(slices.Clone(tolls), func(j judgedToll) bool {
				return j.path != path || j.metric != tolls[0].metric || j.network == "veth"
			})
			if len(first) == 0 {
				continue
			}
			least := slices.MinFunc(first, func(a, b judgedToll) int { return int(math.Copysign(1, a.Value-b.Value)) })
			for _, j := range first {
				if slices.Contains(strings.Split(names, ", "), j.network) && j.Low != nil && least.High != nil && *j.Low-*least.High > 0.1+2*j.Margin {
					t.Errorf("%s costs more than %s on %s: %s", j.network, least.network, path, text)
				}
			}
		}
	}
}
