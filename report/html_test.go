package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// pageOf is the page of results.
func pageOf(t testing.TB, results ...*result.Result) string {
	t.Helper()
	var page bytes.Buffer
	if _, err := writeHTML(&page, results, ""); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// script is the text of the script element of an id.
func script(t testing.TB, page, id string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="` + id + `">(.*?)</script>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no script %s", id)
	}
	return found[1]
}

// TestPageHoldsTheResult reads from a page the numbers that it draws and the
// whole result that it keeps.
func TestPageHoldsTheResult(t *testing.T) {
	res := quick()
	page := pageOf(t, res)
	var views []view
	if err := json.Unmarshal([]byte(script(t, page, "view")), &views); err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for _, g := range views[0].Groups {
		for _, row := range g.Rows {
			cell := cellIn(res, row.Network, g.Path, g.Workload)
			want := weigh.Metric(cell, g.Metric)
			of := row.Network + " " + g.Path + " " + g.Workload + ": "
			if row.Metric == nil {
				t.Fatalf("%snothing is drawn, the result has %+v", of, want)
			}
			labtest.Equal(t, of+"value", row.Metric.Value, want.Value)
			if row.Metric.Toll != nil {
				labtest.Equal(t, of+"toll", row.Metric.Toll.Value, want.Toll.Value)
			}
			if len(row.Blocks) != res.Plan.Blocks || len(row.Others) != len(cell.Metrics)-1 {
				t.Errorf("%s %s: %d blocks and %d other metrics", row.Network, g.Path, len(row.Blocks), len(row.Others))
			}
			drawn++
		}
	}
	if drawn != len(res.Cells) {
		t.Errorf("%d cells are drawn, the result has %d", drawn, len(res.Cells))
	}
	var packed string
	if err := json.Unmarshal([]byte(script(t, page, "result")), &packed); err != nil {
		t.Fatal(err)
	}
	kept, err := result.Read(unpack(t, packed))
	if err != nil || len(kept.Cells) != len(res.Cells) || len(kept.Cells[0].Samples) != len(res.Cells[0].Samples) {
		t.Errorf("the page keeps %d cells: %v", len(kept.Cells), err)
	}
}

func unpack(t testing.TB, packed string) io.Reader {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func cellIn(res *result.Result, name, path, load string) *result.Cell {
	for i := range res.Cells {
		if c := &res.Cells[i]; c.Network == name && c.Path == path && c.Workload == load {
			return c
		}
	}
	return nil
}

// TestAnyResultIsAPage renders whatever the schema allows: nothing in it ends a
// script or begins a tag, and the page loads nothing.
func TestAnyResultIsAPage(t *testing.T) {
	outside := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//`)
	rapid.Check(t, func(t *rapid.T) {
		res := anyResult().Draw(t, "result")
		var buffer bytes.Buffer
		if _, err := writeHTML(&buffer, []*result.Result{res}, ""); err != nil {
			t.Fatal(err)
		}
		page := buffer.String()
		data := page[strings.Index(page, `id="view">`):strings.Index(page, `id="result">`)]
		data = data[len(`id="view">`):strings.Index(data, "</script>")]
		var views []view
		if err := json.Unmarshal([]byte(data), &views); err != nil || strings.ContainsAny(data, "<>") {
			t.Fatalf("the page's numbers end early or hold markup: %v in %.200s", err, data)
		}
		if strings.Count(page, "</script>") != 3 || outside.MatchString(strings.ReplaceAll(page, builtScript, "")) {
			t.Fatalf("%d scripts end in a page of three, or it asks somebody outside", strings.Count(page, "</script>"))
		}
	})
}

// TestCataloguesAreComplete checks that both languages have the same keys with the
// same places to fill in, and that the page uses only keys that exist.
func TestCataloguesAreComplete(t *testing.T) {
	words := map[string]map[string]string{}
	for _, language := range []string{"en", "zh"} {
		text, err := os.ReadFile(filepath.Join("words", language+".json"))
		if err != nil {
			t.Fatal(err)
		}
		catalogue := map[string]string{}
		if err := json.Unmarshal(text, &catalogue); err != nil {
			t.Fatal(err)
		}
		words[language] = catalogue
	}
	for key, english := range words["en"] {
		chinese, has := words["zh"][key]
		if !has || chinese == "" || english == "" {
			t.Errorf("%q is %q in English and %q in Chinese", key, english, chinese)
		}
		if !slices.Equal(placesOf(english), placesOf(chinese)) {
			t.Errorf("%q has %v in English and %v in Chinese", key, placesOf(english), placesOf(chinese))
		}
	}
	for key := range words["zh"] {
		if words["en"][key] == "" {
			t.Errorf("%q is in Chinese only", key)
		}
	}
	sources, err := filepath.Glob("web/src/*.js")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	onPage, all := regexp.MustCompile(`\bt\("([^"]+)"`), ""
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
		for _, found := range onPage.FindAllStringSubmatch(string(text), -1) {
			if words["en"][found[1]] == "" {
				t.Errorf("%s asks for %q, which no catalogue has", path, found[1])
			}
		}
	}
	of := []string{"slower", "faster", "equal", "failed", "skipped", "throughput", "rate", "rtt_p50", "rtt_mean", "latency_p50", "latency_mean"} // verdicts, states and metrics, which results name
	asked := askedInGo(t, words["en"])
	for key := range words["en"] {
		if !asked[key] && !strings.Contains(all, `"`+key+`"`) && !slices.Contains(of, key) {
			t.Errorf("nobody asks for %q", key)
		}
	}
}

