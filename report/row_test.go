package report

import (
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

func TestParametersOfANetworkStayReadable(t *testing.T) {
	for want, r := range map[string]row{
		"macnat":                         {network: "macnat"},
		"vxlan@1 Gbit/s":                 {network: "vxlan", link: "1 Gbit/s"},
		"macnat containers=25":           {network: "macnat", settings: "containers=25"},
		"containerd-bridge ip_masq=off":  {network: "containerd-bridge", settings: "ip_masq=off"},
		"containerd-bridge off off":      {network: "containerd-bridge", settings: "ip_masq=off promisc_mode=off", first: true},
		"docker-bridge 20.10":            {network: "docker-bridge", settings: "docker_version=20.10", first: true},
		"  ip_masq=off promisc_mode=off": {network: "containerd-bridge", settings: "ip_masq=off promisc_mode=off"},
	} {
		if got := r.name(); got != want {
			t.Errorf("%s with %q is labelled %q, want %q", r.network, r.settings, got, want)
		}
	}
}

func TestReasonOfACellWithoutANumber(t *testing.T) {
	w := wordsOf("en")
	for want, cell := range map[string]result.Cell{
		"failed: no route to host":             {Status: result.StatusFailed, Reason: "no route to host"},
		"nothing measured: no reason recorded": {Status: result.StatusOK},
		"nothing measured: too few round trips or requests in a window for a median: use a longer --duration": {
			Status: result.StatusOK, Samples: []result.Sample{{Metrics: map[string]float64{"rate": 100}}},
		},
	} {
		if got := w.reasonOf(&cell); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where a label has no room for all, it has what differs: what the network's rows have in common is in
// the heading.
func TestLabelsNameWhatDiffers(t *testing.T) {
	cell := func(params result.Params) *result.Cell {
		return &result.Cell{Network: "docker-nat", Status: result.StatusOK, Params: params}
	}
	rows := rowsOf([]*weigh.Group{{Cells: []*result.Cell{
		cell(result.Params{"docker_version": "29", "firewall_backend": "nftables", "ports": "10", "containers": 5.0}),
		cell(result.Params{"docker_version": "29", "firewall_backend": "nftables", "ports": "32", "containers": 25.0}),
	}}})
	labtest.Equal(t, "the first row", rows[0].name(), "docker-nat containers=5 ports=10")
	labtest.Equal(t, "the second row", rows[1].name(), "  containers=25 ports=32")
	rows[1].settings, rows[1].common = result.MakeSettings(map[string]string{"containers": "5", "ports": "9"}), "containers=5"
	labtest.Equal(t, "with room for all", rows[1].name(), "docker-nat containers=5 ports=9")
	plan := result.Plan{Networks: []result.NetworkPlan{
		{Name: "docker-nat", Params: result.MakeSettings(map[string]string{"docker_version": "29", "ports": "10"})},
		{Name: "docker-nat", Params: result.MakeSettings(map[string]string{"docker_version": "29", "ports": "32"})},
	}}
	labtest.Contains(t, "the heading", wordsOf("en").setUp(plan), "docker-nat docker_version=29")
	plan.Networks = plan.Networks[:1] // whose label has them all
	labtest.Equal(t, "settings of a network that is there once", len(commonOf(plan)), 0)
}
