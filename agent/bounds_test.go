package agent

import "testing"

// TestDeepBoundsOnTime does tests of this package anew with their bounds on real time.
func TestDeepBoundsOnTime(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"refused agents": TestOpenRefuses,
		"context":        TestOpenEndsWithTheContext,
		"failed servers": TestFailedServer,
		"failed clients": TestFailedClient,
		"stop":           TestStopEndsARun,
		"next run":       TestDisconnectedSenderFreesThePort,
		"strange ports":  TestCallNamesWhatListensThere,
		"slow requests":  TestSlowRequestsAreDropped,
		"end of a port":  TestPortEndsInTheMiddleOfARun,
	} {
		t.Run(name, test)
	}
}
