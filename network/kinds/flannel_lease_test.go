package kinds

import (
	"net/netip"
	"strings"
	"testing"

	"tare/engine/flannel"
)

func TestLeaseConflist(t *testing.T) {
	lease := flannel.Lease{Gateway: netip.MustParsePrefix("10.244.4.1/22"), MTU: 1450}
	four := []string{`"subnet": "10.244.4.0/22"`, `"gateway": "10.244.4.1"`, `"mtu": 1450`, `"dst": "10.244.0.0/16"`}
	holds := func(wanted ...string) {
		list, err := leaseConflist(lease)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(string(list.Text), want) {
				t.Errorf("the list lacks %s:\n%s", want, list.Text)
			}
		}
		if lease.Gateway6.IsValid() == !strings.Contains(string(list.Text), "fd74:") {
			t.Errorf("IPv6 of %v:\n%s", lease, list.Text)
		}
	}
	holds(four...)
	lease.Gateway6 = netip.MustParsePrefix("fd74:6172:6500::af4:401/118")
	holds(append(four, `"subnet": "fd74:6172:6500::af4:400/118"`, `"dst": "fd74:6172:6500::af4:0/112"`)...)
}
