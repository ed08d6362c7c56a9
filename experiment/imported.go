package experiment

import (
	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/weigh"
)

// Bound gives the throughputs of imported cells their ceilings: that of a link
// and an MTU, under the headers of a network where its name is known.
func Bound(res *result.Result, link result.BitsPerSecond, mtu int, name string) error {
	if _, known := kinds.Find(name); name != "" && !known {
		return Unknown("network", name, Everything(), catalog.NetworksCalled(name)...)
	}
	weigh.Bound(res, link, mtu, name)
	return nil
}
