package tcpsizes

import (
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

func every(window traffic.Window) map[string]func(t testing.TB) {
	return map[string]func(t testing.TB){
		"tcp_sizes": func(t testing.TB) {
			runTCPSizes(t, Options{Token: traffictest.Token, Window: window, Sizes: []int{1, 8 << 10}})
		},
	}
}

func TestLabRunsLeakNothing(t *testing.T)        { traffictest.RunsLeakNothing(t, every) }
func TestLabWindowAllocatesNothing(t *testing.T) { traffictest.WindowsAllocateNothing(t, every) }
