package dns

import (
	"testing"

	"tare/test/traffictest"
)

func TestDeepBoundsOnTime(t *testing.T) {
	traffictest.Anew(t, map[string]func(*testing.T){
		"dns":          TestLabDNSMeasures,
		"lost queries": TestLabDNSCountsLost,
	})
}
