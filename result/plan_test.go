package result

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// plans are as a user may write them: rates and times within their bounds.
func plans() *rapid.Generator[Plan] {
	rates := rapid.Custom(func(t *rapid.T) BitsPerSecond {
		return BitsPerSecond(rapid.SampledFrom([]float64{0, 1, 9.6e9, 1e10, 123456789, 1.5e6}).Draw(t, "rate"))
	})
	spans := rapid.Custom(func(t *rapid.T) Seconds {
		return Seconds(time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "ns")).Seconds())
	})
	names := rapid.StringMatching(`[a-z][a-z0-9_-]{0,8}`)
	return rapid.Custom(func(t *rapid.T) Plan {
		networks := rapid.Custom(func(t *rapid.T) NetworkPlan {
			return NetworkPlan{Name: names.Draw(t, "name"), Link: rates.Draw(t, "link")}
		})
		workloads := rapid.Custom(func(t *rapid.T) WorkloadPlan {
			return WorkloadPlan{
				Name: names.Draw(t, "name"), Mode: rapid.SampledFrom([]string{"", "mmsg"}).Draw(t, "mode"),
				Flows: rapid.IntRange(0, 9).Draw(t, "flows"), Size: rapid.IntRange(0, 9000).Draw(t, "size"),
				Rate:  rapid.SampledFrom([]Rate{{}, {5e6, ""}, {1.5, ""}}).Draw(t, "rate"),
				Bytes: rapid.Int64Range(0, 1<<40).Draw(t, "bytes"), Reverse: rapid.Bool().Draw(t, "reverse"),
				Sizes: rapid.SampledFrom([]string{"", "8:256K:*2"}).Draw(t, "sizes"),
			}
		})
		return Plan{
			Name: texts().Filter(func(s string) bool { return strings.TrimSpace(s) == s }).Draw(t, "name"), Networks: rapid.SliceOfN(networks, 0, 3).Draw(t, "networks"),
			Paths: rapid.SliceOfN(names, 0, 3).Draw(t, "paths"), Workloads: rapid.SliceOfN(workloads, 0, 3).Draw(t, "workloads"),
			Axes: planAxes().Draw(t, "axes"), Blocks: rapid.IntRange(0, 60).Draw(t, "blocks"),
			Warmup: spans.Draw(t, "warmup"), Duration: spans.Draw(t, "duration"), MaxTime: spans.Draw(t, "max time"),
			Precision: rapid.Float64Range(0, 1).Draw(t, "precision"), Margin: rapid.Float64Range(0, 1).Draw(t, "margin"),
			Seed: rapid.Uint64().Draw(t, "seed"),
		}
	})
}

// planAxes are values as a user may write them.
func planAxes() *rapid.Generator[PlanAxes] {
	rates := rapid.SampledFrom([]any{1.0, 9.6e9, 1e10, 123456789.0, 1.5e6})
	sizes := rapid.Map(rapid.IntRange(1, 65535), func(n int) any { return float64(n) })
	words := rapid.StringMatching(`[a-z][a-z0-9_-]{0,8}|on|off|yes|17|0x1|1e3`).AsAny()
	return rapid.Custom(func(t *rapid.T) PlanAxes {
		axes := PlanAxes{}.With("link", rapid.SliceOfN(rates, 0, 2).Draw(t, "link")...).With("mtu", rapid.SliceOfN(sizes, 0, 2).Draw(t, "mtu")...)
		axes = axes.With("nic", rapid.SliceOfN(words, 0, 2).Draw(t, "nic")...).With("pin", rapid.SliceOfN(words, 0, 1).Draw(t, "pin")...)
		axes = axes.With("cpus", rapid.SliceOfN(sizes, 0, 2).Draw(t, "cpus")...).With("gso_max", rapid.SliceOfN(sizes, 0, 1).Draw(t, "gso")...)
		for name, value := range rapid.SampledFrom([]map[string]any{{}, {"delay": 0.02}, {"loss": 0.001}, {"delay": 0.005, "loss": 0.25, "reorder": 0.01}}).Draw(t, "wire") {
			axes = axes.With(name, value)
		}
		return axes
	})
}

// closeEnough compares plans: a time goes through YAML in nanoseconds.
func closeEnough(a, b Plan) bool {
	for _, pair := range [][2]*Seconds{{&a.Warmup, &b.Warmup}, {&a.Duration, &b.Duration}, {&a.MaxTime, &b.MaxTime}} {
		if math.Abs(float64(*pair[0]-*pair[1])) > 1e-9 {
			return false
		}
		*pair[0] = *pair[1]
	}
	return reflect.DeepEqual(a, b)
}

func TestPlanReadsBackFromYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := plans().Draw(t, "plan")
		for n := range plan.Workloads { // in JSON a rate has no unit, in YAML it has
			if plan.Workloads[n].Rate.Value > 0 {
				plan.Workloads[n].Rate.Unit = rapid.SampledFrom([]string{"", unitBits, unitCount}).Draw(t, "unit")
			}
		}
		text, err := plan.EncodeYAML()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodePlan(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !closeEnough(plan, back) {
			t.Fatalf("wrote %+v\nread %+v\nas\n%s", plan, back, text)
		}
	})
}

func TestDecodePlanReads(t *testing.T) {
	got, err := DecodePlan(strings.NewReader(`
networks:
  - host
  - {name: vxlan, link: &slow 1gbit}
  - &third {name: route, link: *slow}
  - <<: *third
    name: ptp
workloads:
  - tcp_rr
  - name: udp_stream
    rate: *slow
    size: 1200
link: 2.5gbit
duration: 1m30s
max_time: 0s
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{
		Networks:  []NetworkPlan{{Name: "host"}, {Name: "vxlan", Link: 1e9}, {Name: "route", Link: 1e9}, {Name: "ptp", Link: 1e9}},
		Workloads: []WorkloadPlan{{Name: "tcp_rr"}, {Name: "udp_stream", Rate: Rate{1e9, unitBits}, Size: 1200}},
		Axes:      PlanAxes{"link": {2.5e9}}, Duration: 90,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestDecodePlanRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                    {"", []string{"it is empty"}},
		"comments alone":             {"# nothing\n", []string{"it is empty"}},
		"unknown key":                {"mtu: 1500\nnetwork: [host]\n", []string{"line 2", "network"}},
		"unknown key in a network":   {"networks:\n- host\n- name: vxlan\n  lnik: 1gbit\n", []string{"line 4", "lnik"}},
		"unknown key in a workload":  {"workloads:\n- name: tcp_rr\n  flow: 3\n", []string{"line 3", "flow"}},
		"unknown keys, all of them":  {"a: 1\nb: 2\n", []string{"line 1", "line 2"}},
		"two documents":              {"mtu: 1500\n---\nmtu: 9000\n", []string{"one plan per file"}},
		"a document after an end":    {"mtu: 1500\n...\n{", []string{"one plan per file"}},
		"a word for a number":        {"seed: 1\nmtu: large\n", []string{"line 2", "large"}},
		"a list for a word":          {"pin: [apart]\n", []string{"line 1"}},
		"a word for a list":          {"paths: cross-host\n", []string{"line 1", "cross-host"}},
		"a list for a network":       {"networks:\n- [host]\n", []string{"line 2"}},
		"a rate without a unit":      {"mtu: 1500\nlink: 10\n", []string{"line 2", `"10"`, "10gbit"}},
		"a rate of nothing":          {"link: 0gbit\n", []string{"line 1", "at least 1bit"}},
		"a time without a unit":      {"duration: 5\n", []string{"line 1", "as in 60ms"}},
		"a negative time":            {"warmup: -5ms\n", []string{"line 1", "above zero"}},
		"a mapping for a rate":       {"link: {a: b}\n", []string{"line 1"}},
		"a key twice":                {"mtu: 1500\nmtu: 9000\n", []string{"line 2", "mtu"}},
		"no YAML at all":             {"networks: [host\n", []string{"line"}},
		"an anchor that is not here": {"mtu: *m\n", []string{"m"}},
	} {
		_, err := DecodePlan(strings.NewReader(test.text))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not contain %q", name, err, want)
			}
		}
	}
}

// TestAliasesCanNotExplode feeds nine levels of nine aliases: 400 million
// networks, were they expanded.
func TestAliasesCanNotExplode(t *testing.T) {
	for _, text := range []string{bomb("networks"), bomb("workloads"), bomb("paths")} {
		_, err := DecodePlan(strings.NewReader(text))
		if err == nil {
			t.Fatal("no error")
		}
		// One for each alias that was read.
		labtest.AtMost(t, "lines of the error", strings.Count(err.Error(), "\n"), 100)
	}
}

func bomb(key string) string {
	var b strings.Builder
	b.WriteString("name: &a0 x\ncpus:\n")
	for n := range 9 {
		from, to := string(rune('0'+n)), string(rune('1'+n))
		b.WriteString("  k" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+",", 8) + "*a" + from + "]\n")
	}
	return b.String() + key + ": *a9\n"
}

func FuzzDecodePlan(f *testing.F) {
	f.Add("networks: [host, {name: vxlan, link: 1gbit}]\nduration: 60ms\n")
	f.Add("workloads:\n- name: udp_stream\n  rate: 5mbit\n---\n")
	f.Add("<<: {a: *a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := DecodePlan(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := plan.EncodeYAML()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodePlan(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("%v in\n%s\nwhich was encoded from %q", err, again, text)
		}
		third, err := back.EncodeYAML()
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%v: %s\n%s", err, again, third)
		}
	})
}
