package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"tare/catalog"
	"tare/result"
)

var update = flag.Bool("update", false, "write testdata anew: the results and what they look like")

// names are the networks of the golden results, whatever others there are.
func names() []string {
	return []string{catalog.Baseline, "veth", "bridge", "nat", "proxy", "macvlan", "route", "ptp", "vxlan"}
}

func streamAndTrip() []result.WorkloadPlan {
	return []result.WorkloadPlan{{Name: "tcp_stream"}, {Name: "tcp_rr"}}
}

// quick is what `tare run` gives.
func quick() *result.Result {
	w := newWorld(plan(), 1)
	w.networks, w.loads = names(), streamAndTrip()
	w.paths = []string{catalog.SameHost, catalog.CrossHost, catalog.HostToContainer, catalog.PublishedPort, catalog.ContainerToPublishedPort}
	w.warn = map[string][]string{"vxlan": {"no UDP tunnel segmentation: the sender segments in software"}}
	res := w.result()
	res.Findings = []result.Finding{{
		ID: "overlay-segments-in-software", Cause: "VXLAN packets are cut into segments by the CPU before they are encapsulated",
		Evidence: []result.Evidence{
			{Name: "tx-udp_tnl-segmentation", Value: "off", Source: "ethtool -k eth0"},
			{Name: "bytes per packet", Value: 1448.0, Source: "/proc/net/dev"},
		},
		Fix: "choose an interface that segments tunnels (tx-udp_tnl-segmentation), or raise the MTU", Confidence: 0.9, Share: 0.7,
	}}
	res.Plan.Skipped = []result.SkippedNetwork{{Name: "docker-nat", Reason: "dockerd is missing: apt install docker.io"}}
	return res
}

// link is a run over a slow link with a stand-in, on a machine with few CPUs.
func link() *result.Result {
	p := plan()
	p.Axes = p.Axes.With("link", 10e9).With("nic", "frames")
	w := newWorld(p, 2)
	w.networks, w.loads = []string{"host", "macvlan", "route", "vxlan", "docker-overlay"}, streamAndTrip()
	w.paths = []string{catalog.CrossHost}
	res := w.result()
	for i := range res.Cells {
		c := &res.Cells[i]
		if c.Network == "docker-overlay" {
			c.Fidelity = catalog.StandIn
		}
		for j := range c.Metrics {
			c.Metrics[j].Warnings = append(c.Metrics[j].Warnings, "hosts share CPUs: 2 are here and 4 are needed")
		}
	}
	res.Warnings = []string{"hosts share CPUs: each number holds the work of both ends; run on 4 CPUs or more to part them"}
	return res
}

// ownLink is a run in which one network has its own link.
func ownLink() *result.Result {
	p := plan()
	p.Axes = p.Axes.With("link", 10e9).With("nic", "frames")
	w := newWorld(p, 8)
	w.networks, w.paths, w.loads = []string{"host", "route", "vxlan"}, []string{catalog.CrossHost}, streamAndTrip()
	w.links = map[string]result.BitsPerSecond{"vxlan": 9e9}
	return w.result()
}

// onlyAA weighs the host against itself and nothing else, on a noisy machine.
func onlyAA() *result.Result {
	w := newWorld(plan(), 3)
	w.noise = 0.12
	w.networks, w.paths, w.loads = []string{"host"}, []string{catalog.SameHost, catalog.CrossHost}, streamAndTrip()
	res := w.result()
	res.Noise.Steal, res.Noise.Pressure = 0.08, 0.41
	return res
}

// datagrams holds the workloads that have their own tables.
func datagrams() *result.Result {
	w := newWorld(plan(), 4)
	w.noise = 0.03
	w.networks = []string{"host", "veth", "bridge", "route", "ptp", "vxlan"}
	w.paths = []string{catalog.CrossHost}
	w.loads = []result.WorkloadPlan{
		{Name: "udp_pps", Mode: "mmsg", Size: 64}, {Name: "udp_stream", Mode: "msg", Size: 1400},
		{Name: "udp_rr"}, {Name: "tcp_crr"}, {Name: "tcp_stream", Flows: 1}, {Name: "tcp_stream", Flows: 8},
	}
	res := w.result()
	late := &res.Cells[1].Samples
	(*late)[2].Warnings = []string{"the sender was late by 3 ms"}
	(*late)[7].Warnings = []string{"the sender was late by 3 ms"}
	return res
}

