package kinds_test

import (
	"strings"
	"testing"

	"tare/site"
	"tare/test/labtest"
)

// servicesOf are the ways to have Services that every kernel has, and how many entries each has
// for those that are not asked for: what a packet is compared with, or looked up in.
func servicesOf() map[string]string {
	return map[string]string{
		"service-iptables": "iptables-save -t nat | grep -c -e '--dport 80 -j KUBE-SVC-'",
		"service-nftables": "nft list map ip kube-proxy service-ips | grep -o '[.] 80 : goto service-' | wc -l",
	}
}

// A Service's paths carry traffic whatever its place among others, and each network that can't be
// had says what it lacks.
func TestRealUserServices(t *testing.T) {
	all := clusters("service")
	for name := range servicesOf() {
		for _, at := range []string{"middle", "first", "last"} {
			spec := with(name+"-"+at, name, "services", "40")
			spec.Params["backends"], spec.Params["service_at"] = "3", at
			all = append(all, spec)
		}
		all = append(all, with(name+"-many", name, "services", "301"))
	}
	l := tryBuild(t, all...)
	for _, b := range l.Topology.Clusters {
		if missing := b.Missing != "" && b.Get != "" && servicesOf()[b.Network] == ""; b.Error != "" && !missing {
			t.Errorf("%s: %s", b.Name, b.Error)
		}
	}
	keepPromises(t, l)
	for name, count := range servicesOf() {
		for _, at := range []string{"middle", "first", "last"} {
			t.Run(name+" "+at+" shows the server who asks", func(t *testing.T) { showsWhoAsks(t, l, name+"-"+at) })
		}
		t.Run(name+" has as many as asked", func(t *testing.T) {
			for _, h := range []string{".h1", ".h2"} {
				printed := shell(t, l, name+"-many"+h, "PATH=/usr/sbin:/usr/bin:/sbin:/bin; "+count)
				labtest.Equal(t, "other Services in "+h, strings.TrimSpace(printed), "300")
			}
		})
	}
}

// showsWhoAsks holds that a Service leads to each of its endpoints, and the server sees who asks,
// or the node that asked for it: what is not from the node's own containers is masqueraded.
func showsWhoAsks(t *testing.T, l *site.Lab, cluster string) {
	const listen, service = "0.0.0.0:5210", "172.30.0.1:5210"
	for _, c := range []struct{ from, dial, seenAs string }{
		{".h1/c1", service, "10.101.0.2"},
		{".h1", service, host1},
		{".h1/c1", publishedAddress, gateway2},
		{".h1", publishedAddress, gateway2},
	} {
		if got := seenAs(t, l, cluster+c.from, c.dial, cluster+".h2/c1", listen); got != c.seenAs {
			t.Errorf("the server sees %s at %s as %s, want %s", c.from, c.dial, got, c.seenAs)
		}
	}
}
