package tcpstream

import (
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

func every(window traffic.Window) map[string]func(t testing.TB) {
	stream := func(s Options) func(testing.TB) {
		s.Token, s.Window = traffictest.Token, window
		return func(t testing.TB) { runTCPStream(t, s) }
	}
	return map[string]func(t testing.TB){
		"tcp_stream":  stream(Options{}),
		"tcp_stream3": stream(Options{Flows: 3}),
		"sendfile":    stream(Options{Mode: Sendfile}),
		"auto":        stream(Options{Mode: Auto}),
		"trunc":       stream(Options{Mode: Trunc}),
		"paced":       stream(Options{Rate: 1e9, Flows: 2}),
		"reverse":     stream(Options{Direction: Reverse}),
		"both":        stream(Options{Direction: Bidirectional}),
		"loaded_rr":   func(t testing.TB) { runLoadedRR(t, LoadedRR{Token: traffictest.Token, Window: window, Load: 2}) },
	}
}

func TestLabRunsLeakNothing(t *testing.T) { traffictest.RunsLeakNothing(t, every) }
func TestLabWindowAllocatesNothing(t *testing.T) {
	traffictest.WindowsAllocateNothing(t, every)
}