// broken is a run in which cells failed and were skipped, cut short.
func broken() *result.Result {
	p := plan()
	p.Axes = p.Axes.With("nic", "full")
	w := newWorld(p, 5)
	w.noise = 0.02
	w.networks, w.paths, w.loads = names(), []string{catalog.SameHost, catalog.CrossHost}, streamAndTrip()
	w.broken = map[string]string{
		"bridge tcp_stream": "start server in bridge.h1/c2: exec: no such file or directory: is the binary still there?",
		"vxlan tcp_stream":  "connect to 10.220.8.2:5210: no route to host: see `tare doctor`",
		"vxlan tcp_rr":      "connect to 10.220.8.2:5210: no route to host: see `tare doctor`",
		"ptp tcp_rr":        "the client died: signal: killed",
	}
	res := w.result()
	for _, name := range []string{"nat", "proxy"} {
		res.Cells = append(res.Cells, result.Cell{
			Network: name, Path: catalog.SameHost, Workload: "tcp_stream", Status: result.StatusSkipped,
			Reason: "it has no path same-host",
		})
	}
	res.Plan.Blocks, res.Finished = 20, ""
	return res
}

// few has too few blocks for any interval.
func few() *result.Result {
	p := plan()
	p.Blocks = 4
	w := newWorld(p, 6)
	w.networks, w.paths, w.loads = []string{"host", "veth", "bridge"}, []string{catalog.SameHost}, streamAndTrip()
	return w.result()
}

// hostile is a file that tries to harm the terminal that shows it.
func hostile() *result.Result {
	w := newWorld(plan(), 7)
	evil := "\x1b]0;owned\x07\x1b[2J\x1b[31mred\r\n\u202eesrever\u0000\u0301"
	long := strings.Repeat("very-long-name-", 30)
	w.networks, w.paths, w.loads = []string{"host", "veth", long, evil}, []string{catalog.SameHost}, streamAndTrip()
	res := w.result()
	res.Environment.Kernel, res.Environment.CPUModel = evil+long, long
	res.Plan.Name, res.Plan.Axes = evil, res.Plan.Axes.With("cc", long).With("pin", evil)
	res.Warnings = []string{evil, long, "网络很慢 " + strings.Repeat("慢", 120), "\xff\xfe"}
	res.Findings = []result.Finding{{ID: evil, Cause: evil + long, Fix: long, Evidence: []result.Evidence{{Name: evil, Value: map[string]any{evil: long}, Source: long}}}}
	res.Plan.Skipped = []result.SkippedNetwork{{Name: long, Reason: evil}}
	enormous := 1e300
	res.Case = &result.Case{
		ID: evil + "`", Title: "<script>alert(1)</script>" + long, Odd: []string{evil}, Defects: []string{long}, Recommends: evil, Ours: long, Because: evil,
		Claims:  []result.Claim{{Text: evil + long, Kind: evil, Note: long, Verdict: evil, Because: long}},
		Figures: []result.Figure{{Experiment: evil, Network: long, As: evil, Workload: evil, Metric: long, Unit: evil, Setting: long, Published: &enormous, PublishedToll: &enormous, Reason: evil}},
	}
	for i := range res.Cells {
		c := &res.Cells[i]
		if c.Network == evil {
			c.Status, c.Reason = result.StatusFailed, evil+long
		}
		c.Mode, c.Params[evil] = evil, long
		if c.Network == long {
			c.Fidelity = evil
			c.Metrics[0].Warnings = []string{evil, long}
			c.Metrics[0].Toll.Verdict = evil + long
			c.Metrics[0].Value = 1e300
			c.Metrics[0].Toll.Value = -1e200
		}
	}
	return res
}

