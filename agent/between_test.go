package agent

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestWhatLiesBetweenTwoEndsIsSaid(t *testing.T) {
	at := time.Date(2026, 11, 25, 7, 0, 0, 0, time.UTC)
	own, to := netip.MustParseAddrPort("10.0.0.1:40000"), netip.MustParseAddrPort("10.0.0.2:5210")
	near := endpoint{Version: "1.2", Boot: "a", Clock: at.Add(10 * time.Millisecond), Own: own, Other: to, MTU: 1500}
	alike := endpoint{Version: "1.2", Boot: "b", Clock: at.Add(5 * time.Millisecond), Own: to, Other: own, MTU: 1500}
	for want, far := range map[string]func(*endpoint){
		"": func(*endpoint) {},
		"versions-differ: the server is tare 1.1 and the sender tare 1.2": func(e *endpoint) { e.Version = "1.1" },
		"clocks-differ: the server's clock is 3s behind":                  func(e *endpoint) { e.Clock = at.Add(-3 * time.Second) },
		"clocks-differ: the server's clock is 1h0m0s ahead":               func(e *endpoint) { e.Clock = near.Clock.Add(time.Hour) },
		"source-nat: the server sees 192.0.2.9:61000, not the sender's":   func(e *endpoint) { e.Other = netip.MustParseAddrPort("192.0.2.9:61000") },
		"destination-nat: 10.0.0.2:5210 is 172.17.0.2:80 at the server":   func(e *endpoint) { e.Own = netip.MustParseAddrPort("172.17.0.2:80") },
		"path-mtu: packets of 1450 bytes at most pass":                    func(e *endpoint) { e.MTU = 1450 },
	} {
		other := alike
		far(&other)
		warned := strings.Join(append(between(near, other, at), smaller(near, other, 1500)...), "\n")
		if (want == "") != (warned == "") || !strings.Contains(warned, want) || strings.Contains(warned, "\n") {
			t.Errorf("warnings %q, want one with %q", warned, want)
		}
	}
	if warned := smaller(near, alike, 1400); len(warned) != 1 || !strings.Contains(warned[0], "of 1400 bytes") {
		t.Errorf("warnings %q of a path of 1400 bytes", warned)
	}
	sameClock := alike
	sameClock.Boot, sameClock.Clock = near.Boot, at.Add(-time.Hour) // set meanwhile
	if warned := between(near, sameClock, at); len(warned) > 0 {
		t.Errorf("warnings %q on one machine", warned)
	}
}