// TestRealBuiltPageIsOfItsSource builds the script and the style again and compares
// them with those in the repository.
func TestRealBuiltPageIsOfItsSource(t *testing.T) {
	out := t.TempDir()
	command := exec.Command("node", "build.mjs", out)
	command.Dir = "web"
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the page: %v: %s: make packages installs what it takes", err, output)
	}
	for name, committed := range map[string]string{"report.js": builtScript, "report.css": builtStyle} {
		fresh, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(fresh) != committed {
			t.Errorf("web/dist/%s was not built from its source: run make web", name)
		}
	}
}

// TestRealPagesInChromium opens pages as their readers do (web/test): of a usual run,
// of hostile names, of a thousand cells, of meshes, and of real runs that hold one of
// each thing that there is a chart of.
func TestRealPagesInChromium(t *testing.T) { openPages(t, "test/") }

// TestDeepPages measures how long pages take to be drawn, and looks at each with axe (web/deep).
func TestDeepPages(t *testing.T) { openPages(t, "deep/") }

// openPages writes pages, with their results, and runs tests of them below web.
func openPages(t *testing.T, tests string) {
	t.Helper()
	folder := t.TempDir()
	results := map[string]*result.Result{"thousand": thousand(), "mesh": twelve(), "hundreds": hundreds(), "versus": overBoth()}
	for _, name := range []string{"quick", "hostile", "sweep", "load", "traced", "links", "case"} {
		res, err := result.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		results[name] = res
	}
	swept, other := grown("linear", result.Span{Value: 4e-8, Low: 3e-8, High: 5e-8}), grown("constant", result.Span{})
	other.Network, other.Points = "service-nftables", []result.GrowthPoint{{At: 1, Value: 310e-6}, {At: 1000, Value: 312e-6}, {At: 30_000, Value: 315e-6}}
	services := *results["quick"]
	services.Growths = []result.Growth{swept, other}
	services.Site, services.Places = result.SiteKubernetes, []result.Place{{Name: "h1", Machine: "node-a"}, {Name: "h2", Machine: "node-b"}}
	results["services"] = &services
	write := func(name string, res *result.Result, page string) {
		err := errors.Join(res.WriteFile(filepath.Join(folder, name+".json")), os.WriteFile(filepath.Join(folder, name+".html"), []byte(page), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, res := range results {
		write(name, res, pageOf(t, res))
	}
	history := overTime()
	write("history", history[0], pageOf(t, history...)) // the newest, which is shown whole
	command := exec.Command("node", "--test", "--test-reporter=spec", tests)
	command.Dir = "web"
	command.Env = append(os.Environ(), "TARE_PAGES="+folder)
	output, err := command.CombinedOutput()
	t.Logf("%s", output)
	if err != nil {
		t.Error(err)
	}
	if regexp.MustCompile(`skipped [1-9]`).Match(output) || !regexp.MustCompile(`pass [1-9]`).Match(output) {
		t.Error("a test was skipped, or none ran")
	}
}

// thousand is a result of 1,000 cells of ten blocks.
func thousand() *result.Result {
	w := newWorld(plan(), 4)
	w.networks, w.paths = names(), []string{catalog.CrossHost, catalog.SameHost}
	for n := range 42 {
		w.loads = append(w.loads, result.WorkloadPlan{Name: "tcp_stream", Size: 64 * (n + 1)}, result.WorkloadPlan{Name: "udp_pps", Size: 64 + n})
	}
	res := w.result()
	res.Plan.Name = fmt.Sprintf("%d cells", len(res.Cells))
	return res
}
