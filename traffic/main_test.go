package traffic_test

import (
	"testing"

	"tare/test/traffictest"
)

func TestMain(m *testing.M) { traffictest.RunTests(m, nil) }
