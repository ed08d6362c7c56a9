package report

import "testing"

func TestParametersOfANetworkStayReadable(t *testing.T) {
	for want, r := range map[string]row{
		"macnat":                         {network: "macnat"},
		"vxlan@1 Gbit/s":                 {network: "vxlan", link: "1 Gbit/s"},
		"macnat containers=25":           {network: "macnat", settings: "containers=25"},
		"containerd-bridge ip_masq=off":  {network: "containerd-bridge", settings: "ip_masq=off"},
		"  ip_masq=off promisc_mode=off": {network: "containerd-bridge", settings: "ip_masq=off promisc_mode=off"},
	} {
		if got := r.name(); got != want {
			t.Errorf("%s with %q is labelled %q, want %q", r.network, r.settings, got, want)
		}
	}
}
