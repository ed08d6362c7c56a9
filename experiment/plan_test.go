package experiment

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

func TestCompleteFillsInWhatIsOpen(t *testing.T) {
	quick := Complete(Quick())
	if err := Check(quick); err != nil {
		t.Fatal(err)
	}
	empty := Complete(result.Plan{})
	if err := Check(empty); err != nil {
		t.Fatal(err)
	}
	bare := slices.DeleteFunc(kinds.All(), func(n network.Network) bool { return len(n.Needs) > 0 })
	if len(empty.Networks) != len(bare) || len(empty.Paths) != len(catalog.Paths()) || len(empty.Workloads) != 2 {
		t.Errorf("an empty plan becomes %+v", empty)
	}
	labtest.Equal(t, "MTU of an empty plan", empty.Axes.Number("mtu"), 1500)
	labtest.Equal(t, "pin of an empty plan", empty.Axes.Word("pin"), "apart")
	labtest.Equal(t, "CC of an empty plan", empty.Axes.Word("cc"), "cubic")
	labtest.Equal(t, "margin of an empty plan", empty.Margin, 0.02)
	labtest.Equal(t, "blocks of an empty plan", empty.Blocks, 10)
	given := result.Plan{
		Networks: []result.NetworkPlan{{Name: "vxlan"}}, Paths: []string{catalog.CrossHost}, Workloads: []result.WorkloadPlan{{Name: "udp_pps"}},
		Axes: result.PlanAxes{"nic": {"plain"}, "mtu": {9000.0}, "pin": {"same"}, "rps": {rpsOff}, "cc": {"reno"}}, Blocks: 7, Warmup: 0.1, Duration: 0.2, Margin: 0.05, Design: result.DesignSlots,
	}
	if got := Complete(given); !samePlan(t, got, given) {
		t.Errorf("%+v becomes %+v", given, got)
	}
	if again := Complete(quick); !samePlan(t, again, quick) {
		t.Errorf("completed twice: %+v, once: %+v", again, quick)
	}
	if p := Complete(result.Plan{Precision: 0.01}); p.Blocks != precisionCap {
		t.Errorf("a plan with a precision takes %d blocks", p.Blocks)
	}
}

func samePlan(t *testing.T, a, b result.Plan) bool {
	t.Helper()
	one, err1 := a.EncodeYAML()
	other, err2 := b.EncodeYAML()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return string(one) == string(other)
}

func TestLinkImpliesFrames(t *testing.T) {
	p := Quick()
	p.Axes = p.Axes.With("link", 1e9)
	if p = Complete(p); !slices.Equal(p.Axes.Words("nic"), []string{"frames"}) || p.EncapNIC != nil {
		t.Errorf("nic %v, for encapsulation also %v", p.Axes.Words("nic"), p.EncapNIC)
	}
	p = Quick()
	p.Networks = []result.NetworkPlan{{Name: "vxlan", Link: 1e9}, {Name: "route"}}
	seen := map[string]bool{}
	for _, g := range groupsOf(Complete(p)) {
		for _, c := range g.places {
			if c.network.Name != "vxlan" {
				continue
			}
			key := g.path + g.workload.Name + params(p, g, c, true).Key()
			if seen[key] {
				t.Errorf("measured twice: %s", key)
			}
			seen[key] = true
		}
	}
	if len(seen) == 0 {
		t.Error("no cell with a link")
	}
}

