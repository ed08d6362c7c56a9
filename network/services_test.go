package network_test

import (
	"fmt"
	"strings"
	"testing"

	"tare/network"
	"tare/test/labtest"
)

// A Service's paths carry traffic to each of its endpoints, and the server sees who asks, or
// the node that asked for it: what is not from the node's own containers is masqueraded.
func TestRealUserServices(t *testing.T) {
	for _, name := range []string{"service-iptables", "service-nftables"} {
		for _, at := range []string{"middle", "first", "last"} {
			t.Run(name+" "+at, func(t *testing.T) {
				spec := on(name)
				spec.Params = map[string]string{"services": "40", "backends": "3", "service_at": at}
				l := build(t, spec)
				n, _ := network.Find(name)
				for _, path := range n.Paths {
					carries(t, l, built(t, l, name), path, 1500)
				}
				const listen, service = "0.0.0.0:5210", "172.30.0.1:5210"
				for _, c := range []struct{ from, dial, seenAs string }{
					{"h1/c1", service, "10.101.0.2"},
					{"h1", service, host1},
					{"h1/c1", publishedAddress, gateway2},
					{"h1", publishedAddress, gateway2},
				} {
					if got := seenAs(t, l, c.from, c.dial, "h2/c1", listen); got != c.seenAs {
						t.Errorf("the server sees %s at %s as %s, want %s", c.from, c.dial, got, c.seenAs)
					}
				}
			})
		}
	}
}

// The rules of N Services are N entries of what a packet is compared with, or looked up in.
func TestRealServicesAreAsManyAsAsked(t *testing.T) {
	for name, count := range map[string]string{
		"service-iptables": "iptables-save -t nat | grep -c -e '--dport 80 -j KUBE-SVC-'",
		"service-nftables": "nft list map ip kube-proxy service-ips | grep -o '[.] 80 : goto service-' | wc -l",
	} {
		spec := on(name)
		spec.Params = map[string]string{"services": "301"}
		l := build(t, spec)
		for _, h := range []string{"h1", "h2"} {
			printed, status, err := exec(t.Context(), l, h, "/bin/sh", "-c", "PATH=/usr/sbin:/usr/bin:/sbin:/bin; "+count)
			if err != nil || status != 0 {
				t.Fatalf("%s in %s: status %d, %v", count, h, status, err)
			}
			labtest.Equal(t, fmt.Sprintf("other Services of %s in %s", name, h), strings.TrimSpace(printed), "300")
		}
	}
}
