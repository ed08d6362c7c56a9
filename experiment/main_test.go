package experiment

import (
	"testing"

	"tare/test/labmain"
)

func TestMain(m *testing.M) { labmain.Run(m, "experiment", nil) }
