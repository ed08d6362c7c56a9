package http

import (
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

func every(window traffic.Window) map[string]func(t testing.TB) {
	return map[string]func(t testing.TB){
		"http":  func(t testing.TB) { runHTTP(t, Options{Window: window}) },
		"close": func(t testing.TB) { runHTTP(t, Options{Window: window, Mode: CloseEach}) },
		"rate":  func(t testing.TB) { runHTTP(t, Options{Window: window, Rate: 5000}) },
	}
}

func TestLabRunsLeakNothing(t *testing.T)        { traffictest.RunsLeakNothing(t, every) }
func TestLabWindowAllocatesNothing(t *testing.T) { traffictest.WindowsAllocateNothing(t, every) }
