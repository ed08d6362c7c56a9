package catalog

import (
	"strings"

	"tare/result"
)

// HostOf is the host of a place: "h1" of "h1/c1".
func HostOf(place string) string {
	host, _, _ := strings.Cut(place, "/")
	return host
}

// SplitPlace divides a place as a site calls it: "vxlan.h1/c1". A cluster's name may have dots.
func SplitPlace(at string) (cluster, place string) {
	dot := strings.LastIndexByte(at, '.')
	return at[:max(0, dot)], at[dot+1:]
}

// PlacesOf are the ends of a path and their hosts, each once, the client's first.
func PlacesOf(client, server string) []string {
	var places []string
	for _, at := range []string{client, HostOf(client), HostOf(server), server} {
		places = result.AddOnce(places, at)
	}
	return places
}
