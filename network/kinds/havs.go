package kinds

import (
	"errors"

	"tare/engine"
	"tare/lab"
	"tare/network"
)

// havs is a switch that nobody can get. It is listed for its published figures,
// which are on its page.
func havs() network.Network {
	missing := &engine.MissingError{
		What: "HAVS", Get: "nothing to get: docs/networks/havs.md has its published figures",
		Err: errors.New("it is Huawei's and closed source"),
	}
	return network.Network{
		Needs: []engine.Need{{What: missing.What, Get: missing.Get, Find: func() (string, error) { return "", missing.Err }}},
		SetUp: func(*lab.Cluster, *network.Setup) error { return missing },
	}
}
