package traffic

import "testing"

// TestDeepBoundsOnTime does tests of this package anew with their bounds on real time, on
// rates and on shares of a window: a fault is reported within seconds, a rate is held.
func TestDeepBoundsOnTime(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"cancel":       TestLabCancelEndsBothEnds,
		"clients":      TestLabClientNamesWhatTheServerDid,
		"servers":      TestLabServerNamesWhatTheClientDid,
		"datagrams":    TestLabServerNamesWhatTheDatagramClientDid,
		"absent":       TestLabClientNamesAnAbsentServer,
		"http clients": TestLabHTTPClientNamesWhatTheServerDid,
		"http servers": TestLabHTTPServerNamesWhatTheClientDid,
		"faults":       TestLabFaultsAreSaid,
		"udp_pps":      TestLabUDPPPSSaysThatThePathFailed,
		"udp_pps dies": TestLabUDPPPSSaysThatTheFarEndDied,
		"udp_load":     TestLabUDPLoadSaysThatThePathFailed,
		"frames":       TestLabStoppedFramesLeaveNothing,
		"many flows":   TestLabUDPPPSManyFlows,
		"schedule":     TestLabOpenLoopKeepsItsSchedule,
		"closed loop":  TestLabWrkCorrectsAClosedLoop,
		"load":         TestLabLoadedRR,
		"length of it": TestLabLoadLastsAsLongAsTheRoundTrips,
		"dns":          TestLabDNSMeasures,
		"lost queries": TestLabDNSCountsLost,
		"grpc":         TestLabGRPCMeasures,
	} {
		t.Run(name, test)
	}
}
