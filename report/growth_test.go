package report

import (
	"bytes"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// grown is a growth with services of a shape and a slope.
func grown(shape string, slope result.Span) result.Growth {
	return result.Growth{
		Axis: "services", Network: "service-iptables", Settings: result.MakeSettings(map[string]string{"service_at": "last"}), Path: "cluster-ip", Workload: "tcp_crr", Metric: "latency_mean", Unit: "s",
		Points: []result.GrowthPoint{{At: 1, Value: 331e-6}, {At: 1000, Value: 389e-6}, {At: 30_000, Value: 1524e-6}}, Blocks: 10,
		Shape: shape, Slope: slope, Bend: 1000, Beyond: &result.Span{Value: 5e-8, Low: 4e-8, High: 6e-8},
	}
}

// Each shape has its sentence, in each language, with numbers as people read them.
func TestGrowthSentences(t *testing.T) {
	slope := result.Span{Value: 3.83e-8, Low: 3.55e-8, High: 4.16e-8}
	for _, c := range []struct {
		growth result.Growth
		want   string
	}{
		{grown("linear", slope), "service-iptables service_at=last, cluster-ip tcp_crr: each 1000 services add +38.3 us [35.5, 41.6] to the mean latency, from 0.331 ms at 1 to 1.52 ms at 30000"},
		{grown("logarithmic", result.Span{Value: 2e-6, Low: 1e-6, High: 3e-6}), "each doubling of services adds +2.00 us [1.00, 3.00] to the mean latency"},
		{grown("bent", slope), "each 1000 services add +38.3 us [35.5, 41.6] to the mean latency up to 1000, and +50.0 us [40.0, 60.0] from there on"},
		{grown("constant", result.Span{Value: 1e-12, Low: -1.9e-9, High: 1e-9}), "the mean latency does not grow with services as far as this run can distinguish: each 1000 add less than 1.90 us, at 0.331 ms"},
	} {
		if got := wordsOf("en").growth(c.growth); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.growth.Shape, got, c.want)
		}
		if got := wordsOf("zh").growth(c.growth); !strings.Contains(got, "service-iptables service_at=last") || strings.ContainsAny(got, "{}") {
			t.Errorf("%s in Chinese: %q", c.growth.Shape, got)
		}
	}
	var text bytes.Buffer
	if err := Terminal(&text, &result.Result{Growths: []result.Growth{grown("linear", slope), grown("constant", slope)}}, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if strings.Count(text.String(), "How it grows with services") != 1 || !strings.Contains(text.String(), "+38.3 us") {
		t.Errorf("the report says\n%s", &text)
	}
}

// A parameter has a section, and each path, workload and metric a chart of all networks.
func TestGrowthView(t *testing.T) {
	slow, other := grown("linear", result.Span{Value: 4e-8}), grown("constant", result.Span{})
	other.Network, other.Points = "service-nftables", []result.GrowthPoint{{At: 1, Value: 310e-6}, {At: 30_000, Value: 315e-6}}
	trips := grown("constant", result.Span{})
	trips.Workload, trips.Metric = "tcp_rr", "rtt_p50"
	views := growthView(&result.Result{Growths: []result.Growth{slow, other, trips}})
	if len(views) != 1 || len(views[0].Charts) != 2 || len(views[0].Charts[0].Series) != 2 || len(views[0].Texts[Chinese]) != 3 {
		t.Fatalf("the page has %+v", views)
	}
	labtest.Equal(t, "chart", views[0].Charts[0].Titles[English], "cluster-ip tcp_crr: mean latency")
	labtest.Equal(t, "network", views[0].Charts[0].Series[1].Name, "service-nftables service_at=last")
}
