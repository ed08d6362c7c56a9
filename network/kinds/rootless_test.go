package kinds_test

import (
	"testing"

	"tare/test/labtest"
)

func TestLabAsOrdinaryUser(t *testing.T) { labtest.AsOrdinaryUser(t) }

func TestRealAsOrdinaryUser(t *testing.T) { labtest.AsOrdinaryUser(t) }
