package traffic_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/tcpstream"
)

// A run that fails gives everything back too.
func TestLabFailedRunsLeakNothing(t *testing.T) {
	fail := func() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		l := traffictest.ListenTCP(t)
		go func() {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				_, _ = c.Write(traffic.Greeting(traffictest.Token, traffic.VerbFlow))
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		if _, err := tcpstream.Serve(ctx, l, tcpstream.Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Flows: 2}); err == nil {
			t.Error("one of two flows was enough")
		}
	}
	fail()
	fds, goroutines, _ := traffictest.Resources(t)
	const passes = 10
	for range passes {
		fail()
	}
	// Each listener is open until the test ends.
	fdsAfter, goroutinesAfter, _ := traffictest.ResourcesLeft(t, fds+passes, goroutines)
	if fdsAfter > fds+passes || goroutinesAfter > goroutines {
		t.Errorf("%d passes: %d descriptors became %d, %d goroutines became %d", passes, fds, fdsAfter, goroutines, goroutinesAfter)
	}
}

func every(window traffic.Window) map[string]func(t testing.TB) {
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: window}
	many := traffic.RequestResponse{Token: traffictest.Token, Window: window, Flows: 3}
	return map[string]func(t testing.TB){
		"tcp_rr":  func(t testing.TB) { runTCPRR(t, rr) },
		"tcp_rr3": func(t testing.TB) { runTCPRR(t, many) },
		"udp_rr":  func(t testing.TB) { runUDPRR(t, rr) },
		"udp_rr3": func(t testing.TB) { runUDPRR(t, many) },
		"tcp_crr": func(t testing.TB) { runTCPCRR(t, rr) },
	}
}

func TestLabRunsLeakNothing(t *testing.T)        { traffictest.RunsLeakNothing(t, every) }
func TestLabWindowAllocatesNothing(t *testing.T) { traffictest.WindowsAllocateNothing(t, every) }
