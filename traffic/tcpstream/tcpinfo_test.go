package tcpstream

import (
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// A sender that is held at a rate is limited by its application and knows
// the path.
func TestLabTCPInfoShowsWhoLimits(t *testing.T) {
	window := traffic.Window{Warmup: 30 * time.Millisecond, Duration: 250 * time.Millisecond}
	_, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: window, Rate: 20e6, WriteBytes: 4 << 10})
	for _, f := range driven.Sent.Flows {
		if !f.AppLimited || f.ReceiverLimited+f.SendBufferLimited > f.Busy {
			t.Errorf("at a rate: %+v", f)
		}
		const loopbackMTU = 65536
		labtest.Between(t, "path MTU", f.PathMTU, loopbackMTU-1, loopbackMTU)
		labtest.MoreThan(t, "least RTT", f.MinRTT, 0)
		labtest.AtMost(t, "least RTT", f.MinRTT, f.RTT)
		if f.Timeouts != 0 || f.Duplicates != 0 || f.Reorderings != 0 {
			t.Errorf("trouble on the loopback: %+v", f)
		}
	}
}
