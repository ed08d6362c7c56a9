package report

import (
	"encoding/json"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// whereOnPage is what a page says its numbers are from.
func whereOnPage(t *testing.T, res *result.Result, lang string) string {
	t.Helper()
	var views []struct {
		Where map[string]string `json:"where"`
	}
	if err := json.Unmarshal([]byte(script(t, pageOf(t, res), "view")), &views); err != nil {
		t.Fatal(err)
	}
	return views[0].Where[lang]
}

func markdownOf(t *testing.T, lang string, results ...*result.Result) string {
	t.Helper()
	var b strings.Builder
	if _, err := writeMarkdown(&b, results, lang); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSiteIsSaid: a page and Markdown say where the numbers are from, and what they hold for. Of a
// site of the user's nothing is said that holds for a lab alone.
func TestSiteIsSaid(t *testing.T) {
	labs := map[string]string{English: "lab of namespaces on one machine", Chinese: "单机上由命名空间组成的实验环境"}
	for site, want := range map[string]map[string]string{
		"":                    labs,
		result.SiteLab:        labs,
		result.SiteSSH:        {English: "machines that ssh reaches", Chinese: "通过 ssh 访问的机器"},
		result.SiteEndpoint:   {English: "places that commands reach", Chinese: "由命令访问的位置"},
		result.SiteDocker:     {English: "containers of a running engine", Chinese: "正在运行的容器引擎"},
		result.SiteKubernetes: {English: "pods of a running cluster", Chinese: "正在运行的集群"},
	} {
		res := few()
		res.Site = site
		for _, lang := range Languages() {
			for of, text := range map[string]string{"page": whereOnPage(t, res, lang), "Markdown": markdownOf(t, lang, res)} {
				labtest.Contains(t, site+" "+of, text, want[lang])
				if want[lang] != labs[lang] && (strings.Contains(text, "namespaces") || strings.Contains(text, "命名空间")) {
					t.Errorf("%s of %q is said to be from namespaces: %s", of, site, text)
				}
			}
		}
	}
}

// TestKernelsAreOfVirtualMachines: their labs are not on one machine's kernel.
func TestKernelsAreOfVirtualMachines(t *testing.T) {
	labtest.Contains(t, "page", whereOnPage(t, onKernels(), English), "virtual machines that took turns")
}

// TestImportedIsOfNoLab: nothing is known of where other tools measured, nor how quiet it was there.
func TestImportedIsOfNoLab(t *testing.T) {
	labtest.Equal(t, "page", whereOnPage(t, importedRuns(), English), "")
	for _, not := range []string{"lab of namespaces", "uiet machine", "oisy machine"} {
		if text := markdownOf(t, English, importedRuns()); strings.Contains(text, not) {
			t.Errorf("%q is said of what other tools measured:\n%s", not, text)
		}
	}
}

// TestFirstMachineIsNamed: a report describes one machine, and says of which it is where there are
// several.
func TestFirstMachineIsNamed(t *testing.T) {
	res := few()
	res.Site = result.SiteSSH
	for want, places := range map[string][]result.Place{
		"The machine described here is db-1, the first of 2.": {{Name: "h1", Machine: "db-1", Boot: "x"}, {Name: "h1/c1", Machine: "db-1", Boot: "x"}, {Name: "h2", Machine: "db-2", Boot: "y"}},
		"": {{Name: "h1", Machine: "db-1", Boot: "x"}, {Name: "h1/c1", Machine: "db-1", Boot: "x"}},
	} {
		res.Places = places
		text := markdownOf(t, English, res)
		if want != "" {
			labtest.Contains(t, "Markdown", text, want)
		} else if strings.Contains(text, "the first of") {
			t.Errorf("one machine is the first of several:\n%s", text)
		}
		res.Places, res.Pairs = nil, []result.MachinePair{{Places: places}}
		if text := markdownOf(t, English, res); want != "" {
			labtest.Contains(t, "Markdown of pairs", text, want)
		}
		res.Pairs = nil
	}
}
