package tcpcrr

import (
	"testing"

	"tare/test/traffictest"
)

func TestMain(m *testing.M) { traffictest.RunTests(m, checkFewPorts) }
