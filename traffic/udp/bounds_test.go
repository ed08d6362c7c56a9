package udp

import (
	"testing"

	"tare/test/traffictest"
)

func TestDeepBoundsOnTime(t *testing.T) {
	traffictest.Anew(t, map[string]func(*testing.T){
		"udp_pps":      TestLabUDPPPSSaysThatThePathFailed,
		"udp_pps dies": TestLabUDPPPSSaysThatTheFarEndDied,
		"udp_load":     TestLabUDPLoadSaysThatThePathFailed,
		"frames":       TestLabStoppedFramesLeaveNothing,
		"many flows":   TestLabUDPPPSManyFlows,
	})
}
