package site

import (
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// What the two clients print, less what is not read.
const (
	ofDocker = `[
		{"Name": "web", "Id": "6f", "Scope": "local", "Driver": "bridge", "Internal": false, "Attachable": false, "Ingress": false, "ConfigOnly": false},
		{"Name": "bridge", "Id": "23", "Scope": "local", "Driver": "bridge"},
		{"Name": "closed", "Id": "24", "Scope": "local", "Driver": "bridge", "Internal": true},
		{"Name": "lan", "Id": "25", "Scope": "local", "Driver": "macvlan"},
		{"Name": "lan-settings", "Id": "26", "Scope": "local", "Driver": "macvlan", "ConfigOnly": true},
		{"Name": "both", "Id": "tz", "Scope": "swarm", "Driver": "overlay", "Attachable": true},
		{"Name": "services", "Id": "ty", "Scope": "swarm", "Driver": "overlay", "Attachable": false},
		{"Name": "ingress", "Id": "zf", "Scope": "swarm", "Driver": "overlay", "Attachable": true, "Ingress": true},
		{"Name": "docker_gwbridge", "Id": "54", "Scope": "local", "Driver": "bridge"},
		{"Name": "host", "Id": "76", "Scope": "local", "Driver": "host"},
		{"Name": "none", "Id": "45", "Scope": "local", "Driver": "null"}]`
	ofPodman = `[{"name": "podman", "id": "2f", "driver": "bridge", "network_interface": "cni-podman0", "internal": false, "dns_enabled": false}]`
)

func TestNetworksThatTakeContainers(t *testing.T) {
	for text, want := range map[string]string{ofDocker: "both bridge closed lan web", ofPodman: "podman"} {
		all, err := readNetworks([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "networks", strings.Join(result.Names(all, func(n dockerNetwork) string { return n.Name }), " "), want)
		all = slices.DeleteFunc(all, func(n dockerNetwork) bool { return !n.publishes() })
		published := map[string]string{ofDocker: "bridge web", ofPodman: "podman"}[text]
		labtest.Equal(t, "networks with published ports", strings.Join(result.Names(all, func(n dockerNetwork) string { return n.Name }), " "), published)
	}
}

// A Swarm's network is the same at two engines by its id, and a local one by its name.
func TestNetworksOfTwoEnginesThatAreOne(t *testing.T) {
	local, swarm := dockerNetwork{Name: "lan", ID: "1", Driver: "macvlan"}, dockerNetwork{Name: "both", ID: "1", Driver: "overlay", Scope: swarmScope}
	for _, c := range []struct {
		one, other dockerNetwork
		want       bool
	}{
		{local, dockerNetwork{Name: "lan", ID: "2", Driver: "macvlan"}, true},
		{local, dockerNetwork{Name: "lan", ID: "2", Driver: "bridge"}, false},
		{swarm, swarm, true},
		{swarm, dockerNetwork{Name: "both", ID: "2", Driver: "overlay", Scope: swarmScope}, false},
	} {
		labtest.Equal(t, c.one.Name+" and "+c.other.Name+" "+c.other.ID, c.one.joins(c.other), c.want)
	}
}
