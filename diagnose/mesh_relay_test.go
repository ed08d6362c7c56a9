package diagnose

import (
	"slices"
	"strings"
	"testing"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
)

// inMesh is a cell of two containers that listen at those ports, with so many bytes on their
// loopbacks for a million on their devices, and a rule that redirected connections.
func inMesh(name, work string, local float64, ports ...string) *result.Result {
	cell := measured(name, network.CrossHost, work, 0.6)
	res := &result.Result{}
	var readings []result.Reading
	for _, at := range []string{"h1/c1", "h2/c1"} {
		listeners := map[string]any{}
		for _, port := range ports {
			listeners["0.0.0.0:"+port+".backlog"] = 4096.0
		}
		res.States = append(res.States,
			result.State{At: name + "." + at, Source: listening, Values: listeners},
			result.State{At: name + "." + at, Source: links, Values: map[string]any{"lo.mac": "00:00:00:00:00:00", "eth0.mac": "02:00:00:00:00:01", "eth0.kind": "veth"}})
		readings = append(readings,
			result.Reading{At: at, Source: linkStats, Counts: map[string]float64{"lo.rx_bytes": local, "eth0.rx_bytes": 1e4, "eth0.tx_bytes": 1e6}},
			result.Reading{At: at, Source: rules, Counts: map[string]float64{"ip istio output 8 redir": 1}})
	}
	cell.Samples = []result.Sample{{Readings: readings}}
	res.Cells = []result.Cell{cell}
	Weigh(res, "")
	return res
}

// What a mesh's relays carry is slow by them, and not by the rules that redirect it; what goes past
// them, as UDP, is not.
func TestRelaysOfAMeshAreNamed(t *testing.T) {
	for _, c := range []struct {
		network, work string
		local         float64
		ports         []string
		fix           string
	}{
		{"mesh-sidecar", "tcp_stream", 1e6, []string{"15001", "15006"}, "excludeOutboundPorts"},
		{"mesh-ambient", "tcp_stream", 1e6, []string{"15001", "15006", "15008"}, "istio.io/dataplane-mode=none"},
		{network.Pods, "tcp_stream", 1e6, []string{"15001", "15006", "15090"}, "excludeOutboundPorts"},
		{"mesh-sidecar", "udp_stream", 100, []string{"15001", "15006"}, ""},
		{"route", "tcp_stream", 1e6, []string{"80"}, ""},
	} {
		found := inMesh(c.network, c.work, c.local, c.ports...).Cells[0].Findings
		at := slices.IndexFunc(found, func(f result.Finding) bool { return f.ID == "userland-proxy" })
		labtest.Equal(t, c.network+" "+c.work+": relays are named", at >= 0, c.fix != "")
		if at < 0 {
			continue
		}
		if f := found[at]; !strings.Contains(f.Cause, "take the connections at h1/c1 and h2/c1: of one they make three") || !strings.Contains(f.Fix, c.fix) {
			t.Errorf("%s: %q, to fix it %q, want %q", c.network, f.Cause, f.Fix, c.fix)
		}
		if slices.Contains(ids(found), "nat-cost") {
			t.Errorf("%s: the redirection is named beside what it leads to: %v", c.network, ids(found))
		}
	}
}
