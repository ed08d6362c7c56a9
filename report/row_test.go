package report

import (
	"testing"

	"tare/result"
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
