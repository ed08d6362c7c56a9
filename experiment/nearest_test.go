package experiment

import "testing"

func TestNearestBySwappedLettersAndParts(t *testing.T) {
	valid := []string{"host", "docker-host", "docker-nat", "vxlan", "tcp_stream", "up"}
	for word, want := range map[string]string{
		"vxlna":  `"vxlan"`,
		"pu":     `"up"`,
		"VXLAN":  `"vxlan"`,
		"Docker": `"docker-host" or "docker-nat"`,
		"stream": `"tcp_stream"`,
		"weigh":  "",
		"podman": "",
	} {
		if got := meant(word, valid, nil); quoted(got) != want && (want != "" || got != nil) {
			t.Errorf("%s: %v, want %s", word, got, want)
		}
	}
}

func TestWhatTheFieldCallsANetwork(t *testing.T) {
	if got := quoted(meant("calico", []string{"bgp", "ptp", "cni"}, []string{"bgp", "ptp"})); got != `"bgp" or "ptp"` {
		t.Errorf("calico: %s", got)
	}
}
