package result

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"tare/test/labtest"
)

func TestFlagSetsItsAxes(t *testing.T) {
	before := PlanAxes{"link": {5e9}, "loss": {0.5}, "mtu": {1500.0}}
	for _, test := range []struct {
		flag, text string
		want       PlanAxes // of the flag
	}{
		{"link", "1gbit", PlanAxes{"link": {1e9}}},
		{"link", "1gbit, 10gbit", PlanAxes{"link": {1e9, 1e10}}},
		{"link", "1gbit,delay=20ms,loss=0.1%,reorder=1%", PlanAxes{"link": {1e9}, "delay": {0.02}, "loss": {0.001}, "reorder": {0.01}}},
		{"link", "delay=5ms", PlanAxes{"delay": {0.005}}},
		{"mtu", "1500,9000", PlanAxes{"mtu": {1500.0, 9000.0}}},
		{"mtu", "", PlanAxes{}},
		{"cc", "b,c=d", PlanAxes{"cc": {"b,c=d"}}},
		{"gso-max", "192K", PlanAxes{"gso_max": {196608.0}}},
		{"ip", "4,6", PlanAxes{"ip": {4.0, 6.0}}},
	} {
		got, err := before.WithFlag(test.flag, test.text)
		if err != nil {
			t.Errorf("--%s %s: %v", test.flag, test.text, err)
		}
		for _, a := range PlannedAxes() {
			want := test.want[a.Name]
			if a.Flag != test.flag {
				want = before[a.Name]
			}
			if !reflect.DeepEqual(got[a.Name], want) {
				t.Errorf("--%s %s: %s is %v, want %v", test.flag, test.text, a.Name, got[a.Name], want)
			}
		}
	}
	if !reflect.DeepEqual(before, PlanAxes{"link": {5e9}, "loss": {0.5}, "mtu": {1500.0}}) {
		t.Errorf("the plan itself was changed: %v", before)
	}
	for _, test := range [][3]string{
		{"link", "", "a rate"}, {"link", "fast", `"fast"`}, {"link", "1gbit,jitter=2ms", "it has delay, loss and reorder"},
		{"link", "loss=100%", "below 100 %"}, {"link", "delay=20", "ms, s"}, {"ip", "six", "give 4, 6 or 4,6"}, {"cpus-each", "few", "as in 1,2,4"},
	} {
		if _, err := before.WithFlag(test[0], test[1]); err == nil || !strings.Contains(err.Error(), test[2]) {
			t.Errorf("--%s %q: error %v, want one with %q", test[0], test[1], err, test[2])
		}
	}
}

// TestEveryPlannedAxisIsWhole: what the list declares of one fits together.
func TestEveryPlannedAxisIsWhole(t *testing.T) {
	heads := map[string]int{}
	for _, a := range PlannedAxes() {
		labtest.Equal(t, a.Name+" is of a lab", a.Of, OfLab)
		if a.Help != "" {
			heads[a.Flag]++
		}
		values := []any{a.Default, a.Least, a.Most}
		for _, word := range a.Words {
			values = append(values, word)
			labtest.Contains(t, "help of --"+a.Flag, a.Help, word)
		}
		for _, value := range values {
			if value == nil || value == 0.0 || a.Unit == UnitShare && value == 1.0 {
				continue
			}
			if back, err := a.Read(a.Written(value)); a.Unit != "bit/s" && (err != nil || back != value) {
				t.Errorf("%s: %v is written as %q, which is %v, %v", a.Name, value, a.Written(value), back, err)
			}
		}
	}
	for flag, n := range heads {
		labtest.Equal(t, "axes that have the help of --"+flag, n, 1)
	}
}

func TestParamsOfALink(t *testing.T) {
	labtest.Equal(t, "linked by nothing", Params{"mtu": 1500, "link": 0}.Linked(), false)
	for _, name := range []string{"link", "delay", "loss", "reorder"} {
		labtest.Equal(t, "linked by "+name, Params{name: 0.5}.Linked(), true)
		labtest.Equal(t, "a plan linked by "+name, PlanAxes{name: {0.5}}.Linked(), true)
	}
}

