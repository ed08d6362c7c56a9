package udp

import (
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

func every(window traffic.Window) map[string]func(t testing.TB) {
	pps := func(s PPS) func(testing.TB) {
		s.Token, s.Window = traffictest.Token, window
		return func(t testing.TB) { runUDPPPS(t, s) }
	}
	return map[string]func(t testing.TB){
		"udp_stream":  func(t testing.TB) { runUDPStream(t, Stream{Token: traffictest.Token, Window: window, Rate: 20e6}) },
		"udp_pps":     pps(PPS{}),
		"udp_pps msg": pps(PPS{Mode: Msg}),
		"udp_pps gso": pps(PPS{Mode: GSO}),
		"udp_pps 8":   pps(PPS{Flows: 8, Rate: 1000}),
		"udp_load":    func(t testing.TB) { runUDPLoad(t, Load{Token: traffictest.Token, Window: window}) },
	}
}

func TestLabRunsLeakNothing(t *testing.T)        { traffictest.RunsLeakNothing(t, every) }
func TestLabWindowAllocatesNothing(t *testing.T) { traffictest.WindowsAllocateNothing(t, every) }
