package http

import (
	"testing"

	"tare/test/traffictest"
)

func TestMain(m *testing.M) { traffictest.RunTests(m, checkHTTPFewPorts) }
