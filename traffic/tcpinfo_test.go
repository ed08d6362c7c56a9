package traffic

import (
	"testing"
	"time"
)

// A sender that is held at a rate is limited by its application and knows
// the path.
func TestLabTCPInfoShowsWhoLimits(t *testing.T) {
	window := Window{Warmup: 30 * time.Millisecond, Duration: 250 * time.Millisecond}
	_, driven := runTCPStream(t, TCPStream{Token: testToken, Window: window, Rate: 20e6, WriteBytes: 4 << 10})
	for _, f := range driven.Sent.Flows {
		if !f.AppLimited || f.ReceiverLimited+f.SendBufferLimited > f.Busy {
			t.Errorf("at a rate: %+v", f)
		}
		const loopbackMTU = 65536
		switch {
		case f.PathMTU < loopbackMTU-1:
			t.Errorf("f.PathMTU is %v, want at least %v; the path: %+v", f.PathMTU, loopbackMTU-1, f)
		case f.PathMTU > loopbackMTU:
			t.Errorf("f.PathMTU is %v, want at most %v; the path: %+v", f.PathMTU, loopbackMTU, f)
		case f.MinRTT <= 0:
			t.Errorf("f.MinRTT is %v, want more than 0; the path: %+v", f.MinRTT, f)
		case f.MinRTT > f.RTT:
			t.Errorf("f.MinRTT is %v, want at most %v; the path: %+v", f.MinRTT, f.RTT, f)
		}
		if f.Timeouts != 0 || f.Duplicates != 0 || f.Reorderings != 0 {
			t.Errorf("trouble on the loopback: %+v", f)
		}
	}
}
