package report

import (
	"strings"
	"testing"

	"tare/result"
)

func TestIdleDaemonsAreSaidWhereTheyMatter(t *testing.T) {
	for want, used := range map[string]*result.Daemons{
		"idle daemons of other networks took 0.8 % of a CPU (dockerd 0.5 %, bird 0.2 %, containerd 0.1 %)": {
			CPU: 0.0081, Each: map[string]float64{"containerd": 0.001, "bird": 0.002, "dockerd": 0.005, "ovs-vswitchd": 0.0001},
		},
		"idle daemons of other networks took 0.2 % of a CPU": {CPU: 0.002, Each: map[string]float64{}},
		"": {CPU: 0.0009, Each: map[string]float64{"dockerd": 0.0009}},
	} {
		if got := idleDaemons(used); got != want {
			t.Errorf("%+v: %q, want %q", used, got, want)
		}
	}
	if got := idleDaemons(nil); got != "" {
		t.Errorf("without daemons: %q", got)
	}
}

func TestLabsCostIsSaid(t *testing.T) {
	for want, env := range map[string]result.Environment{
		" Lab: up in 12.5 s, 1200 MB.": {LabUp: 12.5, LabMemoryBytes: 1200 << 20},
		" Lab: up in 80.0 ms.":         {LabUp: 0.08},
		"":                             {},
	} {
		if got := labCost(env); got != want {
			t.Errorf("%+v: %q, want %q", env, got, want)
		}
		if got := machine(env); !strings.HasSuffix(got, want) {
			t.Errorf("%+v: %q", env, got)
		}
	}
}
