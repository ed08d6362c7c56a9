package tcpstream

import (
	"testing"

	"tare/test/traffictest"
)

func TestDeepBoundsOnTime(t *testing.T) {
	traffictest.Anew(t, map[string]func(*testing.T){
		"load":         TestLabLoadedRR,
		"length of it": TestLabLoadLastsAsLongAsTheRoundTrips,
	})
}
