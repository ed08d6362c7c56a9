package network

import (
	"errors"

	"tare/engine"
	"tare/lab"
)

// havs is a switch that nobody can get. It is listed for its published figures,
// which are on its page.
func havs() Network {
	missing := &engine.MissingError{
		What: "HAVS", Get: "nothing to get: docs/networks/havs.md has its published figures",
		Err: errors.New("it is Huawei's and closed source"),
	}
	return Network{
		Needs: []engine.Need{{What: missing.What, Get: missing.Get, Find: func() (string, error) { return "", missing.Err }}},
		SetUp: func(*lab.Cluster, *Setup) error { return missing },
	}
}
