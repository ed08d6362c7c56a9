package traffic_test

import (
	"testing"

	"tare/test/traffictest"
)

func TestDeepBoundsOnTime(t *testing.T) {
	traffictest.Anew(t, map[string]func(*testing.T){
		"cancel":      TestLabCancelEndsBothEnds,
		"clients":     TestLabClientNamesWhatTheServerDid,
		"servers":     TestLabServerNamesWhatTheClientDid,
		"datagrams":   TestLabServerNamesWhatTheDatagramClientDid,
		"absent":      TestLabClientNamesAnAbsentServer,
		"faults":      TestLabFaultsAreSaid,
		"schedule":    TestLabOpenLoopKeepsItsSchedule,
		"closed loop": TestLabWrkCorrectsAClosedLoop,
	})
}