// TestPlansOfTheFirstFormatAreRead: each axis was a key of the plan, or two.
func TestPlansOfTheFirstFormatAreRead(t *testing.T) {
	for text, want := range map[string]PlanAxes{
		`{"nic": ["full", "tso"], "mtu": 1500, "pin": "same", "rps": "off", "cc": "bbr"}`: {
			"nic": {"full", "tso"}, "mtu": {1500.0}, "pin": {"same"}, "rps": {"off"}, "cc": {"bbr"},
		},
		`{"nic": [], "mtu": 0, "mtus": [1500, 9000], "links": [1e9, 1e10], "pin": "", "cc": ""}`: {"mtu": {1500.0, 9000.0}, "link": {1e9, 1e10}},
		`{"link": 1e9, "wire": {"delay": 0.02, "loss": 0.001}, "ip": [4, 6], "gso_max": 196608, "cpus_each": [1, 2], "cpus": {"h1": "0"}}`: {
			"link": {1e9}, "delay": {0.02}, "loss": {0.001}, "ip": {4.0, 6.0}, "gso_max": {196608.0}, "cpus": {1.0, 2.0},
		},
		`{"axes": {"nic": ["full"], "mtu": [1500]}}`: {"nic": {"full"}, "mtu": {1500.0}},
		`{}`: nil,
	} {
		var plan Plan
		if err := json.Unmarshal([]byte(text), &plan); err != nil || !reflect.DeepEqual(plan.Axes, want) {
			t.Errorf("%s is read as %v, %v", text, plan.Axes, err)
		}
		again, err := json.Marshal(plan)
		var back Plan
		if err == nil {
			err = json.Unmarshal(again, &back)
		}
		if err != nil || !reflect.DeepEqual(plan, back) {
			t.Errorf("%s is written as %s: %v", text, again, err)
		}
	}
	for _, text := range []string{`{"wire": 3}`, `{"axes": 3}`, `{"axes": {"mtu": 3}}`, `{"axes": {"nic": [{}]}}`, `{"axes": {"nic": [null]}}`, `{"mtu": [true]}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(Plan)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// TestAxesOfAPlanInYAML are keys like the others, a value or a list.
func TestAxesOfAPlanInYAML(t *testing.T) {
	for text, want := range map[string]PlanAxes{
		"nic: full\nmtu: [1500, 9216]\nlink: [1gbit, 2.5gbit]\n":             {"nic": {"full"}, "mtu": {1500.0, 9216.0}, "link": {1e9, 2.5e9}},
		"mtu: 0\nmtus: [1500, 9000]\nlinks: [1gbit]\ncc: ''\npin: ~\n":       {"mtu": {1500.0, 9000.0}, "link": {1e9}},
		"wire: {delay: 20ms, loss: 0.1%}\ncpus_each: 2\nrps: off\nip: [6]\n": {"delay": {0.02}, "loss": {0.001}, "cpus": {2.0}, "rps": {"off"}, "ip": {6.0}},
		"base: &b 9000\n": nil,
		"name: &n x\nmtu: &m 9000\nmtus: []\ncc: *n\ngso_max: *m\n": {"mtu": {9000.0}, "cc": {"x"}, "gso_max": {9000.0}},
		"<<: {mtu: 9000, wire: {loss: 1%}}\nnic: [tso]\n":           {"mtu": {9000.0}, "loss": {0.01}, "nic": {"tso"}},
	} {
		plan, err := DecodePlan(strings.NewReader(text))
		if want == nil {
			labtest.Contains(t, "error", err.Error(), "line 1: field base not found")
		} else if err != nil || !reflect.DeepEqual(plan.Axes, want) {
			t.Errorf("%q is read as %v, %v", text, plan.Axes, err)
		}
	}
	for text, want := range map[string]string{
		"link: 1gbit\nlinks: [1gbit, 100mbit]\n":     "link and links are both in the plan: keep link",
		"mtu: 1500\nmtus: [9000]\n":                  "mtu and mtus are both in the plan: keep mtu",
		"mtu: [[1500]]\n":                            "line 1: mtu",
		"name: x\nwire:\n  delay: 20ms\n  los: 1%\n": "line 4: field los not found",
		"name: x\nmtux:\n- 1500\n":                   "line 2: field mtux not found",
		"wire: 20ms\n":                               "line 1",
		"pin: {a: b}\n":                              "line 1: pin",
	} {
		if _, err := DecodePlan(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
