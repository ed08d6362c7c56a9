package network_test

import (
	"testing"

	"tare/test/labtest"
)

func TestAsOrdinaryUser(t *testing.T) { labtest.AsOrdinaryUser(t) }
