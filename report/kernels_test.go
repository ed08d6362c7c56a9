package report

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// onKernels is a run on two kernels. The third machine gave nothing.
func onKernels() *result.Result {
	old, recent := "6.1.0-50-amd64", "6.12.95+deb12-amd64"
	res := few()
	first := res.Cells
	res.Cells = nil
	for _, release := range []string{old, recent} {
		for _, c := range first {
			c.Params, c.Group = maps.Clone(c.Params), ""
			c.Params["kernel"] = release
			res.Cells = append(res.Cells, c)
		}
	}
	res.Environment.Kernel = old + ", " + recent
	change := func(value float64, verdict string) *result.Change {
		low, high := value-0.012, value+0.012
		return &result.Change{Value: value, Low: &low, High: &high, Verdict: verdict, Margin: 0.02}
	}
	metric := func(name string, was, is, value float64, verdict string) result.ComparedMetric {
		q, _ := result.QuantityOf(name)
		return result.ComparedMetric{
			Name: name, Unit: q.Unit, Better: q.Better, Old: was, New: is, Change: change(value, verdict), Again: change(0.001, "equal"),
			OldToll: &result.Toll{Value: 0.1}, NewToll: &result.Toll{Value: 0.2},
		}
	}
	cell := func(network string) result.ComparedCell {
		return result.ComparedCell{
			Network: network, Path: "cross-host", Workload: "tcp_stream", Mode: "write128K", Params: result.Params{"nic": "full", "mtu": 1500.0, "pin": "apart", "rps": true},
			Metrics: []result.ComparedMetric{metric("throughput", 1.21e10, 1.15e10, 0.05, "slower"), metric("rtt_p50", 51e-6, 51e-6, 0.002, "equal")},
		}
	}
	res.Kernels = &result.Kernels{
		Machines: []result.KernelMachine{
			{Image: "/boot/vmlinuz-" + old, Release: old}, {Image: "/boot/vmlinuz-" + old, Release: old}, {Image: "host", Release: recent},
			{Image: "/boot/vmlinuz-6.18", Release: "6.18", Reason: "its machine gave no result"},
		},
	}
	res.Comparisons = []result.Comparison{{
		Along: "kernel", Of: recent, Than: old, Paired: true, Judged: result.JudgedByValue,
		Differ: []result.Difference{{Name: "kernel", Old: old, New: recent}}, Cells: []result.ComparedCell{cell("host"), cell("vxlan")},
		Single: []result.SingleCell{{Cell: "wireguard cross-host tcp_rr", In: "new", Reason: "left out"}},
	}}
	res.SetGroups()
	return res
}

// TestKernelsAreShown in every form, within 80 columns too.
func TestKernelsAreShown(t *testing.T) {
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"kernels.en.txt": func(b *bytes.Buffer) error {
			_, err := Answer(b, onKernels(), Options{Width: 80})
			return err
		},
		"kernels.zh.txt": func(b *bytes.Buffer) error {
			_, err := Answer(b, onKernels(), Options{Width: 80, Lang: Chinese})
			return err
		},
		"kernels.md": func(b *bytes.Buffer) error {
			_, err := writeMarkdown(b, []*result.Result{onKernels()}, English)
			return err
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		isGolden(t, name, got.String())
	}
	v := viewsOf([]*result.Result{onKernels()})[0]
	if len(v.Compared) != 1 {
		t.Fatalf("the page gets %+v", v.Compared)
	}
	labtest.Equal(t, "rows of the page", len(v.Compared[0].Rows), 4)
	labtest.Equal(t, "machines without a result", len(v.Notes[English]), 1)
	kernels := []string{}
	for _, g := range v.Groups {
		kernels = result.AddOnce(kernels, g.Setting[:strings.Index(g.Setting+",", ",")])
	}
	slices.Sort(kernels)
	labtest.Equal(t, "kernels of the page's groups", strings.Join(kernels, " | "), "kernel 6.1.0-50-amd64 | kernel 6.12.95+deb12-amd64")
}

// isGolden compares a report with the file of that name, and checks that a terminal of 80
// columns has room for it.
func isGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || got != string(want) {
		t.Errorf("%s differs (%v); run with -update and look at the difference:\n%s", golden, err, got)
	}
	if strings.HasSuffix(name, ".txt") {
		fits(t, got, 80)
	}
}