func TestWindowLengths(t *testing.T) {
	for design, least := range map[string]result.Seconds{result.DesignWindows: 0.060, result.DesignSlots: schedule.LeastTogether} {
		few := Complete(result.Plan{
			Networks: []result.NetworkPlan{{Name: "host"}, {Name: "vxlan"}}, Paths: []string{catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}}, Axes: result.PlanAxes{"nic": {"full"}}, Design: design,
		})
		all := Quick()
		all.Design = design
		all = Complete(all)
		one := few
		one.Blocks, one.Duration, one.Warmup = 5, 0, 0
		one = Complete(one)
		if !(all.Duration < few.Duration && few.Duration <= one.Duration && one.Duration == 2) {
			t.Errorf("%s: everything %v s, two networks %v s, and five blocks of them %v s", design, all.Duration, few.Duration, one.Duration)
		}
		if all.Duration < least || all.Warmup < schedule.LeastWarmup || few.Warmup < few.Duration/5 {
			t.Errorf("%s: everything: %v after %v s; few: %v after %v s", design, all.Duration, all.Warmup, few.Duration, few.Warmup)
		}
		for name, p := range map[string]result.Plan{"everything": all, "two networks": few} {
			if total := TimeOf(p).Seconds(); total > 75 {
				t.Errorf("%s: %s: %.0f s", design, name, total)
			}
		}
	}
	for _, link := range []result.BitsPerSecond{1e7, 1e8, 1e9} {
		for name, p := range map[string]result.Plan{
			"of the plan":   {Axes: result.PlanAxes{"link": {float64(link)}}},
			"of one of its": {Networks: []result.NetworkPlan{{Name: "host"}, {Name: "vxlan", Link: link}}},
		} {
			p = Complete(p)
			if frames := float64(p.Duration) * float64(link) / 8 / (p.Axes.Number("mtu") + wire.Ethernet); frames < 5990 {
				t.Errorf("link %s %s: %.0f full frames in a window", link, name, frames)
			}
		}
	}
	if p := Complete(result.Plan{Axes: result.PlanAxes{"link": {1000.0}}}); p.Duration > longestOnLink {
		t.Errorf("a link of 1 kbit/s asks for windows of %v s", p.Duration)
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*result.Plan)
		want   []string
	}{
		"network":   {func(p *result.Plan) { p.Networks[1].Name = "vxlna" }, []string{`unknown network "vxlna"`, `did you mean "vxlan"?`}},
		"far off":   {func(p *result.Plan) { p.Networks[1].Name = "quantum" }, []string{`unknown network "quantum" (valid:`}},
		"path":      {func(p *result.Plan) { p.Paths[0] = "crosshost" }, []string{`did you mean "cross-host"?`}},
		"workload":  {func(p *result.Plan) { p.Workloads[0].Name = "tcp_steam" }, []string{`did you mean "tcp_stream"?`}},
		"nic":       {func(p *result.Plan) { p.Axes = p.Axes.With("nic", "ful") }, []string{`did you mean "full"?`}},
		"encap nic": {func(p *result.Plan) { p.EncapNIC = []string{"tos"} }, []string{"unknown nic"}},
		"pin":       {func(p *result.Plan) { p.Axes = p.Axes.With("pin", "apar") }, []string{`did you mean "apart"?`}},
		"rps":       {func(p *result.Plan) { p.Axes = p.Axes.With("rps", "yes") }, []string{`unknown rps "yes"`}},
		"mode":      {func(p *result.Plan) { p.Workloads[0] = result.WorkloadPlan{Name: "udp_pps", Mode: "mmmsg"} }, []string{`unknown mode of udp_pps`, `"mmsg"`}},
		"flows":     {func(p *result.Plan) { p.Workloads[0].Flows = 5000 }, []string{"flows 5000 of tcp_stream", "from 1 to 1000"}},
		"few flows": {func(p *result.Plan) { p.Workloads[0].Flows = -1 }, []string{"flows -1"}},
		"size":      {func(p *result.Plan) { p.Workloads[0] = result.WorkloadPlan{Name: "udp_rr", Size: 3} }, []string{"size 3 of udp_rr", "bytes"}},
		"rate": {func(p *result.Plan) {
			p.Workloads[0] = result.WorkloadPlan{Name: "tcp_crr", Rate: result.Rate{Value: 1e6}}
		}, []string{"rate of tcp_crr", "tcp_stream", "udp_stream"}},
		"bad rate": {func(p *result.Plan) {
			p.Workloads[0] = result.WorkloadPlan{Name: "udp_stream", Rate: result.Rate{Value: -1}}
		}, []string{"rate -1 of udp_stream"}},
		"rate unit": {func(p *result.Plan) {
			p.Workloads[0] = result.WorkloadPlan{Name: "udp_stream", Rate: result.Rate{Value: 9, Unit: "1/s"}}
		}, []string{"rate 9/s of udp_stream", "100mbit"}},
		"one size":   {func(p *result.Plan) { p.Workloads[0] = result.WorkloadPlan{Name: "tcp_sizes", Size: 64} }, []string{"size 64 of tcp_sizes", "8:256K:*2"}},
		"not taken":  {func(p *result.Plan) { p.Workloads[0] = result.WorkloadPlan{Name: "udp_rr", Reverse: true} }, []string{"reverse of udp_rr", "does not take it"}},
		"cpus":       {func(p *result.Plan) { p.CPUs = map[string]string{"h1": "0-"} }, []string{"cpus of h1", "0-3,8"}},
		"mtu":        {func(p *result.Plan) { p.Axes = p.Axes.With("mtu", 500.0) }, []string{"mtu 500", "from 576 to 65535 bytes"}},
		"ip":         {func(p *result.Plan) { p.Axes = p.Axes.With("ip", 5.0) }, []string{"version 5 of IP", "4, 6 or 4,6"}},
		"ip twice":   {func(p *result.Plan) { p.Axes = p.Axes.With("ip", 6.0, 6.0) }, []string{"ip 6 is there twice"}},
		"ip at site": {func(p *result.Plan) { p.Axes, p.Site = p.Axes.With("ip", 6.0), result.SiteDocker }, []string{"ip: a site"}},
		"ip rules": {func(p *result.Plan) {
			p.Axes, p.Networks = p.Axes.With("ip", 4.0, 6.0), []result.NetworkPlan{{Name: "bridge", Params: "rules=5"}}
		}, []string{"rules of IPv4"}},
		"blocks":     {func(p *result.Plan) { p.Blocks = -1 }, []string{"blocks -1"}},
		"duration":   {func(p *result.Plan) { p.Duration = 0.001 }, []string{"duration 0.001", " s"}},
		"warmup":     {func(p *result.Plan) { p.Warmup = -1 }, []string{"warmup -1"}},
		"margin":     {func(p *result.Plan) { p.Margin = nan() }, []string{"margin NaN"}},
		"precision":  {func(p *result.Plan) { p.Precision = 2 }, []string{"precision 2"}},
		"max time":   {func(p *result.Plan) { p.MaxTime = -1 }, []string{"max_time -1"}},
		"link":       {func(p *result.Plan) { p.Axes = p.Axes.With("link", -1.0) }, []string{"link -1"}},
		"its link":   {func(p *result.Plan) { p.Networks[1].Link = -1 }, []string{"link of vxlan -1"}},
		"no cell":    {func(p *result.Plan) { p.Networks, p.Paths = p.Networks[1:], []string{catalog.PublishedPort} }, []string{"none of these networks serves"}},
		"twice":      {func(p *result.Plan) { p.Networks[0].Name = "vxlan" }, []string{"network vxlan is there twice"}},
		"path twice": {func(p *result.Plan) { p.Paths = append(p.Paths, p.Paths[0]) }, []string{"path cross-host is there twice"}},
		"link twice": {func(p *result.Plan) { p.Axes = p.Axes.With("link", 1e9, 1e9) }, []string{"link 1gbit is there twice"}},
		"no axis":    {func(p *result.Plan) { p.Axes = p.Axes.With("mtuu", 1e3) }, []string{`unknown axis "mtuu"`, `did you mean "mtu"?`}},
		"two pins":   {func(p *result.Plan) { p.Axes = p.Axes.With("pin", "apart", "same") }, []string{"pin apart, same", "keep one"}},
		"cpus each":  {func(p *result.Plan) { p.Axes = p.Axes.With("cpus", 0.0) }, []string{"cpus_each 0", "from 1 to 1024 CPUs"}},
		"gso":        {func(p *result.Plan) { p.Axes = p.Axes.With("gso_max", 1e6) }, []string{"gso_max 1e+06", " bytes"}},
		"delay":      {func(p *result.Plan) { p.Axes = p.Axes.With("delay", 6.0) }, []string{"delay of the link 6", " s"}},
		"all lost":   {func(p *result.Plan) { p.Axes = p.Axes.With("loss", 1.0) }, []string{"loss of the link 1"}},
		"overtaking": {func(p *result.Plan) { p.Axes = p.Axes.With("reorder", 0.01) }, []string{"reorder of the link", "it needs a delay"}},
		"reference":  {func(p *result.Plan) { p.Reference = catalog.SameHost }, []string{"a lab has hosts"}},
		"load twice": {func(p *result.Plan) { p.Workloads = append(p.Workloads, p.Workloads[0]) }, []string{"workload tcp_stream is there twice"}},
	} {
		p := Complete(result.Plan{
			Networks: []result.NetworkPlan{{Name: "host"}, {Name: "vxlan"}}, Paths: []string{catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}},
		})
		if err := Check(p); err != nil {
			t.Fatal(err)
		}
		test.change(&p)
		err := Check(p)
		if wrong := new(InputError); !errors.As(err, &wrong) {
			t.Errorf("%s: %v is no *InputError", name, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not contain %q", name, err, want)
			}
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// TestEveryWorkloadCanBePlanned also with sizes and flows that differ: a sweep
// names one workload many times.
func TestEveryWorkloadCanBePlanned(t *testing.T) {
	p := Complete(result.Plan{})
	p.Workloads = nil
	for _, w := range workload.All() {
		for _, size := range slices.Compact([]int{0, w.Size.Least, w.Size.Most}) {
			planned := result.WorkloadPlan{Name: w.Name, Size: size, Mode: w.Modes[len(w.Modes)-1], Flows: w.Flows}
			if w.Sizes != "" && size != 0 { // it visits many sizes, not one
				planned.Size, planned.Sizes = 0, strconv.Itoa(size)
			}
			p.Workloads = append(p.Workloads, planned)
		}
	}
	if err := Check(p); err != nil {
		t.Error(err)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"vxlan", "vxlan", 0}, {"vxlna", "vxlan", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"nat", "na", 1}} {
		if got := distance(test.a, test.b); got != test.want || distance(test.b, test.a) != test.want {
			t.Errorf("%q to %q: %d", test.a, test.b, got)
		}
	}
}
