package traffic_test

import (
	"testing"
	"time"

	"tare/test/traffictest"
	"tare/traffic"
)

// qperf takes its time from a clock of 10 ms.
func TestQperfCountsInTicks(t *testing.T) {
	inTicks := 0
	const runs = 5
	for range runs {
		_, calls := runTCPRR(t, traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 21 * time.Millisecond}})
		if calls.Elapsed%traffic.Tick < traffic.Tick/1000 {
			inTicks++
		}
		if calls.Elapsed < 21*time.Millisecond {
			t.Errorf("a window of 21 ms took %v", calls.Elapsed)
		}
	}
	if inTicks == runs {
		t.Error("all windows are whole ticks")
	}
}

// The two ends of ethr count differently (microsoft/ethr #171).
func TestEthrEndsDisagree(t *testing.T) {
	// No warm-up: all that the server answered lies in the window, but for the
	// request that opened it and the one that its end cut off.
	served, calls := runTCPRR(t, traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 50 * time.Millisecond}})
	if more := served.Transactions - calls.Count; more < 0 || more > 2 {
		t.Errorf("the server answered %d requests, the client counted %d", served.Transactions, calls.Count)
	}
}