// scenarios are the results of testdata.
func scenarios() map[string]func() *result.Result {
	return map[string]func() *result.Result{
		"quick": quick, "link": link, "own-link": ownLink, "aa": onlyAA, "datagrams": datagrams, "broken": broken, "few": few, "hostile": hostile, "case": again,
	}
}

func render(t interface{ Fatal(...any) }, res *result.Result, opts Options) string {
	var out bytes.Buffer
	if err := Terminal(&out, res, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shapeOf is a file without its numbers, whose last digits depend on the processor.
func shapeOf(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`).ReplaceAllString(string(text), "0")
}

func TestTerminal(t *testing.T) {
	for name, build := range scenarios() {
		t.Run(name, func(t *testing.T) {
			file, golden := filepath.Join("testdata", name+".json"), filepath.Join("testdata", name+".txt")
			written := file
			if !*update {
				written = filepath.Join(t.TempDir(), "written.json")
			}
			if err := build().WriteFile(written); err != nil {
				t.Fatal(err)
			}
			if shapeOf(t, file) != shapeOf(t, written) {
				t.Errorf("%s is not what is written now; run with -update and look at the difference", file)
			}
			res, err := result.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, res, Options{})
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; run with -update and look at the difference:\n%s", golden, got)
			}
		})
	}
}

// columnsOf is the number of columns that a line takes: two for each of East
// Asia's characters and marks.
func columnsOf(line string) int {
	n := 0
	for _, r := range line {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || 0x3000 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xff60 {
			n++
		}
	}
	return n
}

// fits checks what holds for every report: lines that fit, and nothing that a
// terminal would obey.
func fits(t interface{ Errorf(string, ...any) }, text string, columns int) {
	for _, line := range strings.Split(text, "\n") {
		if columnsOf(line) > columns {
			t.Errorf("%d columns, more than %d: %q", columnsOf(line), columns, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("unprintable: %q", line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("blanks at the end: %q", line)
		}
	}
}

func TestGoldensFit(t *testing.T) {
	for name, build := range scenarios() {
		res := build()
		for _, columns := range []int{0, 72, 80, 100, 200} {
			text := render(t, res, Options{Width: columns})
			most := min(max(columns, 72), 100)
			if columns == 0 {
				most = 100
			}
			fits(t, text, most)
			for _, word := range []string{"NaN", "Inf", "<nil>", "%!"} {
				if strings.Contains(text, word) {
					t.Errorf("%s: %s is printed:\n%s", name, word, text)
				}
			}
		}
	}
}

func TestColourChangesNothingElse(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9]*m")
	for name, build := range scenarios() {
		res := build()
		coloured := render(t, res, Options{Colour: true})
		if !strings.Contains(coloured, "\x1b[1m") {
			t.Errorf("%s: nothing is bold", name)
		}
		for _, line := range strings.Split(escape.ReplaceAllString(coloured, ""), "\n") {
			if strings.ContainsRune(line, '\x1b') {
				t.Errorf("%s: an escape that is not ours: %q", name, line)
			}
		}
		if got := escape.ReplaceAllString(coloured, ""); dropBlanks(got) != dropBlanks(render(t, res, Options{})) {
			t.Errorf("%s: colour changes the text", name)
		}
	}
}

// dropBlanks removes the blanks at the ends of lines.
func dropBlanks(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteError(t *testing.T) {
	if err := Terminal(full{}, few(), Options{}); err == nil || !strings.Contains(err.Error(), "write report: no space left") {
		t.Errorf("error %v", err)
	}
}

// TestNothingIsSilent: every warning and every reason of a result is printed.
func TestNothingIsSilent(t *testing.T) {
	for _, name := range []string{"quick", "link", "datagrams", "broken"} {
		res := scenarios()[name]()
		text := strings.Join(strings.Fields(render(t, res, Options{})), " ")
		for _, c := range res.Cells {
			texts := []string{c.Reason}
			for _, m := range c.Metrics {
				texts = append(texts, m.Warnings...)
			}
			for _, s := range c.Samples {
				texts = append(texts, s.Warnings...)
			}
			for _, want := range texts {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s %s does not mention %q", name, c.Network, c.Workload, want)
				}
			}
		}
	}
}
