package http

import (
	"testing"

	"tare/test/traffictest"
)

func TestDeepBoundsOnTime(t *testing.T) {
	traffictest.Anew(t, map[string]func(*testing.T){
		"clients": TestLabHTTPClientNamesWhatTheServerDid,
		"servers": TestLabHTTPServerNamesWhatTheClientDid,
	})
}
